import { sameJson } from '../../../src/domain/canonical-json.ts'
import { isBeingDeleted } from '../../../src/domain/kubernetes-object.ts'
import { isReady, type Node, type Taint } from '../../../src/domain/node.ts'
import { isMarkedShutDown, isUninitialized } from '../../../src/domain/nodes/node-taints.ts'
import type { ControlPlaneCore } from '../../../src/local/core/control-plane-core.ts'
import type { Journal } from '../journal.ts'
import { targetOf } from '../sim-objects.ts'
import { CLUSTER_NAME } from './sim-cluster.ts'
import type { SimClusterCloud } from './sim-cluster-cloud.ts'

/** What must hold for nodes and routes at every step. Words of the report. */
export const NODE_INVARIANTS = {
  notReady: 'no node is deleted by us while it is Ready',
  machine: 'no node is deleted by us while the cloud has its machine, whether it could be asked or not',
  identified: 'the taint of a node that joins goes only with providerID, type, zone and region in place',
  identity: 'a providerID is set once, and is that of a machine',
  shutDown: 'the shutdown taint comes to nodes that are not Ready, and goes from those that are',
  foreignNode: 'of a node we change our labels, taints, addresses and condition, and nothing else',
  foreignRoutes: 'routes of others, and those outside the cluster’s networks, stay',
} as const

export interface NodeInvariants {
  afterStep(): void
  /** Names of the nodes that there are. */
  names(): string[]
}

export interface NodeInvariantParts {
  core: ControlPlaneCore
  cloud: SimClusterCloud
  journal: Journal
  now(): number
  /** Who writes in the step that is run now; undefined for users. */
  writer(): string | undefined
}

/** What a node that was initialised tells of its machine. */
export const TRAITS = [
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
  'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/region',
]
const RACK = 'example.com/rack'

// A pass and the longest freeze: an answer of the cloud may be so old when the node goes.
const ANSWER_MS = 120_000

/** Follows every node, commit by commit, and the routes of others. */
export function watchNodes({ core, cloud, journal, now, writer }: NodeInvariantParts): NodeInvariants {
  const nodes = new Map<string, Node>()
  const seenRoutes = new Set<string>()
  let seenVersion = 0

  core.watch(
    targetOf('Node'),
    { timeoutSeconds: 100_000_000 },
    {
      onEvent(event) {
        if (event.type === 'ERROR' || event.type === 'BOOKMARK') return
        const node = event.object as unknown as Node
        const { uid = '', name } = node.metadata
        const before = nodes.get(uid)
        const after = event.type === 'DELETED' ? undefined : node
        if (after === undefined) nodes.delete(uid)
        else nodes.set(uid, after)
        const by = writer()
        journal.say(
          `  Node ${name} ${after === undefined ? 'gone' : before === undefined ? 'created' : 'changed'} by ${by ?? 'a user'}`,
        )
        if (by !== undefined && before !== undefined) checkWrite(before, after)
      },
    },
  )

  function check(invariant: keyof typeof NODE_INVARIANTS, holds: boolean, detail: () => string): void {
    journal.checked(NODE_INVARIANTS[invariant])
    if (!holds) journal.violated(NODE_INVARIANTS[invariant], detail())
  }

  function checkWrite(before: Node, after: Node | undefined): void {
    const { name } = before.metadata
    if (after === undefined || (isBeingDeleted(after) && !isBeingDeleted(before))) {
      check('notReady', !isReady(before), () => name)
      check('machine', !hasMachine(before), () => name)
      return
    }
    const parts = () => `${name}: ${JSON.stringify(foreignParts(before))} → ${JSON.stringify(foreignParts(after))}`
    check('foreignNode', sameJson(foreignParts(before), foreignParts(after)), parts)
    const [was, is] = [before.spec?.providerID, after.spec?.providerID]
    if (was !== is) check('identity', was === undefined && isMachine(is), () => `${name}: ${was} → ${is}`)
    if (isUninitialized(before) && !isUninitialized(after)) {
      const labels = after.metadata.labels ?? {}
      const isThere = is !== undefined && TRAITS.every((label) => labels[label] !== undefined)
      check('identified', isThere, () => `${name}: ${is} ${JSON.stringify(labels)}`)
    }
    const [wasOff, isOff] = [isMarkedShutDown(before), isMarkedShutDown(after)]
    if (wasOff !== isOff) check('shutDown', isReady(before) === wasOff, () => `${name}: ${wasOff} → ${isOff}`)
  }

  /** By its providerID for good; by its name only if it was there when the cloud may have been asked. */
  function hasMachine({ metadata, spec }: Node): boolean {
    const machines = cloud.machines.all().filter(({ state }) => state !== 'terminated')
    if (spec?.providerID) return machines.some(({ id }) => `fake://${id}` === spec.providerID)
    return machines.some(({ name, visibleAt = 0 }) => name === metadata.name && visibleAt < now() - ANSWER_MS)
  }

  function isMachine(providerID: string | undefined): boolean {
    return cloud.machines.all().some(({ id }) => `fake://${id}` === providerID)
  }

  return {
    names: () => [...nodes.values()].map(({ metadata }) => metadata.name),
    afterStep() {
      if (cloud.version() === seenVersion) return
      seenVersion = cloud.version()
      const foreign = cloud.routes
        .all()
        .filter(({ cluster, destinationCIDR }) => cluster !== CLUSTER_NAME || isOutside(destinationCIDR))
      const texts = foreign.map((route) => JSON.stringify(route))
      for (const text of texts) seenRoutes.add(text)
      if (seenRoutes.size === 0) return
      const gone = [...seenRoutes].filter((text) => !texts.includes(text))
      check('foreignRoutes', gone.length === 0, () => gone.join(' '))
    },
  }
}

export function isOutside(cidr: string): boolean {
  return !cidr.startsWith('10.244.') && !cidr.startsWith('fd00:10:')
}

const OUR_TAINTS = ['node.cloudprovider.kubernetes.io/uninitialized', 'node.cloudprovider.kubernetes.io/shutdown']

/** Everything of a node that is not ours to change. */
function foreignParts({ metadata, spec, status, ...rest }: Node): unknown {
  const { labels = {}, annotations, ownerReferences, finalizers } = metadata
  const { providerID: _, taints = [], ...ownSpec } = spec ?? {}
  const { addresses: __, conditions = [], ...ownStatus } = status ?? {}
  return {
    ...rest,
    metadata: {
      labels: Object.fromEntries(Object.entries(labels).filter(([name]) => name !== RACK && !TRAITS.includes(name))),
      annotations,
      ownerReferences,
      finalizers,
    },
    spec: { ...ownSpec, taints: taints.filter(({ key }: Taint) => !OUR_TAINTS.includes(key)) },
    status: { ...ownStatus, conditions: conditions.filter(({ type }) => type !== 'NetworkUnavailable') },
  }
}
