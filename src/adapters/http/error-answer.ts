import { CatalogueError, type ErrorCode } from '../../domain/catalogue-error.ts'
import { retryAfterSeconds } from './retry-after.ts'

/** What every door answers when it cannot do as asked. */
export interface ErrorAnswer {
  status: number
  headers: Record<string, string>
  body: ErrorBody
}

export interface ErrorBody {
  code: ErrorCode
  message: string
  /** The field at fault, as a JSON path. */
  field?: string
}

const STATUS_OF_REQUEST_FAULTS: Partial<Record<ErrorCode, number>> = {
  BadRequest: 400,
  BadEncoding: 400,
  BodyTooLarge: 413,
  UnsupportedMediaType: 415,
  CallerUnknown: 401,
  CallerNotAllowed: 403,
  TooManyRequests: 429,
  Internal: 500,
}

/** A busy or draining instance: another one, or this one, can take the request at once. */
const SOON_MS = 1_000
/** The first step of our own backoff (DESIGN §5). */
const BACKOFF_MS = 5_000

/**
 * | error | status |
 * |---|---|
 * | the request is at fault | 400, 413, 415 |
 * | its caller may not send it, or not so often | 401, 403, 429 |
 * | our bug | 500 |
 * | anything else | as `workErrorAnswer` |
 *
 * `message` of a catalogue error is written for the caller. Any other error is a bug: it is told in the log only.
 */
export function errorAnswer(error: unknown): ErrorAnswer {
  if (!(error instanceof CatalogueError)) {
    const message = 'The request met a fault of this program; the log has the details.'
    return { status: 500, headers: {}, body: { code: 'Internal', message } }
  }
  const status = STATUS_OF_REQUEST_FAULTS[error.code]
  return status === undefined
    ? workErrorAnswer(error)
    : { status, headers: headersOf(status, error), body: bodyOf(error) }
}

function headersOf(status: number, { afterMs = SOON_MS }: CatalogueError): Record<string, string> {
  if (status === 401) return { 'www-authenticate': 'Bearer' }
  return status === 429 ? { 'retry-after': retryAfterSeconds(afterMs) } : {}
}

/** The request is good, what it asked for failed: 503 and Retry-After when trying again can help, 422 when it cannot. */
export function workErrorAnswer(error: CatalogueError): ErrorAnswer {
  if (error.retry === 'never') return { status: 422, headers: {}, body: bodyOf(error) }
  const afterMs = error.afterMs ?? (error.retry === 'after' ? SOON_MS : BACKOFF_MS)
  return { status: 503, headers: { 'retry-after': retryAfterSeconds(afterMs) }, body: bodyOf(error) }
}

function bodyOf(error: CatalogueError): ErrorBody {
  return { code: error.code, message: error.message, ...(error.field === undefined ? {} : { field: error.field }) }
}
