import type { ObjectKey } from './object-key.ts'
import { formatKey } from './object-key.ts'

/**
 * When trying again can help.
 * - `backoff`: yes, with growing delay.
 * - `after`: yes, not before `afterMs`.
 * - `never`: no, somebody has to change something.
 */
export type Retry = 'backoff' | 'after' | 'never'

interface ErrorMeaning {
  retry: Retry
  /** For the documentation: what it means and what to do. */
  meaning: string
}

/** Every error this project raises on purpose. README lists the same codes; a test compares the two. */
export const ERROR_CODES = {
  // The API server's answers.
  ApiUnreachable: {
    retry: 'backoff',
    meaning: 'The API server could not be reached: check the kubeconfig server and the network.',
  },
  ApiTimeout: {
    retry: 'backoff',
    meaning: 'The API server did not answer in time; a write may or may not have happened.',
  },
  ApiUnauthorized: {
    retry: 'backoff',
    meaning: 'The API server does not know us: renew the token or client certificate in the kubeconfig.',
  },
  ApiForbidden: { retry: 'backoff', meaning: 'RBAC refuses the call: apply the role from manifests/.' },
  ApiDenied: { retry: 'never', meaning: 'An admission webhook of somebody else refused our write.' },
  ApiThrottled: { retry: 'after', meaning: 'The API server asked us to slow down.' },
  ApiFailed: { retry: 'backoff', meaning: 'The API server answered with a server error.' },
  ApiInvalid: { retry: 'never', meaning: 'The API server refused our request as invalid.' },
  KindNotServed: {
    retry: 'backoff',
    meaning: 'The API server does not know this kind: install its CustomResourceDefinition.',
  },
  NotFound: { retry: 'backoff', meaning: 'The object to write is gone.' },
  AlreadyExists: { retry: 'backoff', meaning: 'An object of this name exists already.' },
  Conflict: { retry: 'after', meaning: 'The object changed while we worked on it; the work starts over.' },
  ContinueExpired: {
    retry: 'backoff',
    meaning: 'The list took so long that its continue token expired; the sweep lists the rest as it is now.',
  },
  // The provider's answers.
  ProviderRetryAfter: { retry: 'after', meaning: 'The provider is still working and says when to ask again.' },
  ProviderFailed: { retry: 'backoff', meaning: 'The provider failed; its message says how.' },
  ProviderTerminal: { retry: 'never', meaning: 'The provider refuses this object until it is changed.' },
  ProviderTimeout: { retry: 'backoff', meaning: 'The provider did not answer within the deadline.' },
  NotImplemented: { retry: 'never', meaning: 'The provider does not support this kind of balancer.' },
  // Requests to us.
  BadRequest: { retry: 'never', meaning: 'The request is not what this door takes; the message names the field.' },
  BadEncoding: { retry: 'never', meaning: 'The body is not valid UTF-8 JSON.' },
  UnsupportedMediaType: { retry: 'never', meaning: 'The content type or encoding is not one this door takes.' },
  BodyTooLarge: { retry: 'never', meaning: 'The body is larger than 7 MiB.' },
  CallerUnknown: { retry: 'never', meaning: 'The request does not prove who sent it: see docs/security.md.' },
  CallerNotAllowed: { retry: 'never', meaning: 'The caller is known and may not use this door.' },
  CallerUnverifiable: {
    retry: 'after',
    meaning: 'The keys of the token issuer could not be read; the log of the function says why.',
  },
  TooManyRequests: { retry: 'after', meaning: 'This caller sends more than its share; it may go on a little later.' },
  QueueFull: { retry: 'after', meaning: 'The work queue is full; the sweep will find the work.' },
  QueueUnreachable: {
    retry: 'after',
    meaning: 'The message broker did not take the work; the sweep will find it.',
  },
  Draining: { retry: 'after', meaning: 'This instance is shutting down; another one takes the request.' },
  // Starting up.
  ConfigurationInvalid: { retry: 'never', meaning: 'The configuration has faults; all of them are listed.' },
  ProviderUnknown: { retry: 'never', meaning: 'No provider of this name is registered; the known ones are listed.' },
  KubeconfigInvalid: { retry: 'never', meaning: 'The kubeconfig cannot be used; the message names the field.' },
  CertificateInvalid: {
    retry: 'never',
    meaning: 'The serving certificate cannot be used: expired, not yet valid, or not matching its key.',
  },
  PortRefused: { retry: 'never', meaning: 'The system does not let us listen on this address and port.' },
  PortInUse: { retry: 'never', meaning: 'Another process listens on the port.' },
  // Ours.
  Internal: { retry: 'backoff', meaning: 'A fault of this program; please report it with the log line.' },
} as const satisfies Record<string, ErrorMeaning>

export type ErrorCode = keyof typeof ERROR_CODES

export interface ErrorDetails {
  /** The object it happened to. */
  object?: ObjectKey
  /** The field at fault, as a JSON path. */
  field?: string
  /** For `after` codes: milliseconds to wait. */
  afterMs?: number
  /** For `ContinueExpired`: the token that the API server gives for the rest of the list, as it is now. */
  rest?: string
  cause?: unknown
}

/** An error with a code of the catalogue. Decisions are made on `code` and `retry`, never on the text. */
export class CatalogueError extends Error {
  override readonly name = 'CatalogueError'
  readonly code: ErrorCode
  readonly retry: Retry
  readonly object: ObjectKey | undefined
  readonly field: string | undefined
  readonly afterMs: number | undefined
  readonly rest: string | undefined

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    const subject = details.object === undefined ? '' : `${formatKey(details.object)}: `
    super(`${subject}${message}`, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.retry = ERROR_CODES[code].retry
    this.object = details.object
    this.field = details.field
    this.afterMs = details.afterMs
    this.rest = details.rest
  }
}

export function isCatalogueError(error: unknown, code?: ErrorCode): error is CatalogueError {
  return error instanceof CatalogueError && (code === undefined || error.code === code)
}
