/**
 * Why a list or a watch could not go on.
 * - `unreachable`: no answer, or the connection broke.
 * - `refused`: the API server said no, for now (429, 5xx) or until somebody changes something (401, 403, 404).
 * - `expired`: it no longer knows the resourceVersion or the continue token: only a new list tells the state.
 * - `garbled`: it said something that is no answer to what was asked.
 */
export type WatchFault = 'unreachable' | 'refused' | 'expired' | 'garbled'

/** The message holds the server's words, cut short; never an object's content. */
export class WatchError extends Error {
  override readonly name = 'WatchError'
  readonly fault: WatchFault
  /** How long the server asks us to wait. */
  readonly afterMs: number | undefined

  constructor(fault: WatchFault, message: string, details: { afterMs?: number | undefined; cause?: unknown } = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.fault = fault
    this.afterMs = details.afterMs
  }
}

/** What a metav1.Status means, as the body of an answer or as an ERROR event within a stream. */
export function watchErrorOfStatus(body: unknown, statusCode: number, retryAfter?: string): WatchError {
  const { code, message, details, reason } = typeof body === 'object' && body !== null ? (body as Status) : {}
  const said = typeof code === 'number' ? code : statusCode
  const seconds = Number(retryAfter ?? details?.retryAfterSeconds)
  const expired = said === 410 || reason === 'Expired' || isFromAnotherHistory(message)
  const words = typeof message === 'string' ? `: ${message.slice(0, 200)}` : ''
  return new WatchError(expired ? 'expired' : 'refused', `the API server answered ${said}${words}`, {
    afterMs: Number.isFinite(seconds) ? seconds * 1000 : undefined,
  })
}

interface Status {
  code?: unknown
  reason?: unknown
  message?: unknown
  details?: { retryAfterSeconds?: unknown }
}

/** After a restore from a backup our resourceVersion lies in the future, or is none at all. */
function isFromAnotherHistory(message: unknown): boolean {
  return typeof message === 'string' && /too large resource version|invalid resource version/i.test(message)
}
