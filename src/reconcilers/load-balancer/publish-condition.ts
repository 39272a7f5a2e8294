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

/** Applies our condition, and only ours: the list is keyed, and Karmada writes it too. */
export async function publishCondition<K extends BalancedKind>(
  object: ObjectOfKind[K],
  wanted: WantedCondition,
  pass: BalancerPass<K>,
): Promise<ObjectOfKind[K]> {
  const { store, key, signal, clock, finalizer } = pass
  const stored = storedCondition(object)
  if (isConditionPublished(object, wanted)) return object
  const conditions = [conditionOf(wanted, stored, object, clock.now())]
  const { apiVersion, kind, metadata } = object
  const { name, namespace = '', resourceVersion = '' } = metadata
  const body = { apiVersion, kind, metadata: { name, namespace, resourceVersion }, status: { conditions } }
  return store.patch(key, { type: 'apply', body, fieldManager: finalizer }, { signal, subresource: 'status' })
}

/**
 * Takes our condition away, from exactly this version. By JSON Patch: of an applied empty list the API server makes a status
 * of null, and refuses it, where there is nothing else in it any more (a check of the contract holds the fact).
 */
export async function withdrawCondition<K extends BalancedKind>(
  object: ObjectOfKind[K],
  { store, key, signal }: BalancerPass<K>,
): Promise<ObjectOfKind[K]> {
  const conditions = conditionsOf(object)
  const index = conditions.findIndex(({ type }) => type === TYPE)
  if (index < 0) return object
  const { uid = null, resourceVersion = null } = object.metadata
  const operations: JsonPatchOperation[] = [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
    { op: 'test', path: `/status/conditions/${index}/type`, value: TYPE },
    { op: 'remove', path: conditions.length === 1 ? '/status/conditions' : `/status/conditions/${index}` },
  ]
  return store.patch(key, { type: 'json', operations }, { signal, subresource: 'status' })
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

function storedCondition(object: BalancedObject): Condition | undefined {
  return conditionsOf(object).find(({ type }) => type === TYPE)
}

function conditionsOf({ status }: BalancedObject): Condition[] {
  return (status as MultiClusterServiceStatus | undefined)?.conditions ?? []
}
