import type { KubernetesObject } from './kubernetes-object.ts'
import { isBeingDeleted } from './kubernetes-object.ts'
import type { Hint } from './work-item.ts'

/**
 * How long after its review a change can still be committed: an API request is bounded by 34 s (handlers/rest.go), and
 * the commit may outlive the client's timeout.
 */
export const VISIBLE_WITHIN_MS = 40_000

/** Whether the announced change can be recognised at all; if not, there is nothing to wait for. */
export function needsLook(hint: Hint): boolean {
  return hint.operation !== 'UPDATE' || hint.oldResourceVersion !== undefined
}

/** Whether the object, as just read, already shows the change. */
export function isVisible(hint: Hint, object: KubernetesObject | undefined): boolean {
  switch (hint.operation) {
    case 'CREATE':
      return object !== undefined
    case 'UPDATE':
      // resourceVersions are compared for equality only; their order is the server's business.
      return hint.oldResourceVersion === undefined || object?.metadata.resourceVersion !== hint.oldResourceVersion
    case 'DELETE':
      return (
        object === undefined || isBeingDeleted(object) || (hint.uid !== undefined && object.metadata.uid !== hint.uid)
      )
  }
}

const FIRST_LOOK_MS = 50
const LONGEST_WAIT_MS = 5_000

/** When to look again: as long as it has been waiting already, so waits double from 50 ms to 5 s with no state kept. */
export function nextLookAfter(hints: readonly Hint[], now: number): number {
  const waits = hints.map(({ waitUntil = now }) => now - (waitUntil - VISIBLE_WITHIN_MS))
  return Math.min(LONGEST_WAIT_MS, Math.max(FIRST_LOOK_MS, Math.min(...waits)))
}
