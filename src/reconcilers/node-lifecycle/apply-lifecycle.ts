import { isCatalogueError } from '../../domain/catalogue-error.ts'
import type { JsonValue } from '../../domain/kubernetes-object.ts'
import type { Node, Taint } from '../../domain/node.ts'
import type { Outcome } from '../../domain/outcome.ts'
import { plainMessage } from '../service/tell-service.ts'
import type { LifecyclePass } from './lifecycle-pass.ts'

/** A patch of exactly this version: others change taints too. The lock is held. */
export async function writeTaints(taints: readonly Taint[], node: Node, pass: LifecyclePass): Promise<Outcome> {
  const { store, key, signal } = pass
  const spec = { taints: taints.length === 0 ? null : (taints as unknown as JsonValue) }
  try {
    await store.patch(key, { type: 'merge', body: { metadata: versionOf(node), spec } }, { signal })
    return { kind: 'settled' }
  } catch (error) {
    if (isCatalogueError(error, 'NotFound')) return { kind: 'gone' }
    throw error
  }
}

/**
 * tell → delete, exactly the node that was read: neither one that came under its name since (k/k#39893), nor this one
 * when it became Ready meanwhile. The lock is held.
 */
export async function deleteNode(node: Node, { store, key, recorder, signal }: LifecyclePass): Promise<Outcome> {
  const { name } = node.metadata
  const message = `Deleting node ${name} because it does not exist in the cloud provider`
  await recorder.record(node, { type: 'Normal', reason: 'DeletingNode', message }, signal)
  try {
    await store.delete(key, { signal, preconditions: versionOf(node) })
    return { kind: 'gone' }
  } catch (error) {
    if (isCatalogueError(error, 'NotFound')) return { kind: 'gone' }
    const failed = `Failed deleting node ${name}: ${plainMessage(error)}`
    await recorder.record(node, { type: 'Warning', reason: 'DeletingNodeFailed', message: failed }, signal)
    throw error
  }
}

function versionOf({ metadata: { uid = '', resourceVersion = '' } }: Node) {
  return { uid, resourceVersion }
}
