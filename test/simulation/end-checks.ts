import { canonicalJson, sameJson } from '../../src/domain/canonical-json.ts'
import type { Cluster } from '../../src/domain/cluster.ts'
import type { EndpointSlice } from '../../src/domain/endpoint-slice.ts'
import { hasFinalizer } from '../../src/domain/finalizers.ts'
import { isBeingDeleted } from '../../src/domain/kubernetes-object.ts'
import type { Lease } from '../../src/domain/lease.ts'
import { hasNotes, holderOf, keyOfLease } from '../../src/domain/lease-record.ts'
import type { ObjectKey } from '../../src/domain/object-key.ts'
import type { ResourceBinding } from '../../src/domain/resource-binding.ts'
import type { ControlPlaneCore } from '../../src/local/core/control-plane-core.ts'
import { belongsTo, type Stored } from './belongs-to.ts'
import type { Setting } from './history.ts'
import { isForgotten } from './is-forgotten.ts'
import type { Journal } from './journal.ts'
import type { Owner } from './owners.ts'
import { BETWEEN_SWEEPS_MS } from './play.ts'
import type { SimBalancer } from './sim-cloud.ts'
import { FINALIZER, LOCK_NAMESPACE, MARGIN_MS } from './sim-config.ts'
import { GO_FINALIZERS, listObjects, readObject, serviceOfName } from './sim-objects.ts'
import type { SimWorld } from './sim-world.ts'

/** What must hold when everything is at rest. Words of the report. */
export const END_INVARIANTS = {
  deleted: 'nothing that only we hold is still being deleted',
  served: 'each object that is ours carries our finalizer and has exactly one balancer',
  left: 'an object that is another’s carries no finalizer of ours and has no balancer',
  untouched: 'an object that nobody can place and that we did not hold has no balancer',
  status: 'status.loadBalancer is what the provider answers; of an object that we left it is cleared',
  content: 'the balancer serves the spec, the annotations and the endpoints of this moment',
  clusters: 'status names the blocked clusters of this moment',
  orphans: 'no balancer is left of an object that is gone, where the provider can list',
  leases: 'no Lease is held, none is left without a note, and no create of a served object is noted as unknown',
} as const

const CREATE_NOTE = 'webhook-cloud-provider.dev/note-create'

/** Asked of the control plane and of the cloud alone, with a simple idea of what is right. */
export function checkEnd(world: SimWorld, setting: Setting, journal: Journal): void {
  const { cloud, owners } = world
  for (const owner of owners.all()) {
    const balancers = cloud.balancers().filter(({ identity }) => identity.uid === owner.uid)
    if (owner.exists) checkLiving(owner, balancers, world, setting, journal)
    else checkGone(owner, balancers, setting, journal)
  }
  checkLeases(world, journal, ({ kind, name }) => servedUid(readObject<Stored>(world.core, kind, name), world.core))
}

function servedUid(object: Stored | undefined, core: ControlPlaneCore): string | undefined {
  const isServed =
    object !== undefined &&
    hasFinalizer(object, FINALIZER) &&
    !isBeingDeleted(object) &&
    belongsTo(object, core) === 'ours'
  return isServed ? object.metadata.uid : undefined
}

/** `servedUid` tells the uid of an object that is served. */
export function checkLeases(
  { core, now }: Pick<SimWorld, 'core' | 'now'>,
  journal: Journal,
  servedUid: (key: ObjectKey) => string | undefined,
): void {
  journal.checked(END_INVARIANTS.leases)
  for (const lease of listObjects<Lease>(core, 'Lease', LOCK_NAMESPACE)) {
    const key = keyOfLease(lease)
    const uid = key && servedUid(key)
    const noted = JSON.parse(lease.metadata.annotations?.[CREATE_NOTE] ?? '{}') as { uid?: string; until?: number }
    const isUnknown = uid !== undefined && noted.uid === uid && (noted.until ?? 0) > now()
    // What was of use when the last sweep looked goes with the next.
    if (hasNotes(lease, now() - BETWEEN_SWEEPS_MS) && !isUnknown && holderOf(lease, now(), MARGIN_MS) === undefined)
      continue
    journal.violated(END_INVARIANTS.leases, `${key?.kind} ${key?.name}: ${JSON.stringify(lease.metadata.annotations)}`)
  }
}

function checkGone(owner: Owner, balancers: SimBalancer[], setting: Setting, journal: Journal): void {
  if (isExcused(owner, balancers, setting)) return
  journal.checked(END_INVARIANTS.orphans)
  if (balancers.length > 0) journal.violated(END_INVARIANTS.orphans, `${owner.kind} ${owner.name}, uid ${owner.uid}`)
}

/** What a user disowned by hand, or a process took with it, is found only by a provider that can list. */
function isExcused({ stripped }: Owner, balancers: SimBalancer[], setting: Setting): boolean {
  return !setting.cloud.lists && (stripped || areForgotten(balancers, setting))
}

function areForgotten(balancers: SimBalancer[], setting: Setting): boolean {
  return balancers.length > 0 && balancers.every((balancer) => isForgotten(balancer, setting))
}

function checkLiving(
  owner: Owner,
  balancers: SimBalancer[],
  world: SimWorld,
  setting: Setting,
  journal: Journal,
): void {
  const object = owner.object as Stored
  const isHeld = hasFinalizer(object, FINALIZER)
  const subject = `${owner.kind} ${owner.name}`
  const byGo = GO_FINALIZERS.some((name) => hasFinalizer(object, name))
  if (byGo && !isHeld && !setting.takeOver) return
  if (owner.deleting) {
    journal.checked(END_INVARIANTS.deleted)
    if (isHeld) journal.violated(END_INVARIANTS.deleted, subject)
    return
  }
  const belongs = belongsTo(object, world.core)
  const isHeldAtAll = isHeld || byGo
  if (belongs === 'ours') {
    journal.checked(END_INVARIANTS.served)
    const [balancer] = balancers
    if (balancer === undefined || balancers.length > 1 || !isHeld) {
      journal.violated(END_INVARIANTS.served, `${subject}: held ${isHeld}, ${balancers.length} balancers`)
    } else {
      checkStatus(object, balancer, world, journal)
      checkContent(object, balancer, world.core, journal)
    }
  } else if (belongs === 'another') {
    // What is left then nobody can know but a provider that can list.
    if (isExcused(owner, balancers, setting)) return
    journal.checked(END_INVARIANTS.left)
    if (isHeldAtAll || balancers.length > 0) {
      journal.violated(END_INVARIANTS.left, `${subject}: held ${isHeldAtAll}, ${balancers.length} balancers`)
    }
    journal.checked(END_INVARIANTS.status)
    // Nobody can tell whose it is either when a user took our finalizer.
    // When it answers something else than what is published, nobody can tell whose that is.
    if (owner.stripped) return
    const isOneAddress = setting.cloud.flapMs === 0 && world.cloud.madeFor(owner.uid) === 1
    if (isOneAddress && !owner.touched && (object.status?.loadBalancer?.ingress ?? []).length > 0) {
      journal.violated(END_INVARIANTS.status, `${subject} is left: ${JSON.stringify(object.status)}`)
    }
  } else if (!isHeldAtAll && !owner.stripped && !areForgotten(balancers, setting)) {
    journal.checked(END_INVARIANTS.untouched)
    if (balancers.length > 0) journal.violated(END_INVARIANTS.untouched, subject)
  }
}

function checkStatus(object: Stored, balancer: SimBalancer, { cloud }: SimWorld, journal: Journal): void {
  journal.checked(END_INVARIANTS.status)
  const wanted = cloud.statusOf(balancer)
  const stored = object.status?.loadBalancer
  if (!sameJson(stored?.ingress ?? [], wanted?.ingress ?? [])) {
    journal.violated(
      END_INVARIANTS.status,
      `${object.metadata.name}: ${canonicalJson(stored)}, not ${canonicalJson(wanted)}`,
    )
  }
}

function checkContent(object: Stored, balancer: SimBalancer, core: ControlPlaneCore, journal: Journal): void {
  const { name } = object.metadata
  const { addresses, blocked } = endpointsOf(serviceOfName(name), core)
  journal.checked(END_INVARIANTS.content)
  const wanted = { spec: object.spec, annotations: object.metadata.annotations ?? {}, addresses }
  const { spec, annotations } = balancer
  const served = { spec, annotations, addresses: balancer.addresses }
  if (!sameJson(wanted, served)) {
    journal.violated(END_INVARIANTS.content, `${name}: ${canonicalJson(served)}, not ${canonicalJson(wanted)}`)
  }
  if (object.kind !== 'MultiClusterIngress') return
  journal.checked(END_INVARIANTS.clusters)
  const told = object.status?.trafficBlockClusters ?? []
  if (!sameJson(told, blocked)) journal.violated(END_INVARIANTS.clusters, `${name}: ${told}, not ${blocked}`)
}

/** Where the pods of a Service are that may get traffic. */
function endpointsOf(service: string, core: ControlPlaneCore): { addresses: string[]; blocked: string[] } {
  const binding = readObject<ResourceBinding>(core, 'ResourceBinding', `${service}-service`)
  const bound = (binding?.spec?.clusters ?? []).map(({ name }) => name)
  const blocked = bound.filter((name) =>
    readObject<Cluster>(core, 'Cluster', name)?.status?.remedyActions?.includes('TrafficControl'),
  )
  const serving = bound.filter((name) => !blocked.includes(name))
  const isThere = readObject(core, 'Service', service) !== undefined
  const slices = listObjects<EndpointSlice>(core, 'EndpointSlice').filter(
    ({ metadata }) =>
      metadata.labels?.['kubernetes.io/service-name'] === `derived-${service}` &&
      serving.some((cluster) => metadata.annotations?.['work.karmada.io/namespace'] === `karmada-es-${cluster}`),
  )
  const addresses = slices.flatMap(({ endpoints }) => (endpoints ?? []).flatMap((endpoint) => endpoint.addresses ?? []))
  return { addresses: isThere ? [...new Set(addresses)].sort() : [], blocked: blocked.sort() }
}
