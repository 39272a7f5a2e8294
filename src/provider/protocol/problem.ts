import {
  DiskNotFound,
  ImplementedElsewhere,
  InstanceNotFound,
  isProviderError,
  NotImplemented,
  RetryAfter,
  Terminal,
} from '../errors.ts'

/** Why there is no answer, as it travels: a problem of RFC 9457 whose `kind` decides. */
export interface Problem {
  kind: ProblemKind
  status: number
  /** For people, the owner of the object among them. */
  detail: string
  /** Of `RetryAfter` and `Draining`. */
  retryAfterMs?: number
  /** Of `UnsupportedMediaType`: the media types that are taken. */
  spoken?: string[]
}

/**
 * | kind | status | is |
 * |---|---|---|
 * | RetryAfter | 503 | work goes on in the cloud; ask again in `retryAfterMs` |
 * | Terminal | 422 | only a change of the object can cure it |
 * | NotImplemented | 501 | there is no such function |
 * | ImplementedElsewhere | 409 | somebody else serves this object |
 * | InstanceNotFound, DiskNotFound | 410 | as in cloudprovider |
 * | Failed | 500 | any other error of the provider: tried again with growing delay |
 * | DeadlineExceeded | 504 | no answer within `deadlineMs`; what was begun may be finished all the same |
 * | AnswerTooLarge | 500 | the provider answers more than is sent |
 * | Draining | 503 | this process is stopping: nothing was begun |
 * | Unauthorized, NotFound, MethodNotAllowed, BadRequest, BodyTooLarge, UnsupportedMediaType | 4xx | the request is at fault: nothing was begun |
 */
export const PROBLEM_STATUS = {
  RetryAfter: 503,
  Terminal: 422,
  NotImplemented: 501,
  ImplementedElsewhere: 409,
  InstanceNotFound: 410,
  DiskNotFound: 410,
  Failed: 500,
  DeadlineExceeded: 504,
  AnswerTooLarge: 500,
  Draining: 503,
  Unauthorized: 401,
  NotFound: 404,
  MethodNotAllowed: 405,
  BadRequest: 400,
  BodyTooLarge: 413,
  UnsupportedMediaType: 415,
} as const

export type ProblemKind = keyof typeof PROBLEM_STATUS

export function problem(
  kind: ProblemKind,
  detail: string,
  more: Pick<Problem, 'retryAfterMs' | 'spoken'> = {},
): Problem {
  return { kind, status: PROBLEM_STATUS[kind], detail: cleanDetail(detail), ...more }
}

/** What a provider threw. */
export function problemOf(error: unknown): Problem {
  const detail = error instanceof Error ? error.message : String(error)
  if (!isProviderError(error)) return problem('Failed', detail)
  if (error.kind === 'RetryAfter') return problem('RetryAfter', detail, { retryAfterMs: wholeMs(error.afterMs) })
  return problem(error.kind, detail)
}

/** What the caller of a provider sees; undefined for a problem that is no word of the provider's. */
export function providerErrorOf({ kind, detail, retryAfterMs = 0 }: Problem): Error | undefined {
  switch (kind) {
    case 'RetryAfter':
    case 'Draining':
      return new RetryAfter(retryAfterMs, detail)
    case 'Terminal':
      return new Terminal(detail)
    case 'NotImplemented':
      return new NotImplemented(detail)
    case 'ImplementedElsewhere':
      return new ImplementedElsewhere(detail)
    case 'InstanceNotFound':
      return new InstanceNotFound(detail)
    case 'DiskNotFound':
      return new DiskNotFound(detail)
    case 'Failed':
      return new Error(detail)
    default:
      return undefined
  }
}

export const LONGEST_DETAIL = 1_000
export const LONGEST_RETRY_MS = 86_400_000

// They rearrange what is read, or cannot be seen.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu

const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g

/** One line of valid Unicode, of at most 1,000 characters; keys of certificates are in requests, and must not come back. */
export function cleanDetail(text: string): string {
  const line = text
    .slice(0, 4 * LONGEST_DETAIL)
    .replace(PRIVATE_KEY, '[redacted]')
    .toWellFormed()
    .replace(UNSEEN, ' ')
    .trim()
  const characters = [...line]
  if (characters.length <= LONGEST_DETAIL) return line
  return `${characters.slice(0, LONGEST_DETAIL - 1).join('')}…`
}

/** A provider may compute its wait; what is no time is none. */
function wholeMs(ms: number): number {
  return Number.isFinite(ms) ? Math.min(Math.max(Math.ceil(ms), 0), LONGEST_RETRY_MS) : 0
}
