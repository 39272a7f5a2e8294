import type { ClusterEvent } from '../../../src/domain/cluster-event.ts'
import { hasFinalizer } from '../../../src/domain/finalizers.ts'
import { type Kind, RESOURCES } from '../../../src/domain/kinds.ts'
import { isBeingDeleted, type KubernetesObject } from '../../../src/domain/kubernetes-object.ts'
import { ROUTES_KEY } from '../../../src/domain/nodes/node-keys.ts'
import type { ObjectKey } from '../../../src/domain/object-key.ts'
import type { Service } from '../../../src/domain/service.ts'
import { type ControlPlaneCore, createControlPlaneCore } from '../../../src/local/core/control-plane-core.ts'
import { createLocalClusterStore } from '../../../src/local/local-cluster-store.ts'
import { createCallCounter } from '../call-counter.ts'
import { createExchanges } from '../exchanges.ts'
import { type BalancedRules, createInvariants } from '../invariants.ts'
import { isLeased } from '../is-leased.ts'
import { type Commit, type Owners, trackOwners } from '../owners.ts'
import type { World, WorldParts } from '../play.ts'
import { IDENTITY, LOCK_NAMESPACE } from '../sim-config.ts'
import { createSimDoors, type DoorRules } from '../sim-doors.ts'
import { createFleet } from '../sim-fleet.ts'
import { NAMESPACE, readObject } from '../sim-objects.ts'
import type { SimProcess } from '../sim-process.ts'
import { classOf } from './class-of.ts'
import type { ClusterMutation } from './cluster-mutation.ts'
import type { KubernetesAction, KubernetesSetting } from './history.ts'
import { watchNodes } from './node-invariants.ts'
import { performClusterAction } from './perform-cluster-action.ts'
import { NODES, nameOf, SERVICE_FINALIZER, SERVICES } from './sim-cluster.ts'
import { createSimClusterCloud, type SimClusterCloud } from './sim-cluster-cloud.ts'
import { createSimClusterInstance } from './sim-cluster-instance.ts'

/** One cluster, the cloud under it, and the instances of the function. */
export interface SimClusterWorld extends World<KubernetesAction> {
  core: ControlPlaneCore
  cloud: SimClusterCloud
  owners: Owners
  now(): number
  /** Whether the Service of this uid ever was of our class, or carried the finalizer as one of another type. */
  wasOurs(uid: string): boolean
}

export const CLUSTER_INVARIANTS = {
  another: 'a Service of another class is not written to, and the cloud is not asked about one that always was',
  kinds: 'nothing is written but Services, nodes, events and Leases',
} as const

export interface ClusterWorldParts extends WorldParts<KubernetesSetting, KubernetesAction> {
  mutation: ClusterMutation
}

const WRITTEN = ['Service', 'Node', 'Event', 'Lease']

export function createSimClusterWorld({ scheduler, decisions, journal, mutation }: ClusterWorldParts): SimClusterWorld {
  const { setting } = decisions
  const countCall = createCallCounter()
  const exchanges = createExchanges(scheduler)
  const cloud = createSimClusterCloud({ setting: setting.cloud, scheduler, decisions, journal, countCall, exchanges })
  let writer: string | undefined
  let writes = 0
  const living = new Set<string>()
  const ours = new Set<string>()
  const given = new Map<string, string[]>()
  const invariants = createInvariants({
    setting,
    rules: SERVICE_RULES,
    journal,
    cloud: { balancers: cloud.heldBalancers, version: cloud.version },
    owners: () => owners,
    isLeased: (id, key) => isLeased(core, id, key, scheduler.now()),
    servedVersion,
  })
  const core = createCore()
  const writerNow = () => writer
  const owners = trackOwners(core, { kinds: ['Service'], isHeld }, writerNow, onCommit)
  const nodes = watchNodes({ core, cloud, journal, now: scheduler.now, writer: writerNow })
  const server = createLocalClusterStore(core, IDENTITY)
  const fleet = createFleet({
    instances: setting.instances,
    scheduler,
    exchanges,
    journal,
    start,
    onGone: invariants.onGone,
    onFrozen: invariants.onFrozen,
  })
  fleet.heal()

  function onCommit(commit: Commit): void {
    const { before, after, owner, writer: by } = commit
    if (after === undefined) living.delete(owner.name)
    else living.add(owner.name)
    const verb = after === undefined ? 'gone' : before === undefined ? 'created' : 'changed'
    journal.say(`  Service ${owner.name} ${verb} by ${by ?? 'a user'}`)
    if (by !== undefined && before !== undefined) {
      journal.checked(CLUSTER_INVARIANTS.another)
      const isAnothers = classOf(before as Service, setting) === 'another'
      if (isAnothers) journal.violated(CLUSTER_INVARIANTS.another, `${by} writes to ${owner.name}`)
    }
    const belongs = classOf(owner.object as Service, setting)
    if (belongs === 'ours' || (belongs === 'inside' && owner.held)) ours.add(owner.uid)
    invariants.onCommit(commit)
  }

  function servedVersion({ kind, name }: ObjectKey): string | undefined {
    const service = kind === 'Service' ? readObject<Service>(core, 'Service', name) : undefined
    const isServed = service && !isBeingDeleted(service) && classOf(service, setting) === 'ours'
    return isServed ? `${service.metadata.uid}/${service.metadata.resourceVersion}` : undefined
  }

  function createCore(): ControlPlaneCore {
    let uids = 0
    return createControlPlaneCore({
      // Its only timers end watches.
      clock: { now: scheduler.now, after: () => () => {} },
      uid() {
        uids += 1
        return `00000000-0000-4000-8000-${String(uids).padStart(12, '0')}`
      },
      nameSuffix: () => 'x7k2p',
      definitions: [],
      namespaces: [NAMESPACE, LOCK_NAMESPACE, 'default'],
      admission: () =>
        createSimDoors({
          scheduler,
          decisions,
          journal,
          countCall,
          rules: doorRules(setting),
          reachable: (which) => fleet.reachable(which),
          onReview() {},
        }),
    })
  }

  function onSend(id: string, key: ObjectKey): void {
    writes += 1
    journal.checked(CLUSTER_INVARIANTS.kinds)
    if (!WRITTEN.includes(key.kind)) journal.violated(CLUSTER_INVARIANTS.kinds, `${id}: ${key.kind} ${key.name}`)
    invariants.onSend(id, key, true)
    // The condition of its routes is written by who works on all routes.
    if (key.kind === 'Node') {
      invariants.checkTurn(id, invariants.holds(id, key) ? key : ROUTES_KEY, `a write to node ${key.name}`)
    }
  }

  function onBalancerLook(id: string, uid: string, name: string): void {
    journal.checked(CLUSTER_INVARIANTS.another)
    if (!ours.has(uid)) journal.violated(CLUSTER_INVARIANTS.another, `${id} asks the cloud about ${name}`)
  }

  function start(index: number, id: string, isAlive: () => boolean): SimProcess {
    return createSimClusterInstance(
      {
        id,
        skewMs: setting.skewsMs[index] ?? 0,
        isWaiting: isAlive,
        onSend(key, what) {
          if (what === 'write' || what === 'claim') onSend(id, key)
        },
        onFault: () => invariants.onFault(id),
        onBalancerCall(method, context, isGone) {
          onBalancerLook(id, context.identity.uid, context.identity.name)
          invariants.onCloudCall(id, method, context, isGone)
        },
        onBalancerAnswer(method, context, isAbsent) {
          invariants.onCloudAnswer(id, method, context)
          if (isAbsent) invariants.onAbsent(id, context.identity)
        },
        onRouteCall: () => invariants.checkTurn(id, ROUTES_KEY, 'a change of routes'),
      },
      {
        setting,
        scheduler,
        decisions,
        journal,
        countCall,
        exchanges,
        server,
        cloud,
        mutation,
        writing(sender) {
          writer = sender
        },
        watchLock: invariants.watchLock,
      },
    )
  }

  function perform(action: KubernetesAction): void {
    journal.say(`ACTION ${JSON.stringify(action)}`)
    writer = undefined
    switch (action.do) {
      case 'kill':
        fleet.kill(action)
        break
      case 'freeze':
        fleet.freeze(action)
        break
      case 'cloudEvent':
        journal.happened('cloud event')
        fleet.awake(action.instance)?.accept(cloudEvent(action.kind, action.name, action.operation))
        break
      case 'sweep':
        journal.happened('sweep')
        fleet.awake(action.instance)?.sweep(action.scope)
        break
      case 'compact':
        journal.happened('compaction')
        core.compact()
        break
      case 'pause':
        break
      default:
        journal.happened(`user: ${action.do}${'how' in action && action.do === 'machine' ? ` ${action.how}` : ''}`)
        cloud.touch()
        performClusterAction(action, { core, cloud, setting, given, now: scheduler.now }).catch((error) =>
          journal.say(`  refused: ${String(error).slice(0, 120)}`),
        )
    }
  }

  return {
    core,
    cloud,
    owners,
    now: scheduler.now,
    wasOurs: (uid) => ours.has(uid),
    close: exchanges.close,
    perform,
    heal: fleet.heal,
    sweep: (index) => fleet.awake(index)?.sweep('all'),
    changes: () => `${writes} ${cloud.state()}`,
    beforeStep() {
      writer = undefined
    },
    afterStep() {
      invariants.afterStep()
      nodes.afterStep()
    },
    busy: () => fleet.indexesOf(invariants.holders()),
    absent() {
      const there = [...living, ...nodes.names()]
      return [...SERVICES, ...NODES.map(nameOf)].filter((name) => !there.includes(name))
    },
  }
}

const SERVICE_RULES: BalancedRules = {
  kinds: ['Service'],
  finalizer: SERVICE_FINALIZER,
  foreignParts({ metadata, ...object }) {
    const { labels, annotations, ownerReferences, finalizers = [] } = metadata
    const { status, ...rest } = object as { status?: Record<string, unknown> }
    const { loadBalancer: _, ...others } = status ?? {}
    const foreign = finalizers.filter((name) => name !== SERVICE_FINALIZER)
    return { ...rest, metadata: { labels, annotations, ownerReferences, finalizers: foreign }, status: others }
  },
}

function isHeld(object: KubernetesObject): boolean {
  return hasFinalizer(object, SERVICE_FINALIZER)
}

/** As the manifests register them. */
function doorRules({ nodeStatus }: KubernetesSetting): DoorRules {
  return {
    mutates: ({ operation, type, subresource }) =>
      type.kind === 'Service' && operation === 'CREATE' && subresource === '',
    notifies: ({ subresource, type }) =>
      type.kind === 'Service' || (type.kind === 'Node' && (subresource === '' || nodeStatus)),
  }
}

function cloudEvent(kind: Kind, name: string, operation: ClusterEvent['operation']): ClusterEvent {
  const { group, namespaced } = RESOURCES[kind]
  const namespace = namespaced ? NAMESPACE : ''
  return { source: 'cloudevent', operation, group, kind, namespace, name, receivedAt: 0 }
}
