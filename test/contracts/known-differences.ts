import type { KnownDifference } from './kubernetes-api/judge-results.ts'

const because = (reason: string, ...checks: string[]): KnownDifference[] => checks.map((check) => ({ check, reason }))

/** Where the local control plane does not do as the real API server does, and why it is left so. */
export const knownDifferences: readonly KnownDifference[] = [
  ...because(
    'CEL is not evaluated',
    '1.6 matching: matchConditions: a false one spares the webhook',
    '1.6 matching: matchConditions: one that fails refuses with 403 under Fail',
    '1.6 matching: matchConditions: one that fails spares the webhook under Ignore',
    '1.6 matching: matchConditions: what is no CEL is refused',
    'errors: schema: a rule in CEL is obeyed',
  ),
  ...because(
    'no managedFields, so nobody owns a field and apply never conflicts',
    '1.2 request fields: the objects of a review carry their managedFields',
    'server-side apply: managedFields tell who applied what',
    'server-side apply: a field of another manager is a conflict',
    'server-side apply: conditions: one of another manager with another value is a conflict',
    'server-side apply: conditions: an empty list for the only one is refused, where another manager has had something in the status',
  ),
  ...because(
    'no admission configuration file, so webhooks are called without credentials',
    '1.4 authentication: the kubeconfig user named as host and port applies, whatever else would match',
    '1.4 authentication: a kubeconfig user named as the end of host and port applies',
    '1.4 authentication: the kubeconfig user * applies to every other webhook',
    '1.4 authentication: validating webhooks are called as the same users',
  ),
  ...because(
    'names of Services are not resolved: a webhook is called by URL',
    '1.4 authentication: a webhook behind a Service is called by the Service’s name, offered HTTP/1.1 only',
  ),
  ...because(
    'webhooks are called over HTTP/1.1 only, as a real API server calls all but those on loopback',
    '1.1 wire: a webhook on a loopback address is offered HTTP/2 too',
  ),
  ...because(
    'everyone with a token may do everything',
    'errors: who: what RBAC does not allow is 403, with user, verb and resource',
  ),
  ...because(
    'no etcd, so nothing is too large for it',
    '1.8 create: CREATE of what is too large to be stored: the validating webhook is asked twice, then 500',
  ),
  ...because(
    'the garbage collector runs and releases what has no dependents at once; the real API server is asked without one',
    'deletion: propagationPolicy Foreground leaves a finalizer',
    'deletion: options in the query count too',
  ),
  ...because(
    'one process has no lag: no reader is ahead of it',
    'lists: a resourceVersion from the future is 504 with a hint to retry',
  ),
]
