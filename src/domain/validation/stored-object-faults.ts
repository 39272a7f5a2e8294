import type { Finding } from '../finding.ts'
import type { MultiClusterIngress } from '../multi-cluster-ingress.ts'
import type { MultiClusterService } from '../multi-cluster-service.ts'
import { validateMultiClusterIngress } from './validate-multi-cluster-ingress.ts'
import { validateMultiClusterService } from './validate-multi-cluster-service.ts'

// Where Karmada's webhook is off, or was not asked, anything that fits the CRD's schema is stored. The same rules judge it
// before a provider sees it.

export function storedIngressFaults(ingress: MultiClusterIngress): Finding[] {
  return validateMultiClusterIngress(ingress)
}

/** But for the types: two of them were allowed before Karmada v1.9, unknown ones before v1.8, and such objects are served. */
export function storedServiceFaults(service: MultiClusterService): Finding[] {
  return validateMultiClusterService(service).filter(({ field }) => !field.startsWith('spec.types'))
}

// An event's message holds 1,024 characters; more faults than these are told with their number.
const TOLD = 5

/** In the words that kubectl shows when the webhook refuses. */
export function describeFaults(faults: readonly Finding[]): string {
  const told = faults.slice(0, TOLD).map(({ field, message }) => `${field}: ${message}`)
  const rest = faults.length - told.length
  return [...told, ...(rest > 0 ? [`and ${rest} more`] : [])].join(', ')
}
