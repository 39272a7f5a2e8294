import { createServerTime, type ServerTime } from '../../src/adapters/kubernetes/server-time.ts'
import { CatalogueError } from '../../src/domain/catalogue-error.ts'
import type { ObjectKey } from '../../src/domain/object-key.ts'
import type { ClusterStore, Patch } from '../../src/ports/cluster-store.ts'
import type { CallToDecide, Decisions } from './decisions.ts'
import type { Exchanges } from './exchanges.ts'
import type { ApiFault } from './history.ts'
import type { Journal } from './journal.ts'
import type { Scheduler } from './scheduler.ts'

export interface NetworkParts {
  scheduler: Scheduler
  decisions: Pick<Decisions, 'api'>
  journal: Journal
  countCall: (label: string) => string
  exchanges: Exchanges
  /** The API server, as the function's user. */
  server: ClusterStore
  /** A write of this sender is done in the step that is run now. */
  writing: (sender: string | undefined) => void
}

/** Of one sender: what it sees of the API server. */
export interface Connection {
  store: ClusterStore
  serverTime: ServerTime
}

export interface Sender {
  id: string
  skewMs: number
  /** Before a request leaves. */
  onSend(key: ObjectKey, what: CallToDecide['what']): void
  onFault(): void
}

const TIMEOUT_MS = 10_000
const FINALIZERS = '/metadata/finalizers'
const ALWAYS = { signal: new AbortController().signal }

/** Each request is two steps: it arrives and is done, and its answer arrives. Between them anything may happen. */
export function connect(sender: Sender, parts: NetworkParts): Connection {
  const { scheduler, decisions, journal, countCall, exchanges, server, writing } = parts
  const { id, skewMs } = sender
  const clock = scheduler.clockOf(id, skewMs)
  const serverTime = createServerTime(clock)

  function request<T>(
    label: string,
    what: CallToDecide['what'],
    key: ObjectKey,
    signal: AbortSignal,
    action: (fault: ApiFault | undefined) => Promise<T>,
  ): Promise<T> {
    if (signal.aborted) return Promise.reject(new CatalogueError('ApiTimeout', 'given up', { object: key }))
    const call = countCall(`${id} ${label}`)
    sender.onSend(key, what)
    const fault = decisions.api({ id: call, what })
    if (fault !== undefined) {
      journal.fault(call, fault)
      sender.onFault()
    }
    const sentAt = clock.now()
    let date = ''
    const refusal = refusalOf(fault, key)
    const noAnswer = () => new CatalogueError('ApiTimeout', 'no answer', { object: key })
    return exchanges.send<T>({
      label: call,
      sender: id,
      signal,
      delayMs: fault?.api === 'lostBefore' ? undefined : fault !== undefined && 'ms' in fault ? fault.ms : 0,
      // The API server does what it was asked, whoever listens.
      isUnstoppable: true,
      timeout: fault === undefined ? undefined : { ms: TIMEOUT_MS, error: noAnswer },
      onAbort: noAnswer,
      onAnswer: () => serverTime.observe(date, sentAt),
      arrive(reply) {
        date = new Date(scheduler.now()).toUTCString()
        if (refusal !== undefined) return reply.reject(refusal)
        writing(id)
        action(fault).then((result) => {
          if (fault?.api === 'failedAfter')
            reply.reject(new CatalogueError('ApiFailed', 'leader changed', { object: key }))
          else if (fault?.api !== 'lostAfter') reply.resolve(result)
        }, reply.reject)
      },
    })
  }

  const store: ClusterStore = {
    get: (key, { signal }) =>
      request(`get ${nameOf(key)}`, whatOf(key.kind, 'read'), key, signal, () => server.get(key, ALWAYS)),
    list: (kind, options) =>
      request(
        `list ${kind}`,
        options.continue === undefined ? whatOf(kind, 'read') : 'page',
        { kind, namespace: options.namespace ?? '', name: '' },
        options.signal,
        () => server.list(kind, { ...options, ...ALWAYS }),
      ),
    create(kind, object, { signal }) {
      const key = { kind, namespace: object.metadata.namespace ?? '', name: object.metadata.name }
      return request(`create ${nameOf(key)}`, whatOf(kind, 'write'), key, signal, () =>
        server.create(kind, object, ALWAYS),
      )
    },
    patch(key, patch, options) {
      const what = isClaim(patch) ? 'claim' : whatOf(key.kind, 'write')
      const label = `patch ${nameOf(key)}${options.subresource === undefined ? '' : '/status'}`
      return request(label, what, key, options.signal, (fault) =>
        server.patch(key, fault?.api === 'finalizerDropped' ? withoutClaim(patch) : patch, { ...options, ...ALWAYS }),
      )
    },
    delete: (key, options) =>
      request(`delete ${nameOf(key)}`, whatOf(key.kind, 'write'), key, options.signal, () =>
        server.delete(key, { ...options, ...ALWAYS }),
      ),
  }
  return { store, serverTime }
}

function refusalOf(fault: ApiFault | undefined, object: ObjectKey): CatalogueError | undefined {
  switch (fault?.api) {
    case 'conflict':
      return new CatalogueError('Conflict', 'the object has been modified', { object })
    case 'throttled':
      return new CatalogueError('ApiThrottled', 'too many requests', { object, afterMs: 1_000 })
    case 'failed':
      return new CatalogueError('ApiFailed', 'etcdserver: request timed out', { object })
    case 'expired':
      return new CatalogueError('ContinueExpired', 'the provided continue parameter is too old', { object })
    default:
      return undefined
  }
}

/** A Lease is named by a digest, which nobody can read. */
function nameOf({ kind, name }: ObjectKey): string {
  return kind === 'Lease' || kind === 'Event' ? kind : `${kind} ${name}`
}

function whatOf(kind: string, what: 'read' | 'write'): CallToDecide['what'] {
  return kind === 'Lease' && what === 'write' ? 'lease' : what
}

export function isClaim(patch: Patch): boolean {
  return patch.type === 'json' && patch.operations.some(({ op, path }) => op === 'add' && path.startsWith(FINALIZERS))
}

function withoutClaim(patch: Patch): Patch {
  if (patch.type !== 'json') return patch
  return {
    ...patch,
    operations: patch.operations.filter(({ op, path }) => op === 'test' || !path.startsWith(FINALIZERS)),
  }
}
