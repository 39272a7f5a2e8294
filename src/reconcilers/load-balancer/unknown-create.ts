import type { HeldLock } from '../../ports/lock.ts'

interface UnknownCreatePass {
  held: HeldLock
  /** For one call to the provider. */
  providerDeadlineMs: number
  /** How long after a create whose answer was lost "absent" proves nothing. */
  consistencyWindowMs: number
}

const NOTE = 'create'

/** Calls that may have made a balancer, or may still make one. */
interface UnknownCreate {
  uid: string
  /** From then on "absent" proves that there is none; by the clock that all holders share. */
  until: number
  /** A balancer that is seen does not prove that they all have come: another one may be behind it. */
  lasts?: true
}

// Between the moment that is noted and the call lies a write, which may take this long.
const NOTED_WITHIN_MS = 5_000
// And those who read the note may be ahead of those who wrote it.
const CLOCKS_APART_MS = 5_000

/**
 * Makes a balancer, or may make one; while it is not known whether it did, that is noted with the lock, for whoever comes
 * next. Costs two writes, and only for clouds that do not show at once what they made.
 *
 * The cloud may act as long as somebody waits for it, and for the provider's window after that. One answer tells nothing
 * of an earlier call that got none: when its balancer is deleted meanwhile, that one would make it anew.
 */
export async function rememberingCreate<R>(
  { uid, isThere }: { uid: string; isThere: boolean },
  pass: UnknownCreatePass,
  create: () => Promise<R>,
): Promise<R> {
  const { held, consistencyWindowMs, providerDeadlineMs } = pass
  if (consistencyWindowMs === 0) return create()
  const earlier = unknownCreate(uid, held)
  let notedAt: number
  do {
    notedAt = held.now()
    const until = notedAt + NOTED_WITHIN_MS + CLOCKS_APART_MS + providerDeadlineMs + consistencyWindowMs
    await note({ uid, until, ...((isThere || earlier !== undefined) && { lasts: true }) }, held)
  } while (held.now() > notedAt + NOTED_WITHIN_MS)
  const result = await create()
  await note(earlier && { ...earlier, lasts: true }, held)
  return result
}

/** How much longer "absent" proves nothing; to be asked before the cloud is. */
export function unknownCreateMs(uid: string, { held }: Pick<UnknownCreatePass, 'held'>): number {
  return Math.max(0, (unknownCreate(uid, held)?.until ?? 0) - held.now())
}

/** The balancer of this uid is there: of one call that is all there is to know. */
export async function createCame(uid: string, { held }: Pick<UnknownCreatePass, 'held'>): Promise<void> {
  if (unknownCreate(uid, held)?.lasts !== true) await forgetCreate({ held })
}

/** Nothing can come any more. */
export async function forgetCreate({ held }: Pick<UnknownCreatePass, 'held'>): Promise<void> {
  if (held.note(NOTE) !== undefined) await note(undefined, held)
}

/** Undefined when it is known what became of all calls, or their time is over. */
function unknownCreate(uid: string, held: HeldLock): UnknownCreate | undefined {
  const text = held.note(NOTE)
  const unknown = text === undefined ? undefined : (JSON.parse(text) as UnknownCreate)
  return unknown?.uid === uid && unknown.until > held.now() ? unknown : undefined
}

function note(unknown: UnknownCreate | undefined, held: HeldLock): Promise<void> {
  return held.setNote(NOTE, unknown === undefined ? undefined : JSON.stringify(unknown))
}
