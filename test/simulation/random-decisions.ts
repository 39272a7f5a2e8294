import { decideRandomly, type HistoryTemper, type RandomDecisions } from './decide-randomly.ts'
import type { Moment } from './decisions.ts'
import type { Action, BalancedName, ChaosAction, Setting, UserAction } from './history.ts'
import { createPrng, type Prng } from './prng.ts'

interface Temper extends HistoryTemper {
  chaos: number
  names: readonly [BalancedName, ...BalancedName[]]
}

/** Anything that can go wrong over clusters, by one seed. */
export function randomDecisions(seed: number): RandomDecisions {
  const prng = createPrng(seed)
  const setting = randomSetting(prng)
  const temper = randomTemper(prng)
  return decideRandomly({
    seed,
    prng,
    setting,
    temper,
    windowMs: setting.cloud.windowMs,
    nextAction({ isFirst, interferes }, moment) {
      if (isFirst) return createOne(prng, temper)
      return interferes ? interference(prng, temper) : randomAction(prng, temper, setting, moment)
    },
  })
}

function randomSetting(prng: Prng): Setting {
  const instances = prng.choose([
    [3, 1],
    [4, 2],
    [3, 3],
  ] as const)
  const lock = instances === 1 && prng.chance(0.7) ? 'process' : 'lease'
  return {
    instances,
    lock,
    skewsMs: Array.from({ length: instances }, () => (prng.chance(0.5) ? 0 : prng.integer(6_001) - 3_000)),
    cloud: {
      latencyMs: prng.pick([0, 0, 300]),
      delayMs: prng.pick([0, 0, 0, 3_000]),
      flapMs: prng.pick([0, 0, 4_000]),
      windowMs: prng.pick([0, 12_000]),
      lists: prng.chance(0.9),
    },
    takeOver: prng.chance(0.1),
    propagation: prng.chance(0.1),
  }
}

function randomTemper(prng: Prng): Temper {
  return {
    actions: 3 + prng.integer(40),
    actionChance: prng.pick([0.02, 0.06, 0.15]),
    interference: prng.pick([0, 0.05, 0.2]),
    disorder: prng.pick([0, 0.3, 0.8]),
    apiFaults: prng.pick([0, 0.02, 0.06]),
    cloudFaults: prng.pick([0, 0.08, 0.25]),
    reviewFaults: prng.pick([0, 0.1, 0.4]),
    chaos: prng.pick([0, 0.3, 0.6]),
    names: prng.choose<readonly [BalancedName, ...BalancedName[]]>([
      [4, ['web-a']],
      [2, ['game']],
      [2, ['web-a', 'game']],
      [1, ['web-a', 'web-b', 'game']],
    ]),
  }
}

function randomOrigin(prng: Prng, { takeOver }: Setting): 'ours' | 'default' | 'another' | 'foreign' | 'claimed' {
  if (takeOver && prng.chance(0.5)) return 'claimed'
  return prng.pick(['ours', 'ours', 'ours', 'ours', 'default', 'another', 'foreign'])
}

function createOne(prng: Prng, { names }: Temper): Action {
  return { do: 'create', name: prng.pick(names), as: prng.chance(0.8) ? 'ours' : 'claimed' }
}

function randomAction(prng: Prng, temper: Temper, setting: Setting, { busy, absent }: Moment): Action {
  const missing = temper.names.filter((name) => absent.includes(name))
  if (missing.length > 0 && prng.chance(0.5))
    return { do: 'create', name: missing[0] ?? 'web-a', as: randomOrigin(prng, setting) }
  return prng.chance(temper.chaos) ? randomChaos(prng, temper, setting, busy) : randomUser(prng, temper)
}

const service = (prng: Prng) => prng.pick(['web', 'web', 'game'] as const)
const cluster = (prng: Prng) => prng.pick(['edge-a', 'edge-b'] as const)

function randomUser(prng: Prng, { names }: Temper): UserAction {
  const name = prng.pick(names)
  const make = prng.choose<() => UserAction>([
    [2, () => ({ do: 'create', name, as: prng.pick(['ours', 'ours', 'ours', 'default', 'another', 'foreign']) })],
    [6, () => ({ do: 'spec', name, value: prng.integer(4) })],
    [4, () => ({ do: 'annotate', name, value: prng.integer(4) })],
    [2, () => ({ do: 'label', name, value: prng.integer(4) })],
    [10, () => ({ do: 'class', name, to: prng.pick(['ours', 'ours', 'another', 'another', 'default', 'missing']) })],
    [6, () => ({ do: 'delete', name })],
    [2, () => ({ do: 'strip', name })],
    [2, () => ({ do: 'vanish', name })],
    [4, () => ({ do: 'foreignFinalizer', name, how: prng.pick(['first', 'last', 'none']) })],
    [3, () => ({ do: 'status', name, how: prng.pick(['wrong', 'cleared', 'foreign']) })],
    [
      4,
      () => ({
        do: 'ingressClass',
        which: prng.pick(['ours', 'second']),
        how: prng.pick(['present', 'absent', 'default']),
      }),
    ],
    [3, () => ({ do: 'slice', service: service(prng), cluster: cluster(prng), hosts: prng.integer(3) })],
    [2, () => ({ do: 'binding', service: service(prng), clusters: prng.integer(3) })],
    [2, () => ({ do: 'service', service: service(prng), how: prng.pick(['present', 'absent', 'annotated']) })],
    [2, () => ({ do: 'cluster', cluster: cluster(prng), blocked: prng.chance(0.5), told: prng.chance(0.5) })],
  ])
  return make()
}

/** What hurts most while somebody works on the object. */
function interference(prng: Prng, { names }: Temper): Action {
  const name = prng.pick(names)
  const make = prng.choose<() => Action>([
    [4, () => ({ do: 'vanish', name })],
    [3, () => ({ do: 'delete', name })],
    [1, () => ({ do: 'strip', name })],
    [5, () => ({ do: 'foreignFinalizer', name, how: prng.pick(['first', 'first', 'last', 'none']) })],
    [3, () => ({ do: 'class', name, to: prng.pick(['ours', 'another']) })],
    [2, () => ({ do: 'spec', name, value: prng.integer(4) })],
  ])
  return make()
}

const LONG_MS = [300, 8_000, 25_000, 40_000] as const

function randomChaos(prng: Prng, { names }: Temper, { instances }: Setting, busy: readonly number[]): ChaosAction {
  const [holder] = busy
  const instance = holder !== undefined && prng.chance(0.7) ? holder : prng.integer(instances)
  const make = prng.choose<() => ChaosAction>([
    [4, () => ({ do: 'kill', instance, restartMs: prng.pick([0, 500, 30_000]), lands: prng.integer(1_000_000) })],
    [instances > 1 ? 5 : 1, () => ({ do: 'freeze', instance, ms: prng.pick(LONG_MS) })],
    [4, () => cloudEvent(prng, names, instance)],
    [3, () => ({ do: 'sweep', instance, scope: prng.pick(['all', 'pending']) })],
    [1, () => ({ do: 'compact' })],
    [4, () => ({ do: 'pause', ms: prng.pick([60, 1_000, 6_000, 25_000, 70_000]) })],
  ])
  return make()
}

function cloudEvent(prng: Prng, names: Temper['names'], instance: number): ChaosAction {
  const name = prng.pick(names)
  const kind = name === 'game' ? 'MultiClusterService' : 'MultiClusterIngress'
  return { do: 'cloudEvent', instance, kind, name, operation: prng.pick(['CREATE', 'UPDATE', 'DELETE']) }
}
