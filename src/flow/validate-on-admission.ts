import type { AdmissionRequest } from '../domain/admission-request.ts'
import { hasFinalizer } from '../domain/finalizers.ts'
import type { Finding } from '../domain/finding.ts'
import { kindOf } from '../domain/kinds.ts'
import type { KubernetesObject } from '../domain/kubernetes-object.ts'
import type { MultiClusterIngress } from '../domain/multi-cluster-ingress.ts'
import type { MultiClusterService } from '../domain/multi-cluster-service.ts'
import { asksSomethingElse } from '../domain/relevance.ts'
import { validateMultiClusterIngress } from '../domain/validation/validate-multi-cluster-ingress.ts'
import { validateMultiClusterService } from '../domain/validation/validate-multi-cluster-service.ts'
import type { MultiClusterProvider } from '../provider/multicluster.ts'
import { isCertainlyOurs, type OwnershipRules } from './ownership-rules.ts'

export interface AdmissionChecks {
  /** Types and required fields, as the CRD states them. */
  schema: (kind: 'MultiClusterIngress' | 'MultiClusterService', object: unknown) => Finding[]
  provider: MultiClusterProvider
}

/**
 * The validating review: schema, then Karmada's own rules, then the provider's; the first that finds something answers.
 * Only for objects that are certainly ours, only when what they ask for changed, and never in deletion: an object that
 * was stored with a fault must still be able to lose its finalizer.
 */
export function validateOnAdmission(
  request: AdmissionRequest,
  rules: OwnershipRules,
  checks: AdmissionChecks,
): Finding[] {
  const { object, oldObject } = request
  if (object === undefined || !isToBeChecked(request, rules)) return []
  const kind = kindOf(request.group, request.kind)
  if (kind !== 'MultiClusterIngress' && kind !== 'MultiClusterService') return []
  const bySchema = checks.schema(kind, object)
  if (bySchema.length > 0) return bySchema
  const byKarmada = karmadaFindings(kind, object, oldObject)
  return byKarmada.length > 0 ? byKarmada : providerFindings(kind, object, checks.provider)
}

function isToBeChecked(request: AdmissionRequest, rules: OwnershipRules): boolean {
  const { operation, subResource, object, oldObject } = request
  if ((operation !== 'CREATE' && operation !== 'UPDATE') || subResource !== '' || object === undefined) return false
  if (object.metadata.deletionTimestamp !== undefined || oldObject?.metadata.deletionTimestamp !== undefined)
    return false
  const ours = isCertainlyOurs(request, rules) || hasFinalizer(oldObject ?? object, rules.finalizer)
  return ours && (oldObject === undefined || asksSomethingElse(oldObject, object))
}

function karmadaFindings(kind: string, object: KubernetesObject, previous: KubernetesObject | undefined): Finding[] {
  return kind === 'MultiClusterIngress'
    ? validateMultiClusterIngress(object as MultiClusterIngress, previous as MultiClusterIngress | undefined)
    : validateMultiClusterService(object as MultiClusterService, previous as MultiClusterService | undefined)
}

function providerFindings(kind: string, object: KubernetesObject, provider: MultiClusterProvider): Finding[] {
  return kind === 'MultiClusterIngress'
    ? (provider.loadBalancer?.validate?.(object as MultiClusterIngress) ?? [])
    : (provider.mcsLoadBalancer?.validate?.(object as MultiClusterService) ?? [])
}
