import type { KubeConfig } from '@kubernetes/client-node'
import { CatalogueError } from '../../domain/catalogue-error.ts'
import type { Kind, ObjectOfKind } from '../../domain/kinds.ts'
import { apiVersionOf } from '../../domain/kinds.ts'
import type { ObjectKey } from '../../domain/object-key.ts'
import { UNTRACED } from '../../flow/untraced.ts'
import type { Clock } from '../../ports/clock.ts'
import type {
  CallOptions,
  ClusterStore,
  ListOptions,
  ObjectList,
  Patch,
  PatchOptions,
} from '../../ports/cluster-store.ts'
import type { Metrics } from '../../ports/metrics.ts'
import type { ServerClock } from '../../ports/server-clock.ts'
import type { Tracer } from '../../ports/tracer.ts'
import { type ApiAnswer, apiError, isObjectMissing } from './api-error.ts'
import { CLIENT_METRICS } from './client-metrics.ts'
import { type Credentials, createCredentialSource } from './credentials.ts'
import { type ApiRequest, exchange } from './exchange.ts'
import { giveUpAfter } from './give-up-after.ts'
import { resourcePath } from './resource-path.ts'
import { createServerTime } from './server-time.ts'

export interface KubernetesClusterStoreOptions {
  /** For each request, on top of the caller's signal. */
  timeoutMs: number
  clock: Clock
  metrics?: Metrics
  tracer?: Tracer
}

/** The cluster store over HTTPS, with the credentials of a kubeconfig and one pool of kept connections. */
export function createKubernetesClusterStore(
  config: KubeConfig,
  { timeoutMs, clock, metrics, tracer = UNTRACED }: KubernetesClusterStoreOptions,
): ClusterStore & ServerClock & { close(): Promise<void> } {
  const credentials = createCredentialSource(config, clock)
  const serverTime = createServerTime(clock)

  async function send(call: ApiCall): Promise<ApiAnswer> {
    const used = await credentialsFor(call)
    const answer = await sendWith(used, call)
    if (answer.statusCode !== 401) return answer
    // The token may have been replaced since it was read.
    credentials.expire(used)
    return sendWith(await credentialsFor(call), call)
  }

  async function credentialsFor({ object, signal }: ApiCall): Promise<Credentials> {
    try {
      const current = credentials.current()
      return current instanceof Promise ? await inTime(current, { timeoutMs, signal }) : current
    } catch (error) {
      throw credentialError(error, object, signal)
    }
  }

  /** client-go counts an answer that never came as `<error>`. */
  function sendWith(used: Credentials, call: ApiCall): Promise<ApiAnswer> {
    const { method, object, signal } = call
    const { host } = used
    const sentAt = clock.now()
    const tell = (code: string) => {
      metrics?.count(CLIENT_METRICS.requests.name, { code, method, host })
      metrics?.observe(CLIENT_METRICS.duration.name, (clock.now() - sentAt) / 1_000, { verb: method, host })
    }
    return tracer.step({ name: `${method} ${object.kind}`, kind: 'client' }, async (span) => {
      try {
        const { statusCode, headers, text } = await exchange(used, requestOf(call), { timeoutMs, signal })
        serverTime.observe(headers['date'], sentAt)
        tell(String(statusCode))
        span.set({ status: statusCode })
        const retryAfter = headers['retry-after']
        return {
          statusCode,
          retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
          body: parseJson(text),
        }
      } catch (error) {
        tell('<error>')
        throw connectionError(error, object, signal)
      }
    })
  }

  async function write<K extends Kind>(kind: K, call: ApiCall): Promise<ObjectOfKind[K]> {
    return objectIn(kind, await send(call), call)
  }

  return {
    async get<K extends Kind>(
      key: ObjectKey & { kind: K },
      { signal }: CallOptions,
    ): Promise<ObjectOfKind[K] | undefined> {
      const call = { method: 'GET', path: resourcePath(key.kind, key), signal, object: key } as const
      const answer = await send(call)
      return isObjectMissing(answer, key.name) ? undefined : objectIn(key.kind, answer, call)
    },

    async list<K extends Kind>(kind: K, options: ListOptions): Promise<ObjectList<ObjectOfKind[K]>> {
      const object: ObjectKey = { kind, namespace: options.namespace ?? '', name: '*' }
      const path = `${resourcePath(kind, options.namespace === undefined ? {} : { namespace: options.namespace })}${listQuery(options)}`
      return listIn(kind, await send({ method: 'GET', path, signal: options.signal, object }), object)
    },

    create: (kind, object, { signal }) => {
      const { namespace = '', name } = object.metadata
      return write(kind, {
        method: 'POST',
        path: resourcePath(kind, { namespace }),
        body: object,
        contentType: JSON_TYPE,
        signal,
        object: { kind, namespace, name },
      })
    },

    patch: (key, patch, { signal, subresource }: PatchOptions) =>
      write(key.kind, {
        method: 'PATCH',
        path: `${resourcePath(key.kind, subresource === undefined ? key : { ...key, subresource })}${patchQuery(patch)}`,
        ...patchContent(patch),
        signal,
        object: key,
      }),

    async delete(key, { signal, preconditions }) {
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions }
      const path = resourcePath(key.kind, key)
      const answer = await send({ method: 'DELETE', path, body, contentType: JSON_TYPE, signal, object: key })
      if (answer.statusCode >= 300) throw apiError(answer, key, false)
      // A proxy's page proves nothing gone.
      if (!isRecord(answer.body)) throw unreadable(answer, key)
    },

    serverNow: serverTime.now,
    close: () => credentials.close(),
  }
}

interface ApiCall {
  method: ApiRequest['method']
  path: string
  body?: unknown
  contentType?: string
  signal: AbortSignal
  /** For messages. */
  object: ObjectKey
}

function requestOf({ method, path, body, contentType }: ApiCall): ApiRequest {
  if (body === undefined || contentType === undefined) return { method, path, headers: ACCEPT_JSON }
  return { method, path, headers: { ...ACCEPT_JSON, 'content-type': contentType }, body: JSON.stringify(body) }
}

const JSON_TYPE = 'application/json'
const ACCEPT_JSON = { accept: JSON_TYPE }
const JSON_PATCH = 'application/json-patch+json'

function patchContent(patch: Patch): { body: unknown; contentType: string } {
  switch (patch.type) {
    case 'json':
      return { body: patch.operations, contentType: JSON_PATCH }
    case 'merge':
      return { body: patch.body, contentType: 'application/merge-patch+json' }
    case 'apply':
      // JSON is YAML.
      return { body: patch.body, contentType: 'application/apply-patch+yaml' }
  }
}

/** A field that somebody else applied is ours from now on: nobody else computes what we apply. */
function patchQuery(patch: Patch): string {
  return patch.type === 'apply' ? `?${new URLSearchParams({ fieldManager: patch.fieldManager, force: 'true' })}` : ''
}

function listQuery({ labelSelector, limit, continue: token }: ListOptions): string {
  const query = new URLSearchParams()
  if (labelSelector !== undefined) query.set('labelSelector', labelSelector)
  if (limit !== undefined) query.set('limit', String(limit))
  if (token !== undefined) query.set('continue', token)
  return query.size === 0 ? '' : `?${query}`
}

/** An answer of 200 that is no such object (a proxy's page, half a document) must not be taken for one. */
function objectIn<K extends Kind>(kind: K, answer: ApiAnswer, { object, contentType }: ApiCall): ObjectOfKind[K] {
  if (answer.statusCode >= 300) throw apiError(answer, object, contentType === JSON_PATCH)
  const { body } = answer
  if (isRecord(body) && body['kind'] === kind && isRecord(body['metadata'])) return body as unknown as ObjectOfKind[K]
  throw unreadable(answer, object)
}

/** Items of a typed list carry neither apiVersion nor kind. */
function listIn<K extends Kind>(kind: K, answer: ApiAnswer, object: ObjectKey): ObjectList<ObjectOfKind[K]> {
  if (answer.statusCode >= 300) throw apiError(answer, object, false)
  const { items = undefined, metadata = undefined } = isRecord(answer.body) ? answer.body : {}
  // An empty list of Go may be null.
  if (!(Array.isArray(items) || items === null) || !isRecord(metadata)) throw unreadable(answer, object)
  const { resourceVersion, continue: token } = metadata
  return {
    items: typed(items ?? [], kind),
    resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '',
    ...(typeof token === 'string' && token !== '' ? { continue: token } : {}),
  }
}

/** They are ours alone: no copy is made of each. */
function typed<K extends Kind>(items: Partial<ObjectOfKind[K]>[], kind: K): ObjectOfKind[K][] {
  for (const item of items) {
    item.apiVersion ??= apiVersionOf(kind)
    item.kind ??= kind
  }
  return items as ObjectOfKind[K][]
}

function unreadable({ statusCode }: ApiAnswer, object: ObjectKey): CatalogueError {
  const message = `the API server answered ${statusCode} with something else than what was asked for`
  return new CatalogueError('ApiFailed', message, { object })
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
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
  if (isTimeout(error, signal)) return timedOut(error, object)
  const message = `the API server could not be reached (${reasonOf(error)})`
  return new CatalogueError('ApiUnreachable', message, { object, cause: error })
}

/** A token file that cannot be read, an exec plugin that fails or never ends. What a plugin prints stays out of it. */
function credentialError(error: unknown, object: ObjectKey, signal: AbortSignal): CatalogueError {
  if (isTimeout(error, signal)) return timedOut(error, object)
  const message = `the credentials that the kubeconfig names could not be obtained (${reasonOf(error)})`
  return new CatalogueError('ApiUnauthorized', message, { object, cause: error })
}

function isTimeout(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted || (error instanceof Error && error.name === 'TimeoutError')
}

function timedOut(cause: unknown, object: ObjectKey): CatalogueError {
  return new CatalogueError('ApiTimeout', 'the API server did not answer in time', { object, cause })
}

function reasonOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'no answer'
}

function inTime<T>(promise: Promise<T>, { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal }): Promise<T> {
  return new Promise((resolve, reject) => {
    const withdraw = giveUpAfter(timeoutMs, signal, reject)
    promise.then(resolve, reject).finally(withdraw)
  })
}
