import { type BackendFinding, warning } from '../backends/backend-finding.ts'
import { isBeingDeleted } from '../kubernetes-object.ts'
import type { PropagationPolicy, PropagationSpec } from '../propagation-policy.ts'
import type { Service } from '../service.ts'
import type { ServiceExport } from '../service-export.ts'
import { controllerReference, controlOf } from './controlled-by-service.ts'
import { type DesiredChange, replaceSpec } from './desired-change.ts'
import type { ExportClaim } from './export-claim.ts'
import { originalPolicyName, policyName } from './policy-name.ts'
import { samePropagation } from './same-propagation.ts'

export interface ServiceExportInput {
  /** Undefined when it does not exist: what it controls goes with it. */
  service: Service | undefined
  claim: ExportClaim
  /** Of its bindings, sorted. */
  clusters: readonly string[]
  /** Of its name. */
  serviceExport: ServiceExport | undefined
  /** Those named by `exportPolicyNames`, as far as they exist; others do no harm. */
  policies: readonly PropagationPolicy[]
  digest: (text: string) => string
}

export interface ServiceExportDesired {
  serviceExport: DesiredChange<ServiceExport>
  policies: DesiredChange<PropagationPolicy>[]
  /** For the owners of the objects that refer to the Service. */
  findings: BackendFinding[]
}

/** Under which names the policy of a Service may exist: as the Go manager has it, and shortened. */
export function exportPolicyNames(service: string, digest: (text: string) => string): string[] {
  return [...new Set([originalPolicyName(service), policyName(service, digest)])]
}

/**
 * | claim | clusters | ServiceExport | PropagationPolicy |
 * |---|---|---|---|
 * | ours | some | is made | is made, or put right |
 * | ours | none (B23, B24: an empty list would select every cluster) | is made | goes |
 * | another's | any | stays | stays |
 * | none | any | goes | goes |
 *
 * Only what this very Service controls is changed or deleted (B22); a user's export is used, a user's policy is respected.
 */
export function serviceExportDesired(input: ServiceExportInput): ServiceExportDesired {
  const { service, claim } = input
  if (service === undefined) return leaveAll('the Service does not exist; what it controls goes with it')
  if (isBeingDeleted(service)) return leaveAll('the Service is being deleted; what it controls goes with it')
  if (claim === 'another') return leaveAll('another provider needs it')
  return { serviceExport: changeOfExport(service, input), ...changeOfPolicies(service, input) }
}

function leaveAll(reason: string): ServiceExportDesired {
  return { serviceExport: { do: 'leave', reason }, policies: [], findings: [] }
}

function changeOfExport(service: Service, { claim, serviceExport }: ServiceExportInput): DesiredChange<ServiceExport> {
  if (serviceExport === undefined) {
    return claim === 'ours'
      ? { do: 'create', object: desiredExport(service) }
      : { do: 'leave', reason: 'there is none, and none is needed' }
  }
  const control = controlOf(serviceExport, service)
  const isOurs = control === 'ours' && !isBeingDeleted(serviceExport)
  if (claim === 'none' && isOurs) return { do: 'delete', existing: serviceExport }
  return { do: 'leave', reason: isOurs ? 'it is there' : REASONS[control] }
}

const REASONS = {
  ours: 'it is being deleted',
  earlier: 'it belongs to an earlier Service of this name and is about to go',
  another: 'it is not ours',
} as const

function changeOfPolicies(
  service: Service,
  { claim, clusters, policies, digest }: ServiceExportInput,
): Pick<ServiceExportDesired, 'policies' | 'findings'> {
  const names = exportPolicyNames(service.metadata.name, digest)
  const existing = policies.filter(({ metadata }) => names.includes(metadata.name))
  const isNeeded = claim === 'ours' && clusters.length > 0
  if (!isNeeded) return { policies: existing.map((policy) => remove(policy, service)), findings: [] }
  const foreign = existing.filter((policy) => controlOf(policy, service) === 'another')
  if (foreign.length > 0) {
    return {
      policies: existing.map(() => ({ do: 'leave', reason: REASONS.another })),
      findings: foreign.map((policy) => clash(policy, service)),
    }
  }
  // The Go manager's long name stays where it is: a new policy would take the export from it and give it back.
  const [kept, ...spare] = existing
    .filter((policy) => isKept(policy, service))
    .sort((a, b) => names.indexOf(a.metadata.name) - names.indexOf(b.metadata.name))
  const desired = desiredPolicy(service, policyName(service.metadata.name, digest), clusters)
  const going = existing.find(({ metadata }) => metadata.name === desired.metadata.name)
  const change =
    kept !== undefined
      ? correct(kept, desired.spec)
      : going !== undefined
        ? remove(going, service)
        : { do: 'create' as const, object: desired }
  return { policies: [change, ...spare.map((policy) => remove(policy, service))], findings: [] }
}

function isKept(policy: PropagationPolicy, service: Service): boolean {
  return controlOf(policy, service) === 'ours' && !isBeingDeleted(policy)
}

function remove(policy: PropagationPolicy, service: Service): DesiredChange<PropagationPolicy> {
  return isKept(policy, service)
    ? { do: 'delete', existing: policy }
    : { do: 'leave', reason: REASONS[controlOf(policy, service)] }
}

function correct(policy: PropagationPolicy, spec: PropagationSpec): DesiredChange<PropagationPolicy> {
  return samePropagation(policy.spec, spec, policy.metadata.namespace ?? '')
    ? { do: 'leave', reason: 'it is as it should be' }
    : replaceSpec(policy, spec)
}

function clash({ metadata }: PropagationPolicy, service: Service): BackendFinding {
  const subject = `propagationpolicy ${metadata.namespace ?? ''}/${metadata.name}`
  const rest = `is not ours: it decides to which clusters service ${metadata.namespace ?? ''}/${service.metadata.name} is exported`
  return warning('PropagationPolicyNotOurs', subject, rest)
}

function desiredExport(service: Service): ServiceExport {
  return {
    apiVersion: 'multicluster.x-k8s.io/v1alpha1',
    kind: 'ServiceExport',
    metadata: metadataFor(service, service.metadata.name),
  }
}

/** Without tolerations, as the Go manager makes it; Karmada's webhook gives it the usual ones. */
function desiredPolicy(
  service: Service,
  name: string,
  clusters: readonly string[],
): PropagationPolicy & { spec: PropagationSpec } {
  return {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'PropagationPolicy',
    metadata: metadataFor(service, name),
    spec: {
      resourceSelectors: [
        { apiVersion: 'multicluster.x-k8s.io/v1alpha1', kind: 'ServiceExport', name: service.metadata.name },
      ],
      placement: { clusterAffinity: { clusterNames: [...clusters] } },
    },
  }
}

function metadataFor(service: Service, name: string) {
  const { namespace } = service.metadata
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ownerReferences: [controllerReference(service)],
  }
}
