import type { MultiClusterIngress } from '../../src/domain/multi-cluster-ingress.ts'
import type { ApiObject } from '../../src/local/core/api-object.ts'
import {
  buildBinding,
  buildClass,
  buildCluster,
  buildIngress,
  buildSlice,
  buildTemplate,
  FINALIZER,
} from '../../test/support/build-objects.ts'

/** As whom the function writes. */
export const IDENTITY = 'system:serviceaccount:webhook-cloud-provider:webhook-cloud-provider'

export interface WorldSize {
  ingresses: number
  /** Each has ten Services. */
  perNamespace: number
}

const SERVICES = 10
const CLUSTERS = ['edge-a', 'edge-b']

/** A control plane with ingresses that the mutate door has claimed and nobody has served yet, and all they send traffic to. */
export function buildWorld(size: WorldSize): ApiObject[] {
  const ingresses = ingressesOf(size)
  const namespaces = [...new Set(ingresses.map(({ metadata }) => metadata.namespace ?? ''))]
  const objects = [
    buildClass(),
    ...CLUSTERS.map((name) => buildCluster(name)),
    // Where Leases are.
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'webhook-cloud-provider' } },
    ...namespaces.flatMap((namespace) => [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
      ...Array.from({ length: SERVICES }, (_, index) => serviceWorld(namespace, `web-${index}`)).flat(),
    ]),
    ...ingresses,
  ]
  return objects as unknown as ApiObject[]
}

export function ingressesOf({ ingresses, perNamespace }: WorldSize): MultiClusterIngress[] {
  return Array.from({ length: ingresses }, (_, index) => {
    const name = `ingress-${index}`
    const backend = { service: { name: `web-${index % SERVICES}`, port: { number: 80 } } }
    return buildIngress({
      metadata: { name, namespace: `shop-${Math.floor(index / perNamespace)}`, finalizers: [FINALIZER] },
      spec: {
        ingressClassName: 'multicloud',
        rules: [{ host: `${name}.example.com`, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }],
      },
    })
  })
}

function serviceWorld(namespace: string, name: string): object[] {
  const binding = buildBinding(name, CLUSTERS)
  const bound = { ...binding, spec: { ...binding.spec, resource: { ...binding.spec?.resource, namespace } } }
  const slices = CLUSTERS.map((cluster) => buildSlice({ service: name, cluster }))
  return [buildTemplate(name), bound, ...slices].map((object) => ({
    ...object,
    metadata: { ...object.metadata, namespace, uid: `${namespace}-${object.kind}-${object.metadata.name}` },
  }))
}
