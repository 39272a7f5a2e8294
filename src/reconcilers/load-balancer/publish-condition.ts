import type { JsonPatchOperation } from '../../domain/json-patch.ts'
import type { ObjectOfKind } from '../../domain/kinds.ts'
import type { Condition, MultiClusterServiceStatus } from '../../domain/multi-cluster-service.ts'
import { rfc3339 } from '../../domain/rfc3339.ts'
import type { BalancedKind } from './balanced-resource.ts'
import type { BalancerPass } from './balancer-pass.ts'
import type { BalancedObject } from './balancer-snapshot.ts'

/** What became of the balancer, for kinds whose status has conditions. Stable: no clock and no counts in the message. */
export interface WantedCondition {
  status: 'True' | 'False'
  reason: string
  message: string
}

export const SERVED: WantedCondition = {
  status: 'True',
  reason: 'LoadBalancerEnsured',
  message: 'the balancer is in place',
}

/** Ours among those of Karmada's own controllers (ServiceApplied, EndpointSliceDispatched). */
const TYPE = 'LoadBalancerReady'

/** The ingress of Karmada has no conditions in its status (peers.md §2). */
function hasConditions({ kind }: Pick<BalancedObject, 'kind'>): boolean {
  return kind === 'MultiClusterService'
}

export function isConditionPublished(object: BalancedObject, wanted: WantedCondition): boolean {
  if (!hasConditions(object)) return true
  const stored = storedCondition(object)
  return stored?.status === wanted.status && stored.reason === wanted.reason && stored.message === wanted.message
}

/** Applies our condition, and only ours: the list is keyed, and Karmada writes it too. Undefined takes it away. */
export async function publishCondition<K extends BalancedKind>(
  object: ObjectOfKind[K],
  wanted: WantedCondition | undefined,
  pass: BalancerPass<K>,
): Promise<ObjectOfKind[K]> {
  const stored = storedCondition(object)
  const isDone = wanted === undefined ? stored === undefined : isConditionPublished(object, wanted)
  if (!hasConditions(object) || isDone) return object
  const { store, key, signal, clock, finalizer } = pass
  const options = { signal, subresource: 'status' } as const
  if (wanted === undefined) return store.patch(key, { type: 'json', operations: withoutCondition(object) }, options)
  const { apiVersion, kind, metadata } = object
  const { name, namespace = '', resourceVersion = '' } = metadata
  const status = { conditions: [conditionOf(wanted, stored, object, clock.now())] }
  const body = { apiVersion, kind, metadata: { name, namespace, resourceVersion }, status }
  return store.patch(key, { type: 'apply', body, fieldManager: finalizer }, options)
}

/** Not applied as an empty list: where ours is all there is, the API server makes `status: null` of it, and refuses that. */
function withoutCondition(object: BalancedObject): JsonPatchOperation[] {
  const { conditions = [] } = (object.status ?? {}) as MultiClusterServiceStatus
  const index = conditions.findIndex(({ type }) => type === TYPE)
  const path = conditions.length === 1 ? '/status/conditions' : `/status/conditions/${index}`
  const { resourceVersion = '' } = object.metadata
  return [
    { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
    { op: 'remove', path },
  ]
}

function conditionOf(wanted: WantedCondition, stored: Condition | undefined, object: BalancedObject, now: number) {
  const { generation } = object.metadata
  return {
    type: TYPE,
    ...wanted,
    lastTransitionTime: stored?.status === wanted.status ? stored.lastTransitionTime : rfc3339(now),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  }
}

function storedCondition({ status }: BalancedObject): Condition | undefined {
  return (status as MultiClusterServiceStatus | undefined)?.conditions?.find(({ type }) => type === TYPE)
}
