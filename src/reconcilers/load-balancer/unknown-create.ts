import type { BalancedKind } from './balanced-resource.ts'
import type { HeldPass } from './balancer-pass.ts'

const NOTE = 'create'

/**
 * Makes a balancer; while it is not known whether it was made, that is noted with the lock, for whoever comes next. Costs
 * two writes, and only for clouds that do not show at once what they made.
 */
export async function rememberingCreate<K extends BalancedKind, R>(
  uid: string,
  { held, clock, consistencyWindowMs }: HeldPass<K>,
  create: () => Promise<R>,
): Promise<R> {
  if (consistencyWindowMs === 0) return create()
  await held.setNote(NOTE, JSON.stringify({ uid, at: clock.now() }))
  const result = await create()
  await held.setNote(NOTE, undefined)
  return result
}

/** How much longer "absent" proves nothing; 0 when no create is unknown, and then its note is gone. */
export async function unknownCreateMs<K extends BalancedKind>(
  uid: string,
  { held, clock, consistencyWindowMs }: HeldPass<K>,
): Promise<number> {
  const text = held.note(NOTE)
  if (text === undefined) return 0
  const noted = JSON.parse(text) as { uid: string; at: number }
  const rest = noted.at + consistencyWindowMs - clock.now()
  if (noted.uid === uid && rest > 0) return rest
  await held.setNote(NOTE, undefined)
  return 0
}
