import type { KubeConfig } from '@kubernetes/client-node'
import { request } from 'undici'
import { CatalogueError } from '../../domain/catalogue-error.ts'
import type { Kind, ObjectOfKind } from '../../domain/kinds.ts'
import { apiVersionOf } from '../../domain/kinds.ts'
import type { ObjectKey } from '../../domain/object-key.ts'
import type { Clock } from '../../ports/clock.ts'
import type {
  CallOptions,
  ClusterStore,
  ListOptions,
  ObjectList,
  Patch,
  PatchOptions,
} from '../../ports/cluster-store.ts'
import { type ApiAnswer, apiError, isObjectMissing } from './api-error.ts'
import { createCredentialSource } from './credentials.ts'
import { resourcePath } from './resource-path.ts'

export interface KubernetesClusterStoreOptions {
  /** For each request, on top of the caller's signal. */
  timeoutMs: number
  clock: Clock
}

/** The cluster store over HTTPS, with the credentials of a kubeconfig and one pool of kept connections. */
export function createKubernetesClusterStore(
  config: KubeConfig,
  { timeoutMs, clock }: KubernetesClusterStoreOptions,
): ClusterStore & { close(): Promise<void> } {
  const credentials = createCredentialSource(config, clock)

  async function send(call: ApiCall): Promise<ApiAnswer> {
    const answer = await sendOnce(call)
    if (answer.statusCode !== 401) return answer
    // The token may have been replaced since it was read.
    credentials.expire()
    return sendOnce(call)
  }

  async function sendOnce({ method, path, body, contentType, signal, object }: ApiCall): Promise<ApiAnswer> {
    try {
      const { server, headers, dispatcher } = await credentials.current()
      const response = await request(`${server}${path}`, {
        method,
        headers: { ...headers, accept: 'application/json', ...(contentType ? { 'content-type': contentType } : {}) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(dispatcher === undefined ? {} : { dispatcher }),
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      })
      const retryAfter = response.headers['retry-after']
      return {
        statusCode: response.statusCode,
        retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
        body: parseJson(await response.body.text()),
      }
    } catch (error) {
      throw connectionError(error, object, signal)
    }
  }

  async function write<K extends Kind>(call: ApiCall): Promise<ObjectOfKind[K]> {
    const answer = await send(call)
    if (answer.statusCode >= 300) throw apiError(answer, call.object, call.contentType === JSON_PATCH)
    return answer.body as ObjectOfKind[K]
  }

  return {
    async get<K extends Kind>(
      key: ObjectKey & { kind: K },
      { signal }: CallOptions,
    ): Promise<ObjectOfKind[K] | undefined> {
      const answer = await send({ method: 'GET', path: resourcePath(key.kind, key), signal, object: key })
      if (isObjectMissing(answer, key.name)) return undefined
      if (answer.statusCode >= 300) throw apiError(answer, key, false)
      return answer.body as ObjectOfKind[K]
    },

    async list<K extends Kind>(kind: K, options: ListOptions): Promise<ObjectList<ObjectOfKind[K]>> {
      const object: ObjectKey = { kind, namespace: options.namespace ?? '', name: '*' }
      const path = `${resourcePath(kind, options.namespace === undefined ? {} : { namespace: options.namespace })}${listQuery(options)}`
      const answer = await send({ method: 'GET', path, signal: options.signal, object })
      if (answer.statusCode >= 300) throw apiError(answer, object, false)
      return listOf(kind, answer.body as ListBody<ObjectOfKind[K]>)
    },

    create: (kind, object, { signal }) => {
      const { namespace = '', name } = object.metadata
      return write({
        method: 'POST',
        path: resourcePath(kind, { namespace }),
        body: object,
        contentType: 'application/json',
        signal,
        object: { kind, namespace, name },
      })
    },

    patch: (key, patch, { signal, subresource }: PatchOptions) =>
      write({
        method: 'PATCH',
        path: resourcePath(key.kind, subresource === undefined ? key : { ...key, subresource }),
        ...patchContent(patch),
        signal,
        object: key,
      }),

    close: () => credentials.close(),
  }
}

interface ApiCall {
  method: 'GET' | 'POST' | 'PATCH'
  path: string
  body?: unknown
  contentType?: string
  signal: AbortSignal
  /** For messages. */
  object: ObjectKey
}

interface ListBody<T> {
  items: T[]
  metadata: { continue?: string; resourceVersion?: string }
}

const JSON_PATCH = 'application/json-patch+json'

function patchContent(patch: Patch): { body: unknown; contentType: string } {
  return patch.type === 'json'
    ? { body: patch.operations, contentType: JSON_PATCH }
    : { body: patch.body, contentType: 'application/merge-patch+json' }
}

function listQuery({ labelSelector, limit, continue: token }: ListOptions): string {
  const query = new URLSearchParams()
  if (labelSelector !== undefined) query.set('labelSelector', labelSelector)
  if (limit !== undefined) query.set('limit', String(limit))
  if (token !== undefined) query.set('continue', token)
  return query.size === 0 ? '' : `?${query}`
}

/** Items of a typed list carry neither apiVersion nor kind. */
function listOf<T>(kind: Kind, { items, metadata }: ListBody<T>): ObjectList<T> {
  return {
    items: items.map((item) => ({ apiVersion: apiVersionOf(kind), kind, ...item })),
    resourceVersion: metadata.resourceVersion ?? '',
    ...(metadata.continue ? { continue: metadata.continue } : {}),
  }
}

/** A proxy in between may answer in HTML; the status code then speaks alone. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function connectionError(error: unknown, object: ObjectKey, signal: AbortSignal): CatalogueError {
  const timedOut = signal.aborted || (error instanceof Error && error.name === 'TimeoutError')
  const reason = error instanceof Error && 'code' in error ? String(error.code) : 'no answer'
  return timedOut
    ? new CatalogueError('ApiTimeout', 'the API server did not answer in time', { object, cause: error })
    : new CatalogueError('ApiUnreachable', `the API server could not be reached (${reason})`, { object, cause: error })
}
