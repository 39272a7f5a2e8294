import type { OutgoingEvent } from './outgoing-event.ts'

/** An event about one object. */
export interface ObjectEvent {
  /** Events of one key are sent in order, and the latest makes earlier ones unnecessary. */
  key: string
  /** The object is gone: what follows is about another one of the same name. */
  isDelete: boolean
  event: OutgoingEvent
}

/**
 * What is still to be sent of one key once `next` is known; never more than two.
 *
 * | pending | next | to be sent |
 * |---|---|---|
 * | anything | delete | the delete |
 * | delete, maybe more | add or update | the delete, then the latest |
 * | else | add or update | the latest |
 */
export function addPending(pending: readonly ObjectEvent[], next: ObjectEvent): ObjectEvent[] {
  return next.isDelete ? [next] : [...pending.filter(({ isDelete }) => isDelete), next]
}
