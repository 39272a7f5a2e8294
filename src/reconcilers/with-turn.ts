import type { ClusterStore } from '../ports/cluster-store.ts'
import type { HeldLock } from '../ports/lock.ts'
import { whileHeld } from './while-held.ts'

interface Pass {
  store: ClusterStore
  signal: AbortSignal
}

/** What a run has while it holds the lock of its object. */
export interface Turn {
  held: HeldLock
  /** Grows with every holder. */
  fence: string
}

/** The same run with the lock: from here on it stops before its next step when the lock is lost. */
export function withTurn<P extends Pass>(pass: P, held: HeldLock): P & Turn {
  return {
    ...pass,
    store: whileHeld(pass.store, held),
    signal: AbortSignal.any([pass.signal, held.lost]),
    fence: held.fence,
    held,
  }
}
