/** meta/v1 Status: how the API server says no, and also how it confirms a deletion. */
export interface Status {
  kind: 'Status'
  apiVersion: 'v1'
  metadata: { continue?: string; resourceVersion?: string }
  status: 'Failure' | 'Success'
  message?: string
  reason?: string
  details?: StatusDetails
  code?: number
}

export interface StatusDetails {
  name?: string
  group?: string
  kind?: string
  uid?: string
  causes?: StatusCause[]
  retryAfterSeconds?: number
}

export interface StatusCause {
  reason?: string
  message?: string
  field?: string
}

/** One field that validation does not accept. */
export interface FieldError {
  field: string
  reason:
    | 'FieldValueInvalid'
    | 'FieldValueRequired'
    | 'FieldValueNotSupported'
    | 'FieldValueDuplicate'
    | 'FieldValueForbidden'
    | 'FieldValueTypeInvalid'
    | 'FieldValueTooLong'
    | 'FieldValueTooMany'
  /** Without the field: `Invalid value: "x": …`. */
  message: string
}

/** Group and plural: how the messages name a resource. */
export interface GroupResource {
  group: string
  plural: string
}

export class StatusError extends Error {
  override readonly name = 'StatusError'
  readonly status: Status & { code: number }
  /** The webhook that refused, where one did. */
  readonly deniedBy: string | undefined
  /** Said on the way to the refusal. */
  warnings: readonly string[] = []

  constructor(code: number, reason: string, message: string, details?: StatusDetails, deniedBy?: string) {
    super(message)
    this.deniedBy = deniedBy
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      ...(reason === '' ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      code,
    }
  }
}

function qualified(resource: GroupResource): string {
  return resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`
}

function detailsOf(resource: GroupResource, name: string): StatusDetails {
  return { name, ...(resource.group === '' ? {} : { group: resource.group }), kind: resource.plural }
}

export function notFound(resource: GroupResource, name: string): StatusError {
  return new StatusError(404, 'NotFound', `${qualified(resource)} "${name}" not found`, detailsOf(resource, name))
}

const NO_SUCH_RESOURCE = 'the server could not find the requested resource'

/** Nobody serves the path; over HTTP that is plain text. */
export function noSuchResource(): StatusError {
  return new StatusError(404, 'NotFound', NO_SUCH_RESOURCE)
}

/** Nothing of that name in a group version that the server itself serves: a Status, of which the details are empty. */
export function noSuchBuiltin(): StatusError {
  return new StatusError(404, 'NotFound', NO_SUCH_RESOURCE, {})
}

export function invalidResourceVersion(text: string): string {
  const value = JSON.stringify(text)
  return `resourceVersion: Invalid value: ${value}: strconv.ParseUint: parsing ${value}: invalid syntax`
}

/** A custom kind answers as if the object were missing, even when it is there. */
export function noSuchSubresource(type: GroupResource & { custom: boolean }, name: string): StatusError {
  return type.custom ? notFound(type, name) : noSuchBuiltin()
}

export function alreadyExists(resource: GroupResource, name: string, isBeingDeleted: boolean): StatusError {
  const message = `${isBeingDeleted ? 'object is being deleted: ' : ''}${qualified(resource)} "${name}" already exists`
  return new StatusError(409, 'AlreadyExists', message, detailsOf(resource, name))
}

export function conflict(resource: GroupResource, name: string, why: string): StatusError {
  const message = `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`
  return new StatusError(409, 'Conflict', message, detailsOf(resource, name))
}

export const OBJECT_MODIFIED =
  'the object has been modified; please apply your changes to the latest version and try again'

export function forbidden(resource: GroupResource, name: string, why: string, causes: StatusCause[] = []): StatusError {
  const details = { ...detailsOf(resource, name), ...(causes.length > 0 ? { causes } : {}) }
  return new StatusError(403, 'Forbidden', `${qualified(resource)} "${name}" is forbidden: ${why}`, details)
}

export function invalid(group: string, kind: string, name: string, errors: FieldError[]): StatusError {
  const texts = errors.map((error) => (error.field === '' ? error.message : `${error.field}: ${error.message}`))
  const subject = group === '' ? kind : `${kind}.${group}`
  const text = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
  return new StatusError(422, 'Invalid', `${subject} "${name}" is invalid: ${text}`, {
    ...(name === '' ? {} : { name }),
    ...(group === '' ? {} : { group }),
    kind,
    causes: errors.map(({ reason, message, field }) => ({ reason, message, field })),
  })
}

/** The answer to a JSON Patch that does not apply, a failing `test` included. */
export function patchDoesNotApply(): StatusError {
  return new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {})
}

export function badRequest(message: string): StatusError {
  return new StatusError(400, 'BadRequest', message)
}

export function unsupportedPatchType(accepted: string[]): StatusError {
  const list = accepted.join(', ')
  const message = `the body of the request was in an unknown format - accepted media types include: ${list}`
  return new StatusError(415, 'UnsupportedMediaType', message)
}

export function expired(message: string, continueToken?: string): StatusError {
  const error = new StatusError(410, 'Expired', message)
  if (continueToken !== undefined) error.status.metadata = { continue: continueToken }
  return error
}

export function internalError(message: string): StatusError {
  return new StatusError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] })
}

export function methodNotAllowed(): StatusError {
  return new StatusError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {})
}

/** How custom kinds say it. */
export function verbNotSupported(resource: GroupResource, verb: string): StatusError {
  const details = { ...(resource.group === '' ? {} : { group: resource.group }), kind: resource.plural }
  const message = `${verb} is not supported on resources of kind "${qualified(resource)}"`
  return new StatusError(405, 'MethodNotAllowed', message, details)
}

export function unauthorized(): StatusError {
  return new StatusError(401, 'Unauthorized', 'Unauthorized')
}

export function tooLarge(message: string): StatusError {
  return new StatusError(413, 'RequestEntityTooLarge', `Request entity is too large: ${message}`)
}
