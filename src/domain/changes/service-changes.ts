import type { ClusterEvent } from '../cluster-event.ts'
import { hasFinalizer } from '../finalizers.ts'
import type { OurMarks } from '../relevance.ts'
import type { Service } from '../service.ts'
import { needsUpdate } from '../service-balancer/balancer-input.ts'
import { SERVICE_FINALIZER, standingOf, wantsBalancer } from '../service-balancer/service-standing.ts'

/**
 * Whether an event can mean work for a Service's balancer (R-SVC-3).
 *
 * | event | counts if |
 * |---|---|
 * | CREATE | it wants a balancer, or has one to remove |
 * | UPDATE | what a balancer is made from changed (R-SVC-4), or it has one to remove |
 * | UPDATE by another | our finalizer went, or the addresses (deviation 3) |
 * | DELETE | it wanted a balancer, or carried the finalizer; with it, the review of a deletion is all that is told |
 *
 * Without the objects nothing can be compared, and the event counts; so does what is not shaped as a Service.
 */
export function concernsBalancer(event: ClusterEvent, { identity, services }: OurMarks): boolean {
  const ours = services?.loadBalancerClass
  const before = event.oldObject as Service | undefined
  const after = event.object as Service | undefined
  try {
    if (event.operation === 'DELETE') return concernsOne(before ?? after, ours)
    if (event.operation === 'CREATE' || before === undefined || after === undefined) return concernsOne(after, ours)
    const byUs = identity !== undefined && event.username === identity
    return needsUpdate(before, after, ours) || leaves(after, ours) || (!byUs && wasRobbed(before, after, ours))
  } catch {
    return true
  }
}

function concernsOne(service: Service | undefined, ours: string | undefined): boolean {
  return service === undefined || standingOf(service, ours).kind !== 'leave'
}

function leaves(service: Service, ours: string | undefined): boolean {
  return standingOf(service, ours).kind === 'cleanUp'
}

function wasRobbed(before: Service, after: Service, ours: string | undefined): boolean {
  if (!wantsBalancer(after, ours)) return false
  const lostFinalizer = hasFinalizer(before, SERVICE_FINALIZER) && !hasFinalizer(after, SERVICE_FINALIZER)
  return lostFinalizer || (hasAddress(before) && !hasAddress(after))
}

function hasAddress({ status }: Service): boolean {
  return (status?.loadBalancer?.ingress ?? []).length > 0
}
