import type { BackendFindingReason } from '../domain/backends/backend-finding.ts'
import { isCatalogueError } from '../domain/catalogue-error.ts'
import type { Event } from '../domain/event.ts'
import type { KubernetesObject } from '../domain/kubernetes-object.ts'
import { rfc3339 } from '../domain/rfc3339.ts'
import type { Clock } from '../ports/clock.ts'
import type { ClusterWriter } from '../ports/cluster-store.ts'
import type { Digest } from '../ports/digest.ts'
import type { Logger } from '../ports/logger.ts'
import type { BalancerWarning } from '../provider/cloud.ts'

/** What an object's owner reads in `kubectl describe`. Messages name the object at fault and carry no clock. */
export interface EventNote {
  type: 'Normal' | 'Warning'
  reason: EventReason
  message: string
  /** Beside the text, what makes a success news again; the object's generation unless given. */
  version?: string
}

export type EventReason =
  | BackendFindingReason
  | 'EnsuredLoadBalancer'
  | 'UpdatedLoadBalancer'
  | 'DeletedLoadBalancer'
  | 'SyncLoadBalancerFailed'
  | 'DeleteLoadBalancerFailed'
  | 'OwnershipUnresolved'
  | 'InvalidObject'
  // Upstream's words about Services, and what providers warn of.
  | 'EnsuringLoadBalancer'
  | 'DeletingLoadBalancer'
  | 'UnAvailableLoadBalancer'
  | 'UpdateLoadBalancerFailed'
  | BalancerWarning['reason']
  // Upstream's words about nodes.
  | 'Synced'
  | 'DeletingNode'
  | 'DeletingNodeFailed'
  | 'FailedToCreateRoute'

export interface EventRecorder {
  /** Never fails the reconcile: an event that cannot be written is logged. */
  record(object: KubernetesObject, note: EventNote, signal: AbortSignal): Promise<void>
}

interface EventRecorderDependencies {
  writer: ClusterWriter
  clock: Clock
  digest: Digest
  logger: Logger
  /** Who reports; shown in the FROM column. */
  component: string
}

/**
 * The name is made from the object's version and the note, so that the same news, told again by any instance, is the
 * same event and is written once.
 */
export function createEventRecorder({
  writer,
  clock,
  digest,
  logger,
  component,
}: EventRecorderDependencies): EventRecorder {
  const told = new Set<string>()
  return {
    async record(object, note, signal) {
      const event = eventFor(object, note, { component, digest, now: rfc3339(clock.now()) })
      const { name } = event.metadata
      if (told.has(name)) return
      try {
        await writer.create('Event', event, { signal })
      } catch (error) {
        if (!isCatalogueError(error, 'AlreadyExists')) {
          logger.warn({ error: String(error), reason: note.reason }, 'event not written')
          return
        }
      }
      if (told.size >= REMEMBERED) told.clear()
      told.add(name)
    },
  }
}

// Spares a request for news that this instance has told already; forgetting costs a request, no more.
const REMEMBERED = 10_000

// An event's name is a DNS subdomain of at most 253 characters: the object's name, a dot, 16 hex digits.
const LONGEST_PREFIX = 253 - 17

function eventFor(
  { apiVersion, kind, metadata }: KubernetesObject,
  { type, reason, message, version: given }: EventNote,
  { component, digest, now }: { component: string; digest: Digest; now: string },
): Event {
  const { name, namespace, uid, resourceVersion, generation } = metadata
  // A success is news for each version of the object; a warning that still holds is not.
  const version = type === 'Normal' ? (given ?? generation) : undefined
  const identity = digest(JSON.stringify([uid, version, reason, message])).slice(0, 16)
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${name.slice(0, LONGEST_PREFIX)}.${identity}`, namespace: namespace ?? 'default' },
    type,
    reason,
    message: message.slice(0, 1024),
    involvedObject: {
      apiVersion,
      kind,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
    source: { component },
    reportingComponent: component,
    reportingInstance: component,
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
  }
}
