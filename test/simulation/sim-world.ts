import type { ClusterEvent } from '../../src/domain/cluster-event.ts'
import { hasFinalizer } from '../../src/domain/finalizers.ts'
import { type Kind, RESOURCES } from '../../src/domain/kinds.ts'
import { isBeingDeleted, type KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import type { ObjectKey } from '../../src/domain/object-key.ts'
import { type ControlPlaneCore, createControlPlaneCore } from '../../src/local/core/control-plane-core.ts'
import { karmadaCrds } from '../../src/local/crds/karmada-crds.ts'
import { createLocalClusterStore } from '../../src/local/local-cluster-store.ts'
import { buildClass, buildCluster, buildServiceWorld } from '../support/build-objects.ts'
import { belongsTo, type Stored } from './belongs-to.ts'
import { createCallCounter } from './call-counter.ts'
import { createExchanges } from './exchanges.ts'
import type { Action, BalancedName, Setting } from './history.ts'
import { createInvariants, karmadaRules } from './invariants.ts'
import { isLeased } from './is-leased.ts'
import type { Mutation } from './mutation.ts'
import { type Owners, trackOwners } from './owners.ts'
import { performUserAction } from './perform-user-action.ts'
import type { World, WorldParts as WorldPartsOf } from './play.ts'
import { createSimCloud, type SimCloud } from './sim-cloud.ts'
import { CLUSTER_ID, FINALIZER, IDENTITY, LOCK_NAMESPACE } from './sim-config.ts'
import { createSimDoors, KARMADA_RULES } from './sim-doors.ts'
import { createFleet } from './sim-fleet.ts'
import { createSimInstance } from './sim-instance.ts'
import { GO_FINALIZERS, NAMESPACE, OTHER_CLASS, readObject } from './sim-objects.ts'
import type { SimProcess } from './sim-process.ts'

/** One control plane, one cloud, and the instances of the function. */
export interface SimWorld extends World<Action> {
  core: ControlPlaneCore
  cloud: SimCloud
  owners: Owners
  now(): number
  isSweeping(): boolean
  /** Something that only a sweep can find. */
  hasLosses(): boolean
}

export interface WorldParts extends WorldPartsOf<Setting, Action> {
  mutation: Mutation
}

const NAMES: readonly BalancedName[] = ['web-a', 'web-b', 'game']
const SERVED = new Set(['MultiClusterIngress', 'MultiClusterService', 'ResourceBinding', 'Cluster', 'Remedy', 'Work'])
const EXPORTS = new Set(['ServiceExport', 'PropagationPolicy', 'ClusterPropagationPolicy'])

export function createSimWorld({ scheduler, decisions, journal, mutation }: WorldParts): SimWorld {
  const { setting } = decisions
  const countCall = createCallCounter()
  const exchanges = createExchanges(scheduler)
  const cloud = createSimCloud({ setting: setting.cloud, scheduler, decisions, journal, countCall, exchanges })
  let writer: string | undefined
  let writes = 0
  let losses = 0
  const invariants = createInvariants({
    setting,
    rules: karmadaRules(setting),
    journal,
    cloud,
    owners: () => owners,
    isLeased: (id, key) => isLeased(core, id, key, scheduler.now()),
    servedVersion,
  })
  const core = createCore()
  const owners = trackOwners(
    core,
    { kinds: ['MultiClusterIngress', 'MultiClusterService'], isHeld },
    () => writer,
    (commit) => {
      invariants.onCommit(commit)
      const { before, after, owner } = commit
      journal.say(
        `  ${owner.kind} ${owner.name} ${after === undefined ? 'gone' : before === undefined ? 'created' : 'changed'} by ${commit.writer ?? 'a user'}`,
      )
      const isFromGo = after?.metadata.finalizers?.some((name) => GO_FINALIZERS.includes(name)) ?? false
      if (before === undefined && isFromGo && setting.takeOver) {
        cloud.put({ clusterId: CLUSTER_ID, kind: owner.kind, namespace: NAMESPACE, name: owner.name, uid: owner.uid })
      }
    },
  )
  const server = createLocalClusterStore(core, IDENTITY)
  const fleet = createFleet({
    instances: setting.instances,
    scheduler,
    exchanges,
    journal,
    start,
    onGone(id) {
      losses += 1
      invariants.onGone(id)
    },
    onFrozen: invariants.onFrozen,
  })
  fleet.heal()

  function servedVersion({ kind, name }: ObjectKey): string | undefined {
    if (kind !== 'MultiClusterIngress' && kind !== 'MultiClusterService') return undefined
    const object = readObject<Stored>(core, kind, name)
    const isServed = object !== undefined && !isBeingDeleted(object) && belongsTo(object, core) === 'ours'
    return isServed ? `${object.metadata.uid}/${object.metadata.resourceVersion}` : undefined
  }

  function createCore(): ControlPlaneCore {
    let uids = 0
    const kinds = setting.propagation ? new Set([...SERVED, ...EXPORTS]) : SERVED
    const made = createControlPlaneCore({
      // Its only timers end watches.
      clock: { now: scheduler.now, after: () => () => {} },
      uid() {
        uids += 1
        return `00000000-0000-4000-8000-${String(uids).padStart(12, '0')}`
      },
      nameSuffix: () => 'x7k2p',
      definitions: karmadaCrds.filter(({ metadata }) => kinds.has(kindOfDefinition(metadata.name))),
      namespaces: [NAMESPACE, LOCK_NAMESPACE],
      admission: () =>
        createSimDoors({
          scheduler,
          decisions,
          journal,
          countCall,
          rules: KARMADA_RULES,
          reachable: (which) => fleet.reachable(which),
          onReview(delivered) {
            if (!delivered) losses += 1
          },
        }),
    })
    made.preload([
      buildClass(),
      buildClass({ metadata: { name: OTHER_CLASS }, spec: { controller: 'k8s.io/ingress-nginx' } }),
      buildCluster('edge-a'),
      buildCluster('edge-b'),
      ...buildServiceWorld('web'),
      ...buildServiceWorld('game'),
    ] as never)
    return made
  }

  function start(index: number, id: string, isAlive: () => boolean): SimProcess {
    return createSimInstance(
      {
        id,
        skewMs: setting.skewsMs[index] ?? 0,
        isWaiting: isAlive,
        onSend(key, what) {
          const isWrite = what === 'write' || what === 'claim'
          if (isWrite) writes += 1
          invariants.onSend(id, key, isWrite)
        },
        onFault: () => invariants.onFault(id),
        onCall: (method, context, isGone) => invariants.onCloudCall(id, method, context, isGone),
        onAnswer: (method, context) => invariants.onCloudAnswer(id, method, context),
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

  function tellCluster(name: string): void {
    fleet.awake(0)?.accept(cloudEvent('Cluster', '', name, 'UPDATE'))
  }

  function perform(action: Action): void {
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
        fleet.awake(action.instance)?.accept(cloudEvent(action.kind, NAMESPACE, action.name, action.operation))
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
      default: {
        journal.happened(`user: ${action.do}`)
        if (action.do === 'status' || action.do === 'cluster') losses += 1
        const isTold = action.do === 'cluster' && action.told
        const done = () => {
          if (isTold) tellCluster(action.cluster)
        }
        performUserAction(action, core).then(done, (error) => journal.say(`  refused: ${String(error).slice(0, 120)}`))
      }
    }
  }

  return {
    core,
    cloud,
    owners,
    now: scheduler.now,
    close: exchanges.close,
    perform,
    heal: fleet.heal,
    sweep: (index) => fleet.awake(index)?.sweep('all'),
    isSweeping: fleet.isSweeping,
    changes: () => writes + cloud.version(),
    beforeStep() {
      writer = undefined
    },
    afterStep: invariants.afterStep,
    busy: () => fleet.indexesOf(invariants.holders()),
    absent: () => NAMES.filter((name) => owners.all().every((owner) => !owner.exists || owner.name !== name)),
    hasLosses: () => losses > 0,
  }
}

function isHeld(object: KubernetesObject): boolean {
  return [FINALIZER, ...GO_FINALIZERS].some((name) => hasFinalizer(object, name))
}

function kindOfDefinition(name: string): string {
  const [plural] = name.split('.')
  return (Object.keys(RESOURCES) as Kind[]).find((kind) => RESOURCES[kind].plural === plural) ?? ''
}

function cloudEvent(kind: Kind, namespace: string, name: string, operation: ClusterEvent['operation']): ClusterEvent {
  return { source: 'cloudevent', operation, group: RESOURCES[kind].group, kind, namespace, name, receivedAt: 0 }
}
