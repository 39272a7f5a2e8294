import { isCatalogueError } from '../../domain/catalogue-error.ts'
import type { JsonValue } from '../../domain/kubernetes-object.ts'
import { momentOf } from '../../domain/moment-of.ts'
import type { Node } from '../../domain/node.ts'
import type { Outcome } from '../../domain/outcome.ts'
import type { NodeWrite } from './decide-node.ts'
import { NODE_METRICS } from './node-metrics.ts'
import type { NodePass } from './node-pass.ts'

/**
 * labels, providerID and taint in one write → addresses → event; the lock is held. Dying in between is repaired by the
 * next pass: addresses are looked at without the taint too.
 */
export async function applyNode(decision: NodeWrite, node: Node, pass: NodePass): Promise<Outcome> {
  const { recorder, signal, logger } = pass
  for (const warning of decision.warnings) logger.warn({ node: node.metadata.name, warning }, 'node')
  try {
    const written = await writeNode(decision, node, pass)
    if (decision.initialises) observe(NODE_METRICS.taintRemoval.name, written, pass)
    const published = await publishAddresses(decision, written, pass)
    if (decision.initialises) {
      observe(NODE_METRICS.initialSync.name, published, pass)
      const message = 'Node synced successfully'
      await recorder.record(published, { type: 'Normal', reason: 'Synced', message }, signal)
    }
  } catch (error) {
    if (isCatalogueError(error, 'NotFound')) return { kind: 'gone' }
    throw error
  }
  if (decision.error !== undefined) throw decision.error
  return { kind: 'settled' }
}

/** A merge patch of exactly this version: labels of others stay, and of two who change taints the second looks again. */
async function writeNode({ labels, providerID, taints }: NodeWrite, node: Node, pass: NodePass): Promise<Node> {
  const spec: { [key: string]: JsonValue } = {
    ...(providerID !== undefined && { providerID }),
    ...(taints !== undefined && { taints: taints.length === 0 ? null : (taints as unknown as JsonValue) }),
  }
  const hasLabels = Object.keys(labels).length > 0
  if (!hasLabels && Object.keys(spec).length === 0) return node
  const body = {
    metadata: { ...versionOf(node), ...(hasLabels && { labels }) },
    ...(Object.keys(spec).length > 0 && { spec }),
  }
  return pass.store.patch(pass.key, { type: 'merge', body }, { signal: pass.signal })
}

/** A merge patch replaces the list: merged by type, as the API declares it, two addresses of one type clash (R-NODE-11). */
async function publishAddresses({ addresses }: NodeWrite, node: Node, { store, key, signal }: NodePass): Promise<Node> {
  if (addresses === undefined) return node
  const body = { metadata: versionOf(node), status: { addresses: addresses as unknown as JsonValue } }
  return store.patch(key, { type: 'merge', body }, { signal, subresource: 'status' })
}

function versionOf({ metadata: { uid = '', resourceVersion = '' } }: Node) {
  return { uid, resourceVersion }
}

function observe(metric: string, { metadata }: Node, { metrics, clock }: NodePass): void {
  metrics.observe(metric, Math.max(0, clock.now() - momentOf(metadata.creationTimestamp)) / 1000)
}
