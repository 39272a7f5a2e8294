import type { Clock } from '../../ports/clock.ts'

/** Spares a sink that fails, and those who would wait for it. */
export interface SinkCircuit {
  /** Milliseconds until the next attempt is worth its while; 0 now. */
  closedIn(): number
  succeeded(): void
  /** Not before `afterMs`, where the sink has said so. */
  failed(afterMs: number | undefined): void
}

const FIRST_MS = 1_000
const LONGEST_MS = 30_000

/** Opens at the first failure of the sink as a whole, longer each time; any success closes it. */
export function createSinkCircuit(clock: Clock, onChange: (isOpen: boolean) => void): SinkCircuit {
  let failures = 0
  let openUntil = Number.NEGATIVE_INFINITY
  return {
    closedIn: () => Math.max(0, openUntil - clock.now()),
    succeeded() {
      if (failures > 0) onChange(false)
      failures = 0
      openUntil = Number.NEGATIVE_INFINITY
    },
    failed(afterMs) {
      // Of many requests at a time the first tells.
      if (clock.now() < openUntil) return
      if (failures === 0) onChange(true)
      openUntil = clock.now() + Math.max(afterMs ?? 0, Math.min(LONGEST_MS, FIRST_MS * 2 ** failures))
      failures += 1
    },
  }
}
