import { CatalogueError, isCatalogueError } from '../../domain/catalogue-error.ts'
import type { ObjectOfKind } from '../../domain/kinds.ts'
import { isBeingDeleted } from '../../domain/kubernetes-object.ts'
import { publishableStatus } from '../../domain/load-balancer-status.ts'
import type { ObjectKey } from '../../domain/object-key.ts'
import { validateLoadBalancerStatus } from '../../domain/validation/validate-load-balancer-status.ts'
import type { BalancedKind } from './balanced-resource.ts'
import type { BalancerPass } from './balancer-pass.ts'
import { type PublishedStatus, statusPatch } from './computed-status.ts'

/** Writes our fields of the status of exactly this version, and only where readers would see a difference. */
export async function publishStatus<K extends BalancedKind>(
  object: ObjectOfKind[K],
  wanted: PublishedStatus,
  { store, key, signal }: BalancerPass<K>,
): Promise<ObjectOfKind[K]> {
  const status = statusPatch(object.status, wanted)
  if (status === undefined) return object
  refuseUnstorable(wanted, key)
  const { uid = null, resourceVersion = null } = object.metadata
  const body = { metadata: { uid, resourceVersion }, status }
  return store.patch(key, { type: 'merge', body }, { signal, subresource: 'status' })
}

/**
 * Invariant: after an ensure the object is looked at again, for it may have gone meanwhile. A status that could be
 * written to the same version shows that nothing happened, and its answer is that look; otherwise it is a read.
 */
export async function publishAndReadAgain<K extends BalancedKind>(
  object: ObjectOfKind[K],
  wanted: PublishedStatus,
  mustLook: boolean,
  pass: BalancerPass<K>,
): Promise<ObjectOfKind[K] | undefined> {
  const { store, key, signal } = pass
  try {
    const published = await publishStatus(object, wanted, pass)
    return published === object && mustLook ? await store.get(key, { signal }) : published
  } catch (error) {
    if (!isCatalogueError(error, 'Conflict') && !isCatalogueError(error, 'NotFound')) throw error
    const current = await store.get(key, { signal })
    if (current === undefined || current.metadata.uid !== object.metadata.uid || isBeingDeleted(current)) return current
    throw error
  }
}

/** Karmada checks a stored address at every later update, so a bad one would block even the release of our finalizer. */
function refuseUnstorable({ loadBalancer }: PublishedStatus, object: ObjectKey): void {
  if (loadBalancer === undefined) return
  const [finding] = validateLoadBalancerStatus({ loadBalancer: publishableStatus(loadBalancer) })
  if (finding === undefined) return
  const message = `the provider reported an address that cannot be stored: ${finding.field}: ${finding.message}`
  throw new CatalogueError('ProviderFailed', message, { object, field: finding.field })
}
