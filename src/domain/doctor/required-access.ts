/** One row of a role: what is called on the API server. */
export interface AccessRule {
  group: string
  resource: string
  subresource?: string
  verb: string
  /** Only there; everywhere when absent. */
  namespace?: string
}

export interface AccessSettings {
  controlPlane: 'karmada' | 'kubernetes'
  lock: 'none' | 'lease'
  leaseNamespace: string
}

/** `group resource[/subresource]` and verbs: the calls that the function makes, and no other. */
const KARMADA: Rows = [
  ['networking.karmada.io', 'multiclusteringresses', 'get list patch'],
  ['networking.karmada.io', 'multiclusteringresses/status', 'patch'],
  ['networking.karmada.io', 'multiclusterservices', 'get list patch'],
  ['networking.karmada.io', 'multiclusterservices/status', 'patch'],
  ['networking.k8s.io', 'ingressclasses', 'get list'],
  ['', 'services', 'get list'],
  ['', 'secrets', 'get'],
  ['discovery.k8s.io', 'endpointslices', 'get list'],
  ['work.karmada.io', 'resourcebindings', 'get list'],
  ['work.karmada.io', 'works', 'list'],
  ['cluster.karmada.io', 'clusters', 'get list'],
  ['remedy.karmada.io', 'remedies', 'get'],
  ['multicluster.x-k8s.io', 'serviceexports', 'get list create delete'],
  ['policy.karmada.io', 'propagationpolicies', 'get list create patch delete'],
  ['policy.karmada.io', 'clusterpropagationpolicies', 'get create patch delete'],
  ['', 'events', 'create'],
]

const KUBERNETES: Rows = [
  ['', 'nodes', 'get list patch delete'],
  ['', 'nodes/status', 'patch'],
  ['', 'services', 'get list'],
  ['', 'services/status', 'patch'],
  ['', 'events', 'create'],
]

const LEASES: Rows = [['coordination.k8s.io', 'leases', 'get list create patch delete']]

type Rows = readonly (readonly [group: string, resource: string, verbs: string])[]

export function requiredAccess({ controlPlane, lock, leaseNamespace }: AccessSettings): AccessRule[] {
  const everywhere = rulesOf(controlPlane === 'karmada' ? KARMADA : KUBERNETES)
  const leases = lock === 'lease' ? rulesOf(LEASES) : []
  return [...everywhere, ...leases.map((rule) => ({ ...rule, namespace: leaseNamespace }))]
}

function rulesOf(rows: Rows): AccessRule[] {
  return rows.flatMap(([group, name, verbs]) => {
    const [resource = name, subresource] = name.split('/')
    return verbs.split(' ').map((verb) => ({ group, resource, verb, ...(subresource && { subresource }) }))
  })
}

/** `patch multiclusteringresses.networking.karmada.io/status` */
export function describeAccess({ group, resource, subresource, verb, namespace }: AccessRule): string {
  const name = `${resource}${group === '' ? '' : `.${group}`}${subresource === undefined ? '' : `/${subresource}`}`
  return `${verb} ${name}${namespace === undefined ? '' : ` in ${namespace}`}`
}
