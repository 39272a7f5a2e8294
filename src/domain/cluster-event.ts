import type { KubernetesObject } from './kubernetes-object.ts'
import type { TraceContext } from './trace-context.ts'

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE'

/**
 * Somebody says that an object changed. A rumour: a review arrives before the object is stored and may still be
 * rejected, a CloudEvent may be late, doubled or forged. It names an object to read; it carries no work.
 */
export interface ClusterEvent {
  /** `admission`: sent before the commit, so the change may not be visible yet. `cloudevent`: sent after it. */
  source: 'admission' | 'cloudevent'
  operation: Operation
  /** API group and kind as reported; the version does not matter, we read our own. */
  group: string
  kind: string
  /** Empty for cluster-scoped objects. */
  namespace: string
  name: string
  /** The object as it is to be, or as it was when the event was sent; absent for DELETE and for reference events. */
  object?: KubernetesObject
  /** The object before the change; of CloudEvents only deletions know it. */
  oldObject?: KubernetesObject
  /** Who made the change; only reviews know it. */
  username?: string
  /** When the door saw it, in milliseconds since the epoch. */
  receivedAt: number
  /** The span that told of it. */
  trace?: TraceContext
}
