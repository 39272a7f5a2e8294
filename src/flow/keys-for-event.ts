import type { ClusterEvent } from '../domain/cluster-event.ts'
import { kindOf } from '../domain/kinds.ts'
import type { ObjectKey } from '../domain/object-key.ts'

/**
 * Which keys an event concerns.
 *
 * | object | keys |
 * |---|---|
 * | MultiClusterIngress, MultiClusterService | itself |
 * | any other | none |
 *
 * Secondary objects (IngressClass, Service, EndpointSlice, …) are further rows.
 */
export function keysForEvent(event: ClusterEvent): ObjectKey[] {
  const kind = kindOf(event.group, event.kind)
  switch (kind) {
    case 'MultiClusterIngress':
    case 'MultiClusterService':
      return event.name === '' ? [] : [{ kind, namespace: event.namespace, name: event.name }]
    default:
      return []
  }
}
