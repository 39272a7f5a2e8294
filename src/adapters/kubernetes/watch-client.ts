import type { KubeConfig } from '@kubernetes/client-node'
import type { Dispatcher } from 'undici'
import type { Clock } from '../../ports/clock.ts'
import { createCredentialSource } from './credentials.ts'
import { WatchError, watchErrorOfStatus } from './watch-error.ts'
import { watchLines } from './watch-lines.ts'
import { type WatchedObject, watchedObject } from './watched-object.ts'
import { isMetadataOnly, type WatchedResource } from './watched-resource.ts'

export interface WatchPage {
  items: WatchedObject[]
  resourceVersion: string
  /** Present while there are more pages. */
  continue?: string
}

export type WatchEvent =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; resourceVersion: string; seen: WatchedObject }
  | { type: 'BOOKMARK'; resourceVersion: string }

/** Lists and watches any kind. Throws `WatchError` and nothing else. */
export interface WatchClient {
  /** The URL of the API server. */
  server: string
  list(
    resource: WatchedResource,
    options: { limit: number; continue?: string; signal: AbortSignal },
  ): Promise<WatchPage>
  /** Ends when the server ends the stream. */
  watch(
    resource: WatchedResource,
    options: { resourceVersion: string; timeoutSeconds: number; signal: AbortSignal },
  ): AsyncGenerator<WatchEvent>
  close(): Promise<void>
}

/** Over the same credentials and kept connections as the cluster store. `timeoutMs` is for the head of an answer. */
export function createWatchClient(
  config: KubeConfig,
  { timeoutMs, clock }: { timeoutMs: number; clock: Clock },
): WatchClient {
  const credentials = createCredentialSource(config, clock)

  async function open(path: string, accept: string, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    for (let attempt = 1; ; attempt++) {
      const current = await credentials.current()
      const { origin, basePath, headers, dispatcher } = current
      const response = await dispatcher.request({
        origin,
        path: `${basePath}${path}`,
        method: 'GET',
        headers: { ...headers, accept },
        headersTimeout: timeoutMs,
        // A quiet watch is nothing wrong; who asked sets a time to its end.
        bodyTimeout: 0,
        signal,
      })
      if (response.statusCode === 200) return response
      const text = await response.body.text()
      // The token may have been replaced since it was read.
      if (response.statusCode === 401 && attempt === 1) credentials.expire(current)
      else throw watchErrorOfStatus(parseJson(text), response.statusCode, headerOf(response, 'retry-after'))
    }
  }

  return {
    server: (config.getCurrentCluster()?.server ?? '').replace(/\/$/, ''),

    async list(resource, { limit, continue: token, signal }) {
      const query = queryOf(resource, { limit: String(limit), ...(token === undefined ? {} : { continue: token }) })
      const inTime = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
      try {
        const response = await open(`${collectionPath(resource)}?${query}`, accepted(resource, 'List'), inTime)
        return pageOf(await response.body.json(), resource)
      } catch (error) {
        throw asWatchError(error)
      }
    },

    async *watch(resource, { resourceVersion, timeoutSeconds, signal }) {
      const query = queryOf(resource, {
        watch: 'true',
        allowWatchBookmarks: 'true',
        resourceVersion,
        timeoutSeconds: String(timeoutSeconds),
      })
      try {
        const response = await open(`${collectionPath(resource)}?${query}`, accepted(resource, ''), signal)
        for await (const line of watchLines(response.body)) yield eventOf(line, resource)
      } catch (error) {
        throw asWatchError(error)
      }
    },

    close: () => credentials.close(),
  }
}

/** No second choice behind it: a server that cannot give metadata alone has to refuse, not to send the whole object. */
function accepted(resource: WatchedResource, suffix: 'List' | ''): string {
  return isMetadataOnly(resource)
    ? `application/json;as=PartialObjectMetadata${suffix};g=meta.k8s.io;v=v1`
    : 'application/json'
}

function collectionPath({ group, version, plural, namespace }: WatchedResource): string {
  const root = group === '' ? ['api', version] : ['apis', group, version]
  const scope = namespace === undefined ? [] : ['namespaces', namespace]
  return `/${[...root, ...scope, plural].map(encodeURIComponent).join('/')}`
}

function queryOf({ labelSelector, fieldSelector }: WatchedResource, own: Record<string, string>): URLSearchParams {
  const query = new URLSearchParams(own)
  if (labelSelector !== undefined) query.set('labelSelector', labelSelector)
  if (fieldSelector !== undefined) query.set('fieldSelector', fieldSelector)
  return query
}

function pageOf(body: unknown, resource: WatchedResource): WatchPage {
  const { kind, items: sent, metadata } = (body ?? {}) as Partial<Record<'kind' | 'items' | 'metadata', unknown>>
  const { resourceVersion, continue: token } = (metadata ?? {}) as Record<string, unknown>
  // An empty list of metadata comes with null.
  const items = sent === null ? [] : sent
  // Whoever takes something else for an empty list tells that everything is gone.
  if (!String(kind).endsWith('List') || !Array.isArray(items) || typeof resourceVersion !== 'string') {
    throw new WatchError('garbled', 'the answer is not a list')
  }
  return {
    items: items.map((item: unknown) => watchedObject(item, resource)),
    resourceVersion,
    ...(typeof token === 'string' && token !== '' ? { continue: token } : {}),
  }
}

function eventOf(line: unknown, resource: WatchedResource): WatchEvent {
  const { type, object } = (line ?? {}) as { type?: unknown; object?: { metadata?: { resourceVersion?: unknown } } }
  if (type === 'ERROR') throw watchErrorOfStatus(object, 500)
  if (type === 'BOOKMARK') {
    const resourceVersion = object?.metadata?.resourceVersion
    if (typeof resourceVersion === 'string') return { type, resourceVersion }
  }
  if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') {
    throw new WatchError('garbled', 'a line is not a watch event')
  }
  const seen = watchedObject(object, resource)
  return { type, resourceVersion: seen.identity.resourceVersion, seen }
}

function asWatchError(error: unknown): WatchError {
  if (error instanceof WatchError) return error
  if (error instanceof SyntaxError) return new WatchError('garbled', 'the answer is not JSON')
  const code = error instanceof Error && 'code' in error ? error.code : error instanceof Error ? error.name : error
  return new WatchError('unreachable', `no answer from the API server (${code})`, { cause: error })
}

function headerOf({ headers }: Dispatcher.ResponseData, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

/** A proxy in between may answer in HTML; the status code then speaks alone. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
