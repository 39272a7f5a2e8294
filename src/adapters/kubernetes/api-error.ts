import { CatalogueError, type ErrorCode } from '../../domain/catalogue-error.ts'
import type { ObjectKey } from '../../domain/object-key.ts'

/** The parts of a metav1.Status that we decide on. */
interface Status {
  reason?: string
  message?: string
  details?: { name?: string; causes?: { field?: string }[] }
  /** Of an expired list: where the rest of it begins. */
  metadata?: { continue?: unknown }
}

export interface ApiAnswer {
  statusCode: number
  retryAfter: string | undefined
  /** The parsed body, or undefined when it was not JSON. */
  body: unknown
}

/**
 * The API server's refusal as an error of the catalogue. The message holds the server's own words, cut short, and
 * nothing of the request or of the object.
 */
export function apiError(answer: ApiAnswer, object: ObjectKey, sentJsonPatch: boolean): CatalogueError {
  const status = statusOf(answer.body)
  const code = codeOf(answer.statusCode, status, sentJsonPatch)
  const afterMs = retryAfterMs(answer.retryAfter)
  const rest = code === 'ContinueExpired' ? status.metadata?.continue : undefined
  const words = status.message === undefined ? '' : `: ${status.message.slice(0, 300)}`
  return new CatalogueError(code, `the API server answered ${answer.statusCode}${words}`, {
    object,
    ...(afterMs === undefined ? {} : { afterMs }),
    ...(typeof rest === 'string' && rest !== '' ? { rest } : {}),
  })
}

/** A 404 for the object itself; a 404 without its name says that the kind is not served. */
export function isObjectMissing(answer: ApiAnswer, name: string): boolean {
  return answer.statusCode === 404 && statusOf(answer.body).details?.name === name
}

/**
 * | answer | means |
 * |---|---|
 * | 409 AlreadyExists | the name is taken |
 * | 409 | a precondition failed |
 * | 422 to a JSON Patch, without causes | a `test` of ours failed |
 * | 422 for metadata.uid | it is another object of the same name |
 * | any, "admission webhook … denied" | refused by somebody's webhook or policy |
 * | 3xx, other 4xx | not from an API server: something in between, which may be gone the next time |
 */
function codeOf(statusCode: number, { reason, message = '', details }: Status, sentJsonPatch: boolean): ErrorCode {
  if (DENIED.test(message)) return 'ApiDenied'
  switch (statusCode) {
    case 401:
      return 'ApiUnauthorized'
    case 403:
      return 'ApiForbidden'
    case 404:
      return details?.name === undefined ? 'KindNotServed' : 'NotFound'
    case 408:
    case 504:
      return 'ApiTimeout'
    case 409:
      return reason === 'AlreadyExists' ? 'AlreadyExists' : 'Conflict'
    case 410:
      return 'ContinueExpired'
    case 422:
      return isPrecondition(details?.causes ?? [], sentJsonPatch) ? 'Conflict' : 'ApiInvalid'
    case 429:
      return 'ApiThrottled'
    case 400:
    case 405:
    case 406:
    case 413:
    case 414:
    case 415:
      return 'ApiInvalid'
    default:
      return 'ApiFailed'
  }
}

// A policy's words follow `configmaps "x" is forbidden: `.
const DENIED = /^admission webhook "[^"]*" denied|(^|is forbidden: )ValidatingAdmissionPolicy '[^']*'.* denied request/

function isPrecondition(causes: { field?: string }[], sentJsonPatch: boolean): boolean {
  return causes.length === 0 ? sentJsonPatch : causes.some(({ field }) => field === 'metadata.uid')
}

function statusOf(body: unknown): Status {
  return typeof body === 'object' && body !== null ? (body as Status) : {}
}

/** Only the form in seconds: the API server sends no other. */
function retryAfterMs(header: string | undefined): number | undefined {
  return header !== undefined && /^\d+$/.test(header) ? Number(header) * 1000 : undefined
}
