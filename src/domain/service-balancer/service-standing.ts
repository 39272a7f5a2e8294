import { hasFinalizer } from '../finalizers.ts'
import { isBeingDeleted } from '../kubernetes-object.ts'
import type { Service } from '../service.ts'

/** Upstream's, shared by every implementation: it says that somebody made a balancer, not who. */
export const SERVICE_FINALIZER = 'service.kubernetes.io/load-balancer-cleanup'

export type ServiceStanding =
  | { kind: 'serve' }
  /** Its balancer goes, and then the finalizer. */
  | { kind: 'cleanUp' }
  /** Not touched, and the cloud is not asked (R-SVC-3). */
  | { kind: 'leave'; reason: string }

/**
 * What a Service is to us, from a fresh read. `ours` is the class that we serve, undefined for Services without one.
 *
 * | Service | finalizer | standing |
 * |---|---|---|
 * | type LoadBalancer, another class | any | leave (R-SVC-10; deviation 2: not even its finalizer) |
 * | deleting | present | clean up |
 * | deleting | absent | leave (R-SVC-9; deviation 1: the API server takes no new finalizer) |
 * | type LoadBalancer, our class | any | serve |
 * | another type | present | clean up (R-SVC-2) |
 * | another type | absent | leave |
 */
export function standingOf(service: Service, ours: string | undefined): ServiceStanding {
  const held = hasFinalizer(service, SERVICE_FINALIZER)
  const isBalancer = isLoadBalancer(service)
  if (isOfAnotherClass(service, ours)) return { kind: 'leave', reason: 'another loadBalancerClass' }
  if (isBeingDeleted(service))
    return held ? { kind: 'cleanUp' } : { kind: 'leave', reason: 'being deleted, and not held' }
  if (isBalancer) return { kind: 'serve' }
  return held ? { kind: 'cleanUp' } : { kind: 'leave', reason: 'not of type LoadBalancer' }
}

/** The same when we leave: what is held and not another's goes, what is not held is left. */
export function letGoStandingOf(service: Service, ours: string | undefined): ServiceStanding {
  const standing = standingOf(service, ours)
  if (standing.kind !== 'serve') return standing
  return hasFinalizer(service, SERVICE_FINALIZER) ? { kind: 'cleanUp' } : { kind: 'leave', reason: 'not held' }
}

/** R-SVC-1. */
export function wantsBalancer(service: Service, ours: string | undefined): boolean {
  return isLoadBalancer(service) && isOfClass(service, ours)
}

/** Somebody else's, and never touched. */
export function isOfAnotherClass(service: Service, ours: string | undefined): boolean {
  return isLoadBalancer(service) && !isOfClass(service, ours)
}

function isLoadBalancer({ spec }: Service): boolean {
  return spec?.type === 'LoadBalancer'
}

/** The API server drops the class with the type, so that another type is nobody's. */
function isOfClass({ spec }: Service, ours: string | undefined): boolean {
  return (spec?.loadBalancerClass ?? undefined) === ours
}

/** What the `pending` sweep looks at: not served yet as far as can be seen, or to be cleaned up. */
export function isServiceUnfinished(service: Service, ours: string | undefined): boolean {
  const { kind } = standingOf(service, ours)
  if (kind !== 'serve') return kind === 'cleanUp'
  return !hasFinalizer(service, SERVICE_FINALIZER) || (service.status?.loadBalancer?.ingress ?? []).length === 0
}
