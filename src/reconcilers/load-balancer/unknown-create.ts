import type { HeldLock } from '../../ports/lock.ts'

interface UnknownCreatePass {
  held: HeldLock
  /** For one call to the provider. */
  providerDeadlineMs: number
  /** How long after a create whose answer was lost "absent" proves nothing. */
  consistencyWindowMs: number
}

const NOTE = 'create'

interface UnknownCreate {
  uid: string
  /** From then on "absent" proves that there is none; by the clock that all holders share. */
  until: number
}

// Between the moment that is noted and the call lies a write, and those who read the note may be ahead by this much too.
const NOTED_WITHIN_MS = 5_000

/**
 * Makes a balancer; while it is not known whether it was made, that is noted with the lock, for whoever comes next. Costs
 * two writes, and only for clouds that do not show at once what they made.
 *
 * The cloud may act as long as somebody waits for it, and for the provider's window after that.
 */
export async function rememberingCreate<R>(uid: string, pass: UnknownCreatePass, create: () => Promise<R>): Promise<R> {
  const { held, consistencyWindowMs, providerDeadlineMs } = pass
  if (consistencyWindowMs === 0) return create()
  let notedAt: number
  do {
    notedAt = held.now()
    const unknown: UnknownCreate = {
      uid,
      until: notedAt + NOTED_WITHIN_MS + providerDeadlineMs + consistencyWindowMs,
    }
    await held.setNote(NOTE, JSON.stringify(unknown))
  } while (held.now() > notedAt + NOTED_WITHIN_MS)
  const result = await create()
  await forgetCreate(pass)
  return result
}

/** How much longer "absent" proves nothing; to be asked before the cloud is. */
export function unknownCreateMs(uid: string, { held }: Pick<UnknownCreatePass, 'held'>): number {
  const text = held.note(NOTE)
  if (text === undefined) return 0
  const unknown = JSON.parse(text) as UnknownCreate
  return unknown.uid === uid ? Math.max(0, unknown.until - held.now()) : 0
}

/** It is known what became of it. */
export async function forgetCreate({ held }: Pick<UnknownCreatePass, 'held'>): Promise<void> {
  if (held.note(NOTE) !== undefined) await held.setNote(NOTE, undefined)
}
