import type { ApiObject } from './api-object.ts'
import type { CoreEnvironment, ResolvedTarget } from './core-environment.ts'
import { type ListQuery, matcher } from './list-objects.ts'
import type { StoredChange } from './object-store.ts'
import { apiVersionOfType, inVersion } from './resource-type.ts'
import { expired, invalidResourceVersion, type Status, StatusError } from './status-error.ts'

export interface WatchQuery extends Pick<ListQuery, 'labelSelector' | 'fieldSelector' | 'resourceVersion'> {
  allowWatchBookmarks?: boolean
  sendInitialEvents?: boolean
  timeoutSeconds?: number
}

export type WatchEvent =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; object: ApiObject }
  | { type: 'ERROR'; object: Status }

export interface Watcher {
  onEvent(event: WatchEvent): void
  /** After an ERROR, or when the time is up. */
  onEnd?(): void
}

const BOOKMARK_EVERY_MS = 60_000
const LONGEST_WATCH_S = 3600

/**
 * From a resourceVersion: every change after it. Without one, or from 0: first an ADDED for everything there is.
 * A resourceVersion the history does not reach back to is an ERROR event with a 410, in a stream that then ends.
 * Returns what ends the watch.
 */
export function watchObjects(
  { store, clock }: CoreEnvironment,
  target: ResolvedTarget,
  query: WatchQuery,
  watcher: Watcher,
): () => void {
  const { type, version, collection } = target
  const matches = matcher(target, query)
  const cleanups: (() => void)[] = []
  let ended = false
  let sent = startRevision(query.resourceVersion)

  const show = (object: ApiObject) => inVersion(object, type, version.name)
  const tell = (change: StoredChange) => {
    if (ended || change.revision <= sent) return
    sent = change.revision
    const kind = seenAs(change, matches)
    if (kind !== undefined) watcher.onEvent({ type: kind, object: show(change.object) })
  }
  const bookmark = (annotations?: Record<string, string>) =>
    watcher.onEvent({ type: 'BOOKMARK', object: bookmarkObject(target, store.revision(), annotations) })
  const end = () => {
    if (ended) return
    ended = true
    for (const cleanup of cleanups) cleanup()
  }
  const endAndTell = () => {
    if (ended) return
    end()
    watcher.onEnd?.()
  }

  const missed = sent === 0 ? [] : store.changesSince(collection, sent)
  if (missed === undefined) {
    const why = `too old resource version: ${sent} (${store.oldestRevision(collection)})`
    watcher.onEvent({ type: 'ERROR', object: expired(why).status })
    endAndTell()
    return end
  }
  if (sent === 0 || query.sendInitialEvents === true) {
    sent = store.revision()
    for (const object of store.list(collection) ?? []) {
      if (!ended && matches(object)) watcher.onEvent({ type: 'ADDED', object: show(object) })
    }
    if (query.sendInitialEvents === true && query.allowWatchBookmarks === true)
      bookmark({ 'k8s.io/initial-events-end': 'true' })
  } else {
    for (const change of missed) tell(change)
  }
  cleanups.push(store.subscribe(collection, tell))
  cleanups.push(clock.after((query.timeoutSeconds || LONGEST_WATCH_S) * 1000, endAndTell))
  if (query.allowWatchBookmarks === true) cleanups.push(repeat(BOOKMARK_EVERY_MS, () => bookmark()))
  return end

  function repeat(ms: number, action: () => void): () => void {
    let cancel = clock.after(ms, tick)
    function tick(): void {
      if (ended) return
      action()
      cancel = clock.after(ms, tick)
    }
    return () => cancel()
  }
}

function startRevision(resourceVersion: string | undefined): number {
  const text = resourceVersion ?? '0'
  // A list calls it a bad request, a watch does not.
  if (!/^\d*$/.test(text)) throw new StatusError(500, '', invalidResourceVersion(text))
  return Number(text)
}

/** An object that comes to match a selector is ADDED for this watcher, one that no longer does is DELETED. */
function seenAs(
  { type, object, previous }: StoredChange,
  matches: (object: ApiObject) => boolean,
): 'ADDED' | 'MODIFIED' | 'DELETED' | undefined {
  const before = previous !== undefined && matches(previous)
  const after = type !== 'DELETED' && matches(object)
  if (before) return after ? 'MODIFIED' : 'DELETED'
  return after ? 'ADDED' : undefined
}

function bookmarkObject(
  { type, version }: ResolvedTarget,
  revision: number,
  annotations: Record<string, string> | undefined,
): ApiObject {
  const metadata = { resourceVersion: String(revision), ...(annotations === undefined ? {} : { annotations }) }
  return {
    apiVersion: apiVersionOfType(type, version.name),
    kind: type.kind,
    metadata: metadata as unknown as ApiObject['metadata'],
  }
}
