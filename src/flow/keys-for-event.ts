import { lookupsForChange } from '../domain/changes/keys-for-change.ts'
import type { Lookup } from '../domain/changes/lookup.ts'
import type { ClusterEvent } from '../domain/cluster-event.ts'
import { kindOf } from '../domain/kinds.ts'
import { formatKey, type ObjectKey } from '../domain/object-key.ts'
import type { OurMarks } from '../domain/relevance.ts'

/**
 * The keys to queue for an event; none when it cannot mean work. Nothing is listed here, the caller of a review waits: an
 * object that others depend on is a key of its own, and those others are found when it is worked on (`dependentsOf`).
 * So a thousand slices of one Service that change at once are one key.
 */
export function keysForEvent(event: ClusterEvent, marks: OurMarks): ObjectKey[] {
  const kind = kindOf(event.group, event.kind)
  if (kind === undefined) return []
  const own = { kind, namespace: event.namespace, name: event.name }
  const keys = lookupsForChange(event, marks).lookups.map((lookup) => keyOfLookup(lookup, own))
  return keys.length < 2 ? keys : [...new Map(keys.map((key) => [formatKey(key), key])).values()]
}

/**
 * | lookup | key |
 * |---|---|
 * | an object | itself |
 * | users of a Service | the Service |
 * | anything else | the object that changed |
 */
function keyOfLookup(lookup: Lookup, own: ObjectKey): ObjectKey {
  switch (lookup.find) {
    case 'key':
      return lookup.key
    case 'ingressesOfService':
      return { kind: 'Service', namespace: lookup.namespace, name: lookup.service }
    case 'serviceOfName':
      return { kind: 'Service', namespace: lookup.namespace, name: lookup.name }
    default:
      return own
  }
}
