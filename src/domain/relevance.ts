import { meaningfulAnnotations } from './annotations.ts'
import { sameJson } from './canonical-json.ts'
import type { ClusterEvent } from './cluster-event.ts'
import { hasFinalizer } from './finalizers.ts'
import type { KubernetesObject } from './kubernetes-object.ts'

export interface OurMarks {
  /** The user name under which we write; undefined when not configured. */
  identity: string | undefined
  finalizer: string
  /** Where Services themselves are served: which class, undefined for those without one. */
  services?: { loadBalancerClass: string | undefined }
}

/**
 * Whether an event can mean work: spec, annotations or deletion changed, or our finalizer went.
 * Without both objects nothing can be compared, and the event counts.
 *
 * Our own writes touch finalizers and status only, so they fall out by comparison; the user name matters for one case,
 * the release of our own finalizer.
 */
export function isRelevantChange(event: ClusterEvent, { identity, finalizer }: OurMarks): boolean {
  const { object, oldObject } = event
  if (event.operation !== 'UPDATE' || object === undefined || oldObject === undefined) return true
  if (asksSomethingElse(oldObject, object)) return true
  const byUs = identity !== undefined && event.username === identity
  return !byUs && hasFinalizer(oldObject, finalizer) && !hasFinalizer(object, finalizer)
}

/** Whether spec, annotations or deletion differ: all that a balancer can depend on. */
export function asksSomethingElse(before: KubernetesObject, after: KubernetesObject): boolean {
  return (
    before.metadata.deletionTimestamp !== after.metadata.deletionTimestamp ||
    !sameJson(meaningfulAnnotations(before), meaningfulAnnotations(after)) ||
    !sameJson(content(before), content(after))
  )
}

/** All but metadata and status: not every kind keeps what it asks for under `spec`, or counts generations. */
function content(object: KubernetesObject): Record<string, unknown> {
  const { metadata: _metadata, status: _status, ...rest } = object as KubernetesObject & { status?: unknown }
  return rest
}
