import { formatKey, type ObjectKey } from '../../domain/object-key.ts'
import type { SweepPosition } from './sweep-token.ts'

/** How far a call of a sweep has come. */
export interface SweepProgress {
  /** Where the page began that is worked on, or the one after it. */
  position: SweepPosition
  /** The last that was begun since. */
  begun?: ObjectKey | undefined
  isThrough: boolean
}

export function positionReached({ position, begun }: SweepProgress): SweepPosition {
  return begun === undefined ? position : { ...position, after: formatKey(begun) }
}
