import { CatalogueError, type ErrorCode } from '../domain/catalogue-error.ts'
import { type Kind, type ObjectOfKind, RESOURCES } from '../domain/kinds.ts'
import type { ObjectKey } from '../domain/object-key.ts'
import type { CallOptions, ClusterStore, ListOptions } from '../ports/cluster-store.ts'
import type { UserInfo } from './core/admission-chain.ts'
import type { ControlPlaneCore } from './core/control-plane-core.ts'
import type { RequestTarget } from './core/core-environment.ts'
import { StatusError } from './core/status-error.ts'

/** The cluster store directly over the core, as one user: no HTTP, no serialisation, the same answers. */
export function createLocalClusterStore(core: ControlPlaneCore, username: string): ClusterStore {
  const user: UserInfo = { username, groups: ['system:authenticated'] }

  return {
    async get(key, options) {
      try {
        return await call(options, key, () => typed<typeof key.kind>(core.get(targetOf(key))))
      } catch (error) {
        if (error instanceof CatalogueError && error.code === 'NotFound') return undefined
        throw error
      }
    },
    async list(kind, options) {
      const list = await call(options, undefined, () =>
        core.list(collectionTarget(kind, options.namespace), query(options)),
      )
      return {
        items: list.items.map((item) => typed<typeof kind>(item)),
        resourceVersion: list.metadata.resourceVersion,
        ...(list.metadata.continue === undefined || list.metadata.continue === ''
          ? {}
          : { continue: list.metadata.continue }),
      }
    },
    async create(kind, object, options) {
      const { metadata } = object
      const key = { kind, namespace: metadata.namespace ?? '', name: metadata.name ?? '' }
      const target = collectionTarget(kind, metadata.namespace)
      const written = await call(options, key, () => core.create(target, object, { user }))
      return typed<typeof kind>(written.object)
    },
    async patch(key, patch, options) {
      const target: RequestTarget = {
        ...targetOf(key),
        ...(options.subresource === undefined ? {} : { subresource: options.subresource }),
      }
      const body = patch.type === 'json' ? patch.operations : patch.body
      const writeOptions = patch.type === 'apply' ? { user, fieldManager: patch.fieldManager } : { user }
      const write = () => core.patch(target, { type: patch.type, body }, writeOptions)
      const written = await call(options, key, write, patch.type === 'json')
      return typed<typeof key.kind>(written.object)
    },
    async delete(key, options) {
      const { preconditions } = options
      await call(options, key, () => core.delete(targetOf(key), { user, preconditions }))
    },
  }
}

/** The kind was asked for by name, and the core answers with objects of that kind only. */
function typed<K extends Kind>(object: unknown): ObjectOfKind[K] {
  return object as ObjectOfKind[K]
}

function collectionTarget(kind: Kind, namespace: string | undefined): RequestTarget {
  const { group, version, plural } = RESOURCES[kind]
  return { group, version, plural, ...(namespace === undefined || namespace === '' ? {} : { namespace }) }
}

function targetOf(key: ObjectKey): RequestTarget {
  return { ...collectionTarget(key.kind, key.namespace), name: key.name }
}

function query({ labelSelector, limit, continue: token }: ListOptions) {
  return {
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(limit === undefined ? {} : { limit }),
    ...(token === undefined ? {} : { continue: token }),
  }
}

async function call<T>(
  { signal }: CallOptions,
  object: ObjectKey | undefined,
  action: () => T | Promise<T>,
  isJsonPatch = false,
): Promise<T> {
  if (signal.aborted) throw aborted(object)
  let stop: (() => void) | undefined
  const gaveUp = new Promise<never>((_, reject) => {
    stop = () => reject(aborted(object))
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([Promise.resolve().then(action), gaveUp])
  } catch (error) {
    throw error instanceof StatusError ? catalogued(error, object, isJsonPatch) : error
  } finally {
    if (stop !== undefined) signal.removeEventListener('abort', stop)
  }
}

function aborted(object: ObjectKey | undefined): CatalogueError {
  return new CatalogueError('ApiTimeout', 'the call was given up', object === undefined ? {} : { object })
}

/**
 * The API server's answer in our own terms.
 *
 * | answer | code |
 * |---|---|
 * | a webhook refused | ApiDenied |
 * | 409 AlreadyExists | AlreadyExists |
 * | 409, a JSON Patch that does not apply, another uid | Conflict |
 * | 410 | ContinueExpired |
 * | 404 without a name | KindNotServed |
 * | other 4xx | NotFound, ApiUnauthorized, ApiForbidden, ApiThrottled, ApiInvalid |
 * | 5xx | ApiFailed, ApiTimeout |
 */
function catalogued(error: StatusError, object: ObjectKey | undefined, isJsonPatch: boolean): CatalogueError {
  const { details, metadata } = error.status
  const field = details?.causes?.[0]?.field
  const rest = metadata?.continue
  return new CatalogueError(codeOf(error, isJsonPatch), error.message, {
    cause: error,
    ...(object === undefined ? {} : { object }),
    ...(field === undefined ? {} : { field }),
    ...(rest === undefined ? {} : { rest }),
  })
}

function codeOf({ deniedBy, status }: StatusError, isJsonPatch: boolean): ErrorCode {
  if (deniedBy !== undefined) return 'ApiDenied'
  if (status.code === 401) return 'ApiUnauthorized'
  if (status.code === 403) return 'ApiForbidden'
  if (status.code === 404) return status.details?.name === undefined ? 'KindNotServed' : 'NotFound'
  if (status.code === 409) return status.reason === 'AlreadyExists' ? 'AlreadyExists' : 'Conflict'
  if (status.code === 410) return 'ContinueExpired'
  if (status.code === 422 && isPrecondition(status.details?.causes, isJsonPatch)) return 'Conflict'
  if (status.code === 429) return 'ApiThrottled'
  if (status.code === 504) return 'ApiTimeout'
  return status.code >= 500 ? 'ApiFailed' : 'ApiInvalid'
}

/** A JSON Patch that does not apply has no causes at all; a merge patch with another uid names that field. */
function isPrecondition(causes: { field?: string }[] | undefined, isJsonPatch: boolean): boolean {
  return causes === undefined ? isJsonPatch : causes.some((cause) => cause.field === 'metadata.uid')
}
