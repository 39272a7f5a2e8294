import { RESOURCES } from '../../domain/kinds.ts'
import type { ObjectKey } from '../../domain/object-key.ts'
import { badRequest } from './bad-request.ts'

const LONGEST_NAME = 253

/** Namespace and name could be those of a stored object of this kind. Throws `BadRequest`; `path` names the fields. */
export function requireAddress({ kind, namespace, name }: ObjectKey, path: string): void {
  requireObjectName(`${path}.name`, name)
  if (!RESOURCES[kind].namespaced) {
    if (namespace !== '') throw badRequest(`${path}.namespace`, `must be empty: ${kind} has no namespace`)
    return
  }
  if (namespace === '') throw badRequest(`${path}.namespace`, `required; ${kind} lives in one`)
  requireObjectName(`${path}.namespace`, namespace)
}

/**
 * Names travel in keys, logs and the API server's paths. Any name an object can have passes (a path segment of at most
 * 253 characters); what could not be a name, or would be read as two, is refused.
 */
function requireObjectName(field: string, name: string): void {
  if (name.length > LONGEST_NAME) throw badRequest(field, `must have at most ${LONGEST_NAME} characters`)
  if (name === '' || name === '.' || name === '..' || /[/%\s\p{Cc}]/u.test(name)) {
    throw badRequest(field, 'must be the name of an object', { value: name })
  }
}
