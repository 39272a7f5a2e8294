import { isBeingDeleted } from '../../domain/kubernetes-object.ts'
import type { Node } from '../../domain/node.ts'
import type { ClusterReader } from '../../ports/cluster-store.ts'
import type { InstanceMetadata } from '../../provider/cloud.ts'
import { askCloud, isInstanceMissing } from '../ask-cloud.ts'
import type { NodePass, NodeSettings } from './node-pass.ts'

/** What a decision on a node is made from. */
export interface NodeSnapshot {
  node: Node
  instance: InstanceAnswer
  /** See `InstanceSource`. */
  mustIdentify: boolean
  settings: NodeSettings
}

export type InstanceAnswer =
  | { kind: 'known'; metadata: InstanceMetadata }
  /** The cloud answered that it cannot say yet. */
  | { kind: 'unknown' }
  /** The cloud answered that there is none. */
  | { kind: 'missing'; error: unknown }
  | { kind: 'failed'; error: unknown }

/** All reads of one pass, from the API server and from the cloud. Undefined when the node does not exist. */
export async function gatherNode(pass: NodePass, reader: ClusterReader): Promise<NodeSnapshot | undefined> {
  const { key, signal, instances, settings } = pass
  const node = await reader.get(key, { signal })
  if (node === undefined) return undefined
  const { mustIdentify } = instances
  return { node, mustIdentify, settings, instance: await instanceOf(node, pass) }
}

async function instanceOf(node: Node, pass: NodePass): Promise<InstanceAnswer> {
  if (isBeingDeleted(node)) return { kind: 'unknown' }
  try {
    const metadata = await askCloud(pass, (context) => pass.instances.metadata(node, context))
    // Go's nil came as null (C-86).
    return metadata === undefined || metadata === null ? { kind: 'unknown' } : { kind: 'known', metadata }
  } catch (error) {
    return isInstanceMissing(error) ? { kind: 'missing', error } : { kind: 'failed', error }
  }
}
