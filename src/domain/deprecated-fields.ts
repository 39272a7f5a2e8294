import type { BackendFinding } from './backends/backend-finding.ts'
import type { MultiClusterService } from './multi-cluster-service.ts'

/** Karmada reads none of them any more (helper/mcs.go:107-138), and neither do we. */
const REPLACEMENTS: Readonly<Record<string, string>> = {
  range: 'providerClusters and consumerClusters',
  serviceProvisionClusters: 'providerClusters',
  serviceConsumptionClusters: 'consumerClusters',
}

/** Tells an owner who set one of them what to use. An empty one was written by Karmada's webhook, not by the owner. */
export function deprecatedFields({ metadata, spec }: MultiClusterService): BackendFinding[] {
  const fields: Readonly<Record<string, unknown>> = { ...spec }
  const used = Object.keys(REPLACEMENTS).filter((name) => isSet(fields[name]))
  if (used.length === 0) return []
  const subject = `multiclusterservice ${metadata.namespace ?? ''}/${metadata.name}`
  const hints = used.map((name) => `spec.${name} (use ${REPLACEMENTS[name]})`).join(', ')
  return [{ type: 'Normal', reason: 'DeprecatedFields', subject, message: `${subject}: ignored are ${hints}` }]
}

function isSet(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.values(value).some((member) => member !== undefined)
}
