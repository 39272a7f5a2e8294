import { hasFinalizer } from '../../domain/finalizers.ts'
import type { Finding } from '../../domain/finding.ts'
import { differsInHostsOnly } from '../../domain/service-balancer/balancer-request.ts'
import { publishedIngress, sameIngress } from '../../domain/service-balancer/published-ingress.ts'
import { SERVICE_FINALIZER } from '../../domain/service-balancer/service-standing.ts'
import type { ServiceSnapshot, WantedBalancer } from './service-snapshot.ts'

export type ServiceDecision =
  | { do: 'nothing'; reason: string }
  | { do: 'settled' }
  /** What serves keeps serving; the provider is not called. */
  | { do: 'refuse'; faults: Finding[] }
  | Serve
  | { do: 'cleanUp' }

export interface Serve {
  do: 'serve'
  wanted: WantedBalancer
  /** Whether our finalizer is missing. */
  claim: boolean
  /** `none`: the balancer is as it should be, only the claim or the published status is not. */
  call: 'ensure' | 'update' | 'none'
  /** Whether a call is known to change something; otherwise it is made to find out. */
  isNews: boolean
}

/** What to do about a Service, from a snapshot (R-SVC-5). */
export function decideService({ service, standing, wanted }: ServiceSnapshot): ServiceDecision {
  if (standing.kind === 'leave') return { do: 'nothing', reason: standing.reason }
  if (standing.kind === 'cleanUp' || wanted === undefined) return { do: 'cleanUp' }
  if (wanted.faults.length > 0) return { do: 'refuse', faults: wanted.faults }
  const claim = !hasFinalizer(service, SERVICE_FINALIZER)
  const call = callFor(wanted)
  if (!claim && call === 'none' && isPublished(service.status?.loadBalancer?.ingress, wanted)) return { do: 'settled' }
  const stored = wanted.record?.fingerprint
  const isNews = wanted.record === undefined || (stored !== undefined && stored !== wanted.request.fingerprint)
  return { do: 'serve', wanted, claim, call, isNews }
}

/**
 * | the provider's record | call |
 * |---|---|
 * | none | ensure |
 * | same fingerprint | none; ensure when its turn to be verified has come |
 * | other hosts, all else the same | update (R-SVC-24) |
 * | other, or without a fingerprint | ensure, which corrects everything (R-SVC-25) |
 */
function callFor({ record, request: { fingerprint }, verify }: WantedBalancer): Serve['call'] {
  const stored = record?.fingerprint
  if (stored === undefined) return 'ensure'
  if (stored === fingerprint) return verify ? 'ensure' : 'none'
  return differsInHostsOnly(fingerprint, stored) ? 'update' : 'ensure'
}

/** Undefined from the provider means "leave what is there". */
function isPublished(stored: Parameters<typeof sameIngress>[0], { record, request }: WantedBalancer): boolean {
  return record?.status === undefined || sameIngress(stored, publishedIngress(record.status, request.options))
}
