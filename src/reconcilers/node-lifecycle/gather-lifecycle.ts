import { isBeingDeleted } from '../../domain/kubernetes-object.ts'
import { isReady, type Node } from '../../domain/node.ts'
import type { ClusterReader } from '../../ports/cluster-store.ts'
import { askCloud, isInstanceMissing } from '../ask-cloud.ts'
import { isManaged } from '../node/decide-node.ts'
import type { LifecyclePass } from './lifecycle-pass.ts'

/** What became of a node's instance, as far as it was asked. */
export type InstanceState = 'notAsked' | 'running' | 'shutDown' | 'gone'

export interface LifecycleSnapshot {
  node: Node
  instance: InstanceState
  managed: boolean
  /** Milliseconds since the epoch. */
  now: number
  /** How long a new node is not believed to be gone. */
  newNodeGraceMs: number
}

/**
 * All reads of one pass. A Ready node says itself that it lives: the cloud is not asked (R-LIFE-2). Throws when the cloud
 * could not be asked: that is never "gone" (R-LIFE-3).
 */
export async function gatherLifecycle(
  pass: LifecyclePass,
  reader: ClusterReader,
): Promise<LifecycleSnapshot | undefined> {
  const { key, signal, settings, clock } = pass
  const node = await reader.get(key, { signal })
  if (node === undefined) return undefined
  const managed = isManaged(node, settings)
  const isAsked = managed && !isBeingDeleted(node) && !isReady(node)
  const instance = isAsked ? await instanceState(node, pass) : 'notAsked'
  return { node, instance, managed, now: clock.now(), newNodeGraceMs: settings.newNodeGraceMs }
}

async function instanceState(node: Node, pass: LifecyclePass): Promise<InstanceState> {
  const { instances } = pass
  const exists = () => askCloud(pass, (context) => instances.exists(node, context))
  if (!(await exists())) return 'gone'
  try {
    return (await askCloud(pass, (context) => instances.isShutDown(node, context))) ? 'shutDown' : 'running'
  } catch (error) {
    if (!isInstanceMissing(error)) throw error
    // It went between the two questions, or only the second one does not find it (cloud-provider#57).
    return (await exists()) ? 'running' : 'gone'
  }
}
