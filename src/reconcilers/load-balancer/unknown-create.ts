import type { Clock } from '../../ports/clock.ts'
import type { HeldLock } from '../../ports/lock.ts'

interface UnknownCreatePass {
  held: HeldLock
  clock: Clock
  /** How long after a create whose answer was lost "absent" proves nothing. */
  consistencyWindowMs: number
}

const NOTE = 'create'

/**
 * Makes a balancer; while it is not known whether it was made, that is noted with the lock, for whoever comes next. Costs
 * two writes, and only for clouds that do not show at once what they made.
 */
export async function rememberingCreate<R>(
  uid: string,
  { held, clock, consistencyWindowMs }: UnknownCreatePass,
  create: () => Promise<R>,
): Promise<R> {
  if (consistencyWindowMs === 0) return create()
  await held.setNote(NOTE, JSON.stringify({ uid, at: clock.now() }))
  const result = await create()
  await held.setNote(NOTE, undefined)
  return result
}

/** How much longer "absent" proves nothing; 0 when no create is unknown, and then its note is gone. */
export async function unknownCreateMs(
  uid: string,
  { held, clock, consistencyWindowMs }: UnknownCreatePass,
): Promise<number> {
  const text = held.note(NOTE)
  if (text === undefined) return 0
  const noted = JSON.parse(text) as { uid: string; at: number }
  const rest = noted.at + consistencyWindowMs - clock.now()
  if (noted.uid === uid && rest > 0) return rest
  await held.setNote(NOTE, undefined)
  return 0
}
