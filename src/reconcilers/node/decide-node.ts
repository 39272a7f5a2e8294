import { isBeingDeleted } from '../../domain/kubernetes-object.ts'
import type { Node, NodeAddress, Taint } from '../../domain/node.ts'
import { sameAddresses, wantedAddresses } from '../../domain/nodes/node-addresses.ts'
import { changedTraits, initialLabels, reconciledLabels } from '../../domain/nodes/node-labels.ts'
import { isUninitialized, withoutUninitialized } from '../../domain/nodes/node-taints.ts'
import type { InstanceMetadata } from '../../provider/cloud.ts'
import type { NodeSnapshot } from './gather-node.ts'
import type { NodeSettings } from './node-pass.ts'

export type NodeDecision =
  | { do: 'nothing'; reason: string }
  | { do: 'settled' }
  /** The taint stays. */
  | { do: 'fail'; message: string }
  | { do: 'throw'; error: unknown }
  | NodeWrite

/** What differs, and nothing else. */
export interface NodeWrite {
  do: 'write'
  initialises: boolean
  labels: Record<string, string>
  providerID?: string
  taints?: Taint[]
  /** For `/status`, after the rest. */
  addresses?: NodeAddress[]
  warnings: string[]
  /** What is to be told once the rest is written. */
  error?: unknown
}

/**
 * | taint `uninitialized` | the cloud | do |
 * |---|---|---|
 * | present | knows the instance | initialise: everything at once, then addresses |
 * | present | cannot say yet | nothing; the taint stays, the sweep looks again (R-NODE-2) |
 * | present | has none, or failed | retry; the taint stays |
 * | absent | knows the instance | labels (R-NODE-9), addresses (R-NODE-10) |
 * | absent | has none, or cannot say | labels; whether it lives is the life cycle's question |
 * | absent | failed | labels, then retry |
 */
export function decideNode(snapshot: NodeSnapshot): NodeDecision {
  const { node, instance, settings } = snapshot
  if (isBeingDeleted(node)) return { do: 'nothing', reason: 'being deleted' }
  if (!isManaged(node, settings)) return { do: 'nothing', reason: 'its providerID is another cloud’s' }
  if (!isUninitialized(node)) return decideKept(snapshot)
  switch (instance.kind) {
    case 'known':
      return decideInitialisation(snapshot, instance.metadata)
    case 'unknown':
      return { do: 'nothing', reason: 'the cloud cannot say yet what it is' }
    default:
      return { do: 'throw', error: instance.error }
  }
}

/** Without a providerID nobody can say whose it is, and whoever set the taint waits for some cloud. */
export function isManaged({ spec }: Node, { onlyOurs, providerName }: Pick<NodeSettings, 'onlyOurs' | 'providerName'>) {
  return !onlyOurs || !spec?.providerID || spec.providerID.startsWith(`${providerName}://`)
}

function decideInitialisation({ node, mustIdentify }: NodeSnapshot, metadata: InstanceMetadata): NodeDecision {
  const { name } = node.metadata
  const known = node.spec?.providerID ?? ''
  if (mustIdentify && known === '' && metadata.providerID === '') {
    return { do: 'fail', message: `cloud provider does not set node provider ID for node ${name}` }
  }
  const wanted = wantedAddresses(node, metadata.nodeAddresses)
  // Before the taint goes: with a wrong address nothing may run on it (R-NODE-5).
  if ('fault' in wanted) return { do: 'fail', message: wanted.fault }
  const { labels, warnings } = initialLabels(node, metadata)
  return {
    do: 'write',
    initialises: true,
    labels,
    // Cannot be changed once it is set.
    ...(known === '' && metadata.providerID !== '' && { providerID: metadata.providerID }),
    taints: withoutUninitialized(node),
    ...changedAddresses(node, wanted.addresses),
    warnings,
  }
}

/** Everything about a node that was initialised; also what a pass left that died between its two writes (C-97). */
function decideKept({ node, instance, settings }: NodeSnapshot): NodeDecision {
  const metadata = instance.kind === 'known' ? instance.metadata : undefined
  const labels = {
    ...reconciledLabels(node),
    ...(settings.refreshLabels && metadata !== undefined && changedTraits(node.metadata.labels ?? {}, metadata)),
  }
  const { wanted, warnings } = keptAddresses(node, metadata)
  const addresses = changedAddresses(node, wanted)
  const error = instance.kind === 'failed' ? { error: instance.error } : {}
  if (Object.keys(labels).length > 0 || addresses !== undefined) {
    return { do: 'write', initialises: false, labels, ...addresses, warnings, ...error }
  }
  return instance.kind === 'failed' ? { do: 'throw', error: instance.error } : { do: 'settled' }
}

function keptAddresses(node: Node, metadata: InstanceMetadata | undefined) {
  if (metadata === undefined || metadata.nodeAddresses.length === 0) return { wanted: [], warnings: [] }
  const wanted = wantedAddresses(node, metadata.nodeAddresses)
  return 'fault' in wanted ? { wanted: [], warnings: [wanted.fault] } : { wanted: wanted.addresses, warnings: [] }
}

/** No addresses never means "clear" (cloud-provider#37). */
function changedAddresses({ status }: Node, addresses: NodeAddress[]): { addresses: NodeAddress[] } | undefined {
  return addresses.length === 0 || sameAddresses(status?.addresses, addresses) ? undefined : { addresses }
}
