import { decideRandomly, type HistoryTemper, type RandomDecisions } from '../decide-randomly.ts'
import type { Moment } from '../decisions.ts'
import type { ChaosAction } from '../history.ts'
import { createPrng, type Prng } from '../prng.ts'
import type { KubernetesAction, KubernetesSetting, KubernetesUserAction, NodeNumber, ServiceName } from './history.ts'
import { nameOf, OWN_CLASS } from './sim-cluster.ts'

type Annotating = Extract<KubernetesUserAction, { do: 'annotate' }>['how']

interface Temper extends HistoryTemper {
  chaos: number
  services: readonly ServiceName[]
  nodes: readonly NodeNumber[]
}

/** Anything that can go wrong with one cluster and its cloud, by one seed. */
export function randomClusterDecisions(seed: number): RandomDecisions<KubernetesSetting, KubernetesAction> {
  const prng = createPrng(seed)
  const setting = randomSetting(prng)
  const temper = randomTemper(prng)
  let begun = 0
  return decideRandomly<KubernetesSetting, KubernetesAction>({
    seed,
    prng,
    setting,
    temper,
    windowMs: setting.cloud.windowMs,
    nextAction({ interferes }, moment) {
      begun += 1
      if (begun <= temper.services.length + temper.nodes.length) return createOne(begun - 1, prng, temper)
      if (interferes) return interference(prng, temper)
      return randomAction(prng, temper, setting, moment)
    },
  })
}

function randomSetting(prng: Prng): KubernetesSetting {
  const instances = prng.choose([
    [3, 1],
    [4, 2],
    [2, 3],
  ] as const)
  const lock = instances === 1 && prng.chance(0.7) ? 'process' : 'lease'
  return {
    instances,
    lock,
    skewsMs: Array.from({ length: instances }, () => (prng.chance(0.5) ? 0 : prng.integer(6_001) - 3_000)),
    cloud: {
      latencyMs: prng.pick([0, 0, 300]),
      delayMs: prng.pick([0, 0, 0, 3_000]),
      windowMs: prng.pick([0, 12_000]),
      lists: prng.chance(0.9),
      form: prng.chance(0.75) ? 'newest' : '2019',
      target: prng.chance(0.7) ? 'instance' : 'address',
    },
    ...(prng.chance(0.2) && { loadBalancerClass: OWN_CLASS }),
    nodeStatus: prng.chance(0.4),
    refreshLabels: prng.chance(0.3),
  }
}

function randomTemper(prng: Prng): Temper {
  return {
    actions: 4 + prng.integer(36),
    actionChance: prng.pick([0.02, 0.06, 0.15]),
    interference: prng.pick([0, 0.05, 0.2]),
    disorder: prng.pick([0, 0.3, 0.8]),
    apiFaults: prng.pick([0, 0.02, 0.06]),
    cloudFaults: prng.pick([0, 0.08, 0.25]),
    reviewFaults: prng.pick([0, 0.1, 0.4]),
    chaos: prng.pick([0, 0.3, 0.5]),
    ...prng.choose<Pick<Temper, 'services' | 'nodes'>>([
      [4, { services: ['web'], nodes: [] }],
      [3, { services: [], nodes: [1] }],
      [2, { services: [], nodes: [1, 2] }],
      [4, { services: ['web'], nodes: [1] }],
      [2, { services: ['web', 'api'], nodes: [1, 2] }],
      [1, { services: ['web', 'api'], nodes: [1, 2, 3] }],
    ]),
  }
}

function createOne(index: number, prng: Prng, { services, nodes }: Temper): KubernetesAction {
  const node = nodes[index]
  return node === undefined ? randomCreate(services[index - nodes.length] ?? 'web', prng) : randomJoin(node, prng)
}

function randomCreate(service: ServiceName, prng: Prng): KubernetesUserAction {
  return { do: 'create', service, as: prng.pick(['ours', 'ours', 'ours', 'ours', 'another', 'inside', 'foreign']) }
}

function randomJoin(node: NodeNumber, prng: Prng): KubernetesUserAction {
  return {
    do: 'join',
    node,
    as: prng.pick(['tainted', 'tainted', 'tainted', 'tainted', 'known', 'bare']),
    machine: prng.pick(['there', 'there', 'there', 'late', 'none']),
  }
}

function randomAction(
  prng: Prng,
  temper: Temper,
  setting: KubernetesSetting,
  { busy, absent }: Moment,
): KubernetesAction {
  const services = temper.services.filter((name) => absent.includes(name))
  const nodes = temper.nodes.filter((number) => absent.includes(nameOf(number)))
  if (services[0] !== undefined && prng.chance(0.3)) return randomCreate(services[0], prng)
  if (nodes[0] !== undefined && prng.chance(0.3)) return randomJoin(nodes[0], prng)
  return prng.chance(temper.chaos) ? randomChaos(prng, temper, setting, busy) : randomUser(prng, temper)
}

function randomUser(prng: Prng, temper: Temper): KubernetesUserAction {
  const { services, nodes } = temper
  const all = services.length + nodes.length
  return prng.integer(all) < services.length ? onService(prng, services) : onNode(prng, nodes)
}

/** What hurts most while somebody works on the object. */
function interference(prng: Prng, { services, nodes }: Temper): KubernetesUserAction {
  if (prng.integer(services.length + nodes.length) >= services.length) {
    const node = nodes[prng.integer(nodes.length)] ?? 1
    const make = prng.choose<() => KubernetesUserAction>([
      [4, () => ({ do: 'say', node, ready: prng.chance(0.6) })],
      [2, () => ({ do: 'leave', node })],
      [3, () => ({ do: 'mark', node, with: prng.pick(['taint', 'cloudTaint', 'finalizer', 'network']) })],
      [2, () => ({ do: 'machine', node, how: prng.pick(['stops', 'vanishes', 'moves']) })],
    ])
    return make()
  }
  const service = services[prng.integer(services.length)] ?? 'web'
  const make = prng.choose<() => KubernetesUserAction>([
    [4, () => ({ do: 'vanish', service })],
    [3, () => ({ do: 'delete', service })],
    [1, () => ({ do: 'strip', service })],
    [5, () => ({ do: 'foreignFinalizer', service, how: prng.pick(['first', 'first', 'last', 'none']) })],
    [4, () => ({ do: 'type', service, to: prng.pick(['ours', 'inside', 'another']) })],
    [2, () => ({ do: 'ports', service, value: prng.integer(4) })],
  ])
  return make()
}

function onService(prng: Prng, services: readonly ServiceName[]): KubernetesUserAction {
  const service = services[prng.integer(services.length)] ?? 'web'
  const make = prng.choose<() => KubernetesUserAction>([
    [5, () => ({ do: 'ports', service, value: prng.integer(4) })],
    [5, () => ({ do: 'annotate', service, how: prng.pick<Annotating>(['none', 'selects', 'wrong', 'rebuild', 1, 2]) })],
    [2, () => ({ do: 'label', service, value: prng.integer(4) })],
    [10, () => ({ do: 'type', service, to: prng.pick(['ours', 'ours', 'inside', 'inside', 'another']) })],
    [6, () => ({ do: 'delete', service })],
    [2, () => ({ do: 'strip', service })],
    [2, () => ({ do: 'vanish', service })],
    [4, () => ({ do: 'foreignFinalizer', service, how: prng.pick(['first', 'last', 'none']) })],
    [3, () => ({ do: 'status', service, how: prng.pick(['wrong', 'cleared']) })],
    [2, () => ({ do: 'balancer', service, how: prng.pick(['removed', 'changed']) })],
  ])
  return make()
}

function onNode(prng: Prng, nodes: readonly NodeNumber[]): KubernetesUserAction {
  const node = nodes[prng.integer(nodes.length)] ?? 1
  const make = prng.choose<() => KubernetesUserAction>([
    [9, () => ({ do: 'say', node, ready: prng.chance(0.4) })],
    [
      9,
      () => ({
        do: 'machine',
        node,
        how: prng.pick(['appears', 'stops', 'starts', 'vanishes', 'vanishes', 'moves', 'changes']),
      }),
    ],
    [3, () => ({ do: 'leave', node })],
    [5, () => ({ do: 'podCidr', node, from: prng.integer(5), families: prng.chance(0.7) ? 1 : 2 })],
    [
      7,
      () => ({
        do: 'mark',
        node,
        with: prng.pick([
          'taint',
          'cloudTaint',
          'shutdownTaint',
          'exclusion',
          'team',
          'zone',
          'finalizer',
          'network',
          'nothing',
        ]),
      }),
    ],
    [4, () => ({ do: 'route', node, how: prng.pick(['removed', 'stray', 'outside', 'foreign']) })],
  ])
  return make()
}

const LONG_MS = [300, 8_000, 25_000, 40_000] as const

function randomChaos(
  prng: Prng,
  temper: Temper,
  { instances }: KubernetesSetting,
  busy: readonly number[],
): ChaosAction {
  const [holder] = busy
  const instance = holder !== undefined && prng.chance(0.7) ? holder : prng.integer(instances)
  const make = prng.choose<() => ChaosAction>([
    [4, () => ({ do: 'kill', instance, restartMs: prng.pick([0, 500, 30_000]), lands: prng.integer(1_000_000) })],
    [instances > 1 ? 5 : 1, () => ({ do: 'freeze', instance, ms: prng.pick(LONG_MS) })],
    [4, () => cloudEvent(prng, temper, instance)],
    [
      5,
      () => ({
        do: 'sweep',
        instance,
        scope: prng.pick(['all', 'pending', 'services', 'nodes', 'pending-nodes', 'routes']),
      }),
    ],
    [1, () => ({ do: 'compact' })],
    [4, () => ({ do: 'pause', ms: prng.pick([60, 1_000, 6_000, 25_000, 70_000]) })],
  ])
  return make()
}

function cloudEvent(prng: Prng, { services, nodes }: Temper, instance: number): ChaosAction {
  const names = [
    ...services.map((name) => ({ kind: 'Service' as const, name })),
    ...nodes.map((number) => ({ kind: 'Node' as const, name: nameOf(number) })),
  ]
  const { kind, name } = names[prng.integer(names.length)] ?? { kind: 'Service', name: 'web' }
  return { do: 'cloudEvent', instance, kind, name, operation: prng.pick(['CREATE', 'UPDATE', 'DELETE']) }
}
