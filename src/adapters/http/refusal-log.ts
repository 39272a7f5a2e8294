import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'

const ONCE_PER_MS = 60_000

/** Tells the log of refused callers: of each door and reason once a minute, with the number of those not told. */
export function createRefusalLog({ logger, clock }: { logger: Logger; clock: Clock }) {
  const told = new Map<string, { at: number; since: number }>()
  return (door: string, reason: string, remoteAddress: string | undefined): void => {
    const kind = `${door} ${reason}`
    const last = told.get(kind)
    if (last !== undefined && clock.now() - last.at < ONCE_PER_MS) {
      last.since += 1
      return
    }
    told.set(kind, { at: clock.now(), since: 0 })
    logger.warn({ door, reason, remoteAddress, notLogged: last?.since ?? 0 }, 'caller refused')
  }
}
