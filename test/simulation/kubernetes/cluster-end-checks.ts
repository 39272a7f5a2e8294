import { canonicalJson, sameJson } from '../../../src/domain/canonical-json.ts'
import { hasFinalizer } from '../../../src/domain/finalizers.ts'
import { isBeingDeleted } from '../../../src/domain/kubernetes-object.ts'
import { conditionOf, isReady, type Node } from '../../../src/domain/node.ts'
import { isMarkedShutDown, isUninitialized } from '../../../src/domain/nodes/node-taints.ts'
import type { Service } from '../../../src/domain/service.ts'
import type { FakeServiceBalancer } from '../../../src/providers/fake/fake-balancer-inventory.ts'
import type { FakeMachine } from '../../../src/providers/fake/fake-machines.ts'
import { checkLeases } from '../end-checks.ts'
import { isForgotten } from '../is-forgotten.ts'
import type { Journal } from '../journal.ts'
import type { Owner } from '../owners.ts'
import { listObjects, readObject } from '../sim-objects.ts'
import { classOf } from './class-of.ts'
import type { KubernetesSetting } from './history.ts'
import { isOutside, TRAITS } from './node-invariants.ts'
import { FOREIGN_TAINT, PRESSURE } from './perform-cluster-action.ts'
import { CLUSTER_NAME, NEW_NODE_GRACE_MS, OPTION, SERVICE_FINALIZER } from './sim-cluster.ts'
import type { SimClusterWorld } from './sim-cluster-world.ts'

/** What must hold when everything is at rest. Words of the report. */
export const CLUSTER_END_INVARIANTS = {
  deleted: 'no Service that only we hold is still being deleted',
  served: 'each Service of type LoadBalancer and of our class carries the finalizer and has exactly one balancer',
  left: 'a Service of another type carries no finalizer of ours, no address, and has no balancer',
  another: 'a Service that always was of another class has no balancer',
  status: 'status.loadBalancer of a Service is what the provider answers',
  content: 'a balancer has the ports of the Service and the nodes of this moment',
  orphans: 'no balancer is left of a Service that is gone, where the provider can list',
  gone: 'no node is left that is not Ready and whose machine is gone',
  initialised: 'a node whose machine is known carries providerID, addresses and labels, and no uninitialized taint',
  shutDown: 'a node is marked as shut down if it is not Ready and its machine is stopped, and not while it is Ready',
  others: 'taints, labels and conditions of others are on every node',
  routes:
    'each pod network of a node with a machine has exactly its route, and nothing else in the cluster’s networks has one',
  network: 'NetworkUnavailable says whether a node has its routes',
} as const

/** Asked of the control plane and of the cloud alone, with a simple idea of what is right. */
export function checkClusterEnd(world: SimClusterWorld, setting: KubernetesSetting, journal: Journal): void {
  const { cloud, owners, core, now } = world
  const balancersOf = (uid: string | undefined) => cloud.balancers.all().filter(({ identity }) => identity.uid === uid)
  const checker = createChecker(journal)
  for (const owner of owners.all()) {
    const balancers = balancersOf(owner.uid)
    if (owner.exists) checkService(owner, balancers, world, setting, checker)
    else checkGone(owner, balancers, world, setting, checker)
  }
  for (const body of cloud.balancers.bodies()) {
    const isPartOf = cloud.balancers.all().some((part) => part.body === body)
    checker('orphans', isPartOf, () => `${body.id} is nobody's`)
  }
  for (const node of listObjects<Node>(core, 'Node')) checkNode(node, world, setting, checker)
  checkRoutes(world, checker)
  checkLeases({ core, now }, journal, ({ kind, name }) => {
    const service = kind === 'Service' ? readObject<Service>(core, 'Service', name) : undefined
    const isServed = service && !isBeingDeleted(service) && classOf(service, setting) === 'ours'
    // Of one that is refused nobody asks what became of its create.
    const isKnown =
      isServed && hasFinalizer(service, SERVICE_FINALIZER) && !isRefused(service, balancersOf(service.metadata.uid))
    return isKnown ? service.metadata.uid : undefined
  })
}

type Checker = (invariant: keyof typeof CLUSTER_END_INVARIANTS, holds: boolean, detail: () => string) => void

function createChecker(journal: Journal): Checker {
  return (invariant, holds, detail) => {
    journal.checked(CLUSTER_END_INVARIANTS[invariant])
    if (!holds) journal.violated(CLUSTER_END_INVARIANTS[invariant], detail())
  }
}

function checkGone(
  owner: Owner,
  balancers: FakeServiceBalancer[],
  { cloud }: SimClusterWorld,
  setting: KubernetesSetting,
  check: Checker,
): void {
  const isUnknown = cloud
    .heldBalancers()
    .some((balancer) => isForgotten(balancer, setting) && balancer.identity.uid === owner.uid)
  // It is found by the list alone.
  const isLost = isUnknown || owner.stripped || classOf(owner.object as Service, setting) === 'another'
  if (!setting.cloud.lists && isLost) return
  check('orphans', balancers.length === 0, () => `Service ${owner.name}, uid ${owner.uid}`)
}

function checkService(
  owner: Owner,
  balancers: FakeServiceBalancer[],
  world: SimClusterWorld,
  setting: KubernetesSetting,
  check: Checker,
): void {
  const service = owner.object as Service
  const { name } = owner
  const held = hasFinalizer(service, SERVICE_FINALIZER)
  const belongs = classOf(service, setting)
  const found = () => `${name}: held ${held}, ${balancers.length} balancers`
  const isUnserved = () => !held && balancers.length === 0
  if (belongs === 'another') {
    if (!world.wasOurs(owner.uid)) check('another', balancers.length === 0, found)
  } else if (owner.deleting) {
    check('deleted', !held, () => name)
  } else if (belongs === 'inside') {
    if (setting.cloud.lists || !owner.stripped) check('left', isUnserved(), found)
    const isCleared = (service.status?.loadBalancer?.ingress ?? []).length === 0
    check('left', isCleared || owner.touched, () => `${name}: ${canonicalJson(service.status)}`)
  } else if (isRefused(service, balancers)) {
    check('served', balancers.length <= 1, found)
  } else {
    check('served', held && balancers.length === 1, found)
    for (const balancer of balancers) checkServed(service, balancer, world, setting, check)
  }
}

function checkServed(
  service: Service,
  balancer: FakeServiceBalancer,
  world: SimClusterWorld,
  setting: KubernetesSetting,
  check: Checker,
): void {
  const { name } = service.metadata
  const ingress = (service.status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip)
  check('status', sameJson(ingress, [balancer.address]), () => `${name}: ${ingress}, not ${balancer.address}`)
  checkContent(service, balancer, world, setting, check)
}

/** By us, or by the cloud: what serves goes on as it is. */
function isRefused({ metadata, spec }: Service, [balancer]: FakeServiceBalancer[]): boolean {
  const { annotations = {} } = metadata
  const isWrong = annotations[`${OPTION}algorithm`] === 'by-chance'
  const isInternal = annotations[`${OPTION}internal`] === 'true'
  return isWrong || (balancer !== undefined && balancer.internal !== isInternal) || spec?.ports === undefined
}

function checkContent(
  { metadata, spec }: Service,
  { made }: FakeServiceBalancer,
  { core }: SimClusterWorld,
  { cloud }: KubernetesSetting,
  check: Checker,
): void {
  const selects = metadata.annotations?.[`${OPTION}node-selector`] !== undefined
  const backends = listObjects<Node>(core, 'Node').filter(
    (node) =>
      !isBeingDeleted(node) &&
      node.metadata.labels?.['node.kubernetes.io/exclude-from-external-load-balancers'] === undefined &&
      (!selects || node.metadata.labels?.['team'] === 'edge'),
  )
  const hosts = backends.flatMap((node) => {
    const address = node.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address
    const where = cloud.target === 'instance' ? (node.spec?.providerID ?? '') : address
    return where === undefined ? [] : [`${node.metadata.name}=${where}`]
  })
  const fronts = (spec?.ports ?? []).map(({ protocol, port, nodePort }) => `${protocol} ${port} → ${nodePort}`)
  const wanted = { ports: fronts, hosts: hosts.sort(), settings: spec === undefined ? [] : idle(metadata.annotations) }
  const served = {
    ports: made.ports,
    hosts: made.hosts.toSorted(),
    settings: made.settings.filter((setting) => setting.startsWith('idle')),
  }
  check(
    'content',
    sameJson(wanted, served),
    () => `${metadata.name}: ${canonicalJson(served)}, not ${canonicalJson(wanted)}`,
  )
}

function idle(annotations: Readonly<Record<string, string>> = {}): string[] {
  const seconds = annotations[`${OPTION}idle-timeout`]
  return seconds === undefined ? [] : [`idle-timeout=${seconds}`]
}

function checkNode(node: Node, { cloud, now }: SimClusterWorld, { refreshLabels }: KubernetesSetting, check: Checker) {
  const { name, labels = {}, creationTimestamp } = node.metadata
  const { taints = [], providerID } = node.spec ?? {}
  check(
    'others',
    taints.some(({ key }) => key === FOREIGN_TAINT.key) &&
      labels['kubernetes.io/hostname'] === name &&
      conditionOf(node, PRESSURE.type)?.status === PRESSURE.status,
    () => canonicalJson(node),
  )
  if (isBeingDeleted(node)) return
  const machine = machineOf(node, cloud.machines.all())
  const isYoung = Date.parse(creationTimestamp ?? '') > now() - NEW_NODE_GRACE_MS
  check('gone', isReady(node) || machine !== undefined || isYoung, () => name)
  const isMarked = isMarkedShutDown(node)
  if (isReady(node)) check('shutDown', !isMarked, () => name)
  else if (machine?.state === 'stopped') check('shutDown', isMarked, () => name)
  if (machine === undefined) return
  check('initialised', !isUninitialized(node), () => `${name}: ${canonicalJson(taints)}`)
  const addresses = () => `${name}: ${canonicalJson(node.status?.addresses)}, not ${canonicalJson(machine.addresses)}`
  check('initialised', sameJson(node.status?.addresses, machine.addresses), addresses)
  if (labels['example.com/rack'] === undefined) return
  // Only what was initialised by us carries what machines have beyond the common traits.
  check('initialised', providerID === `fake://${machine.id}`, () => `${name}: ${providerID}, not ${machine.id}`)
  const missing = TRAITS.filter((label) => labels[label] === undefined)
  check('initialised', missing.length === 0, () => `${name}: without ${missing}`)
  const type = labels['node.kubernetes.io/instance-type']
  if (refreshLabels) check('initialised', type === machine.type, () => `${name}: ${type}, not ${machine.type}`)
}

function machineOf({ metadata, spec }: Node, machines: readonly FakeMachine[]): FakeMachine | undefined {
  const living = machines.filter(({ state }) => state !== 'terminated')
  if (spec?.providerID) return living.find(({ id }) => `fake://${id}` === spec.providerID)
  return living.find(({ name }) => name === metadata.name)
}

function checkRoutes({ core, cloud }: SimClusterWorld, check: Checker): void {
  const living = cloud.machines.all().filter(({ state }) => state !== 'terminated')
  const nodes = listObjects<Node>(core, 'Node')
  const wanted = nodes.flatMap(({ metadata, spec }) => {
    const machine = living.find(({ name }) => name === metadata.name)
    return machine === undefined ? [] : (spec?.podCIDRs ?? []).map((cidr) => `${cidr} → ${machine.id}`)
  })
  const made = cloud.routes
    .all()
    .filter(({ cluster, destinationCIDR }) => cluster === CLUSTER_NAME && !isOutside(destinationCIDR))
    .map(({ destinationCIDR, nextHop }) => `${destinationCIDR} → ${nextHop}`)
  check('routes', sameJson(made.toSorted(), wanted.toSorted()), () => `${made}, not ${wanted}`)
  for (const node of nodes.filter(({ spec }) => spec?.podCIDRs !== undefined)) {
    const isRouted = living.some(({ name }) => name === node.metadata.name)
    const said = conditionOf(node, 'NetworkUnavailable')?.status
    check('network', said === (isRouted ? 'False' : 'True'), () => `${node.metadata.name}: ${said}, routed ${isRouted}`)
  }
}
