type ProviderErrorKind =
  | 'RetryAfter'
  | 'NotImplemented'
  | 'ImplementedElsewhere'
  | 'InstanceNotFound'
  | 'DiskNotFound'
  | 'Terminal'

/**
 * What a provider throws to say more than "it failed". Any other error is a failure that is tried again with growing delay.
 * The classes carry a `kind`, so that a provider bundled with its own copy of this package is still understood.
 */
abstract class ProviderError extends Error {
  abstract readonly kind: ProviderErrorKind
}

/** The work goes on in the cloud; ask again in `afterMs` milliseconds. Not a failure: no Warning event, no backoff. */
export class RetryAfter extends ProviderError {
  readonly kind = 'RetryAfter'
  readonly afterMs: number

  constructor(afterMs: number, message = 'the cloud is still working') {
    super(message)
    this.afterMs = afterMs
  }
}

/** This provider has no such function. As in `cloudprovider.NotImplemented`. */
export class NotImplemented extends ProviderError {
  readonly kind = 'NotImplemented'

  constructor(message = 'unimplemented') {
    super(message)
  }
}

/** Somebody else serves this object (a second controller of the same cloud): we leave it alone. As in `cloudprovider.ImplementedElsewhere`. */
export class ImplementedElsewhere extends ProviderError {
  readonly kind = 'ImplementedElsewhere'

  constructor(message = 'implemented by alternate to cloud provider') {
    super(message)
  }
}

/** The instance does not exist in the cloud. As in `cloudprovider.InstanceNotFound`. */
export class InstanceNotFound extends ProviderError {
  readonly kind = 'InstanceNotFound'

  constructor(message = 'instance not found') {
    super(message)
  }
}

/** The disk does not exist in the cloud. As in `cloudprovider.DiskNotFound`. */
export class DiskNotFound extends ProviderError {
  readonly kind = 'DiskNotFound'

  constructor(message = 'disk is not found') {
    super(message)
  }
}

/** The object can never be served as it is; no further attempt until it changes. The message is shown to its owner. */
export class Terminal extends ProviderError {
  readonly kind = 'Terminal'
}

/** Tells a provider's typed error from any other, also across copies of this package. */
export function isProviderError(
  error: unknown,
): error is RetryAfter | NotImplemented | ImplementedElsewhere | InstanceNotFound | DiskNotFound | Terminal {
  return error instanceof Error && 'kind' in error && typeof error.kind === 'string' && KINDS.has(error.kind)
}

const KINDS: ReadonlySet<string> = new Set([
  'RetryAfter',
  'NotImplemented',
  'ImplementedElsewhere',
  'InstanceNotFound',
  'DiskNotFound',
  'Terminal',
])
