import { canonicalJson } from '../../src/domain/canonical-json.ts'
import type { Kind } from '../../src/domain/kinds.ts'
import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import type { Decisions } from './decisions.ts'
import type { Action, Setting, UserAction } from './history.ts'
import type { Mutation } from './mutation.ts'
import { playHistory } from './play-history.ts'
import { listObjects } from './sim-objects.ts'
import type { SimWorld } from './sim-world.ts'

/** What is done, and what was done before it. */
export interface Scenario {
  title: string
  before: UserAction[]
  action: UserAction
  setting?: Partial<Setting>
}

export const SCENARIOS: readonly Scenario[] = [
  { title: 'create an ingress', before: [], action: { do: 'create', name: 'web-a', as: 'ours' } },
  { title: 'create a service', before: [], action: { do: 'create', name: 'game', as: 'ours' } },
  {
    title: 'update an ingress',
    before: [{ do: 'create', name: 'web-a', as: 'ours' }],
    action: { do: 'spec', name: 'web-a', value: 2 },
  },
  {
    title: 'update a service',
    before: [{ do: 'create', name: 'game', as: 'ours' }],
    action: { do: 'annotate', name: 'game', value: 2 },
  },
  {
    title: 'delete an ingress',
    before: [{ do: 'create', name: 'web-a', as: 'ours' }],
    action: { do: 'delete', name: 'web-a' },
  },
  {
    title: 'delete a service',
    before: [{ do: 'create', name: 'game', as: 'ours' }],
    action: { do: 'delete', name: 'game' },
  },
  {
    title: 'take the type away',
    before: [{ do: 'create', name: 'game', as: 'ours' }],
    action: { do: 'class', name: 'game', to: 'another' },
  },
  {
    title: 'give the type back',
    before: [
      { do: 'create', name: 'game', as: 'ours' },
      { do: 'class', name: 'game', to: 'another' },
    ],
    action: { do: 'class', name: 'game', to: 'ours' },
  },
  {
    title: 'change the class to another’s',
    before: [{ do: 'create', name: 'web-a', as: 'ours' }],
    action: { do: 'class', name: 'web-a', to: 'another' },
  },
  {
    title: 'take an ingress over',
    before: [],
    action: { do: 'create', name: 'web-a', as: 'claimed' },
    setting: { takeOver: true },
  },
  {
    title: 'take a service over',
    before: [],
    action: { do: 'create', name: 'game', as: 'claimed' },
    setting: { takeOver: true },
  },
  {
    title: 'delete what is taken over',
    before: [{ do: 'create', name: 'web-a', as: 'claimed' }],
    action: { do: 'delete', name: 'web-a' },
    setting: { takeOver: true },
  },
  {
    title: 'create an ingress with its exports',
    before: [],
    action: { do: 'create', name: 'web-a', as: 'ours' },
    setting: { propagation: true },
  },
]

export const WORLDS: readonly { title: string; setting: Pick<Setting, 'instances' | 'lock'> }[] = [
  { title: 'one instance, no Lease', setting: { instances: 1, lock: 'process' } },
  { title: 'two instances, Leases', setting: { instances: 2, lock: 'lease' } },
]

/** How the process dies, and what becomes of what it has sent. */
const DEATHS = [
  { title: 'what was sent is lost', lands: 'never' },
  { title: 'what was sent lands', lands: 'all' },
] as const

export interface Row {
  scenario: string
  world: string
  steps: number
  kills: number
  /** Kills after which the world came to rest in another state, or in none. */
  differences: string[]
}

const BASE: Setting = {
  instances: 1,
  lock: 'process',
  skewsMs: [0, 0],
  cloud: { latencyMs: 0, delayMs: 0, flapMs: 0, windowMs: 12_000, lists: true },
  takeOver: false,
  propagation: false,
}

/** Kills whoever lives at every step from the action until all is quiet, once each way, and compares how it ends. */
export async function crashRow(
  scenario: Scenario,
  world: (typeof WORLDS)[number],
  mutation: Mutation = {},
): Promise<Row> {
  const setting = { ...BASE, ...world.setting, ...scenario.setting }
  const calm = await play(scenario, setting, undefined, mutation)
  const row: Row = { scenario: scenario.title, world: world.title, steps: calm.steps, kills: 0, differences: [] }
  if (calm.violation !== undefined) row.differences.push(`without a kill: ${calm.violation}`)
  for (let step = 0; step <= calm.steps; step += 1) {
    for (const { title, lands } of DEATHS) {
      const crashed = await play(scenario, setting, { step, lands }, mutation)
      row.kills += 1
      if (crashed.violation !== undefined) row.differences.push(`step ${step}, ${title}: ${crashed.violation}`)
      else if (crashed.end !== calm.end) row.differences.push(`step ${step}, ${title}: ${crashed.end}, not ${calm.end}`)
    }
  }
  return row
}

/** Every scenario in every world. */
export async function crashMatrix(onRow: (row: Row) => void): Promise<Row[]> {
  const rows: Row[] = []
  for (const world of WORLDS) {
    for (const scenario of SCENARIOS) {
      const row = await crashRow(scenario, world)
      rows.push(row)
      onRow(row)
    }
  }
  return rows
}

export function formatRow({ scenario, world, steps, kills, differences }: Row): string {
  const counts = [
    `${steps} steps`.padStart(9),
    `${kills} kills`.padStart(10),
    `${differences.length} differ`.padStart(9),
  ]
  return `${counts.join('')}  ${scenario}, ${world}`
}

export function formatSize(rows: readonly Row[]): string {
  const kills = rows.reduce((sum, row) => sum + row.kills, 0)
  return `crash matrix: ${SCENARIOS.length} scenarios × ${WORLDS.length} worlds × every step × ${DEATHS.length} deaths = ${kills} kills`
}

interface Kill {
  step: number
  lands: 'never' | 'all'
}

interface End {
  /** From the action until nothing was left to do. */
  steps: number
  violation: string | undefined
  end: string
}

/** Everything before comes to rest; then the action; then, at its step, the kill of every instance. */
async function play(
  { before, action }: Scenario,
  setting: Setting,
  kill: Kill | undefined,
  mutation: Mutation,
): Promise<End> {
  const upcoming: Action[] = [...before.flatMap((earlier) => [earlier, { do: 'pause', ms: 120_000 } as const]), action]
  let begun: number | undefined
  let ended: number | undefined
  let killed = 0
  const nothing = () => undefined
  const decisions: Decisions = {
    setting,
    pick: () => 0,
    api: nothing,
    cloud: nothing,
    review: nothing,
    action(at, { must }) {
      const next = upcoming.length > 1 || begun === undefined ? upcoming.shift() : undefined
      if (next !== undefined) {
        if (upcoming.length === 0) begun = at
        return next
      }
      if (kill !== undefined && killed < setting.instances && at >= (begun ?? 0) + kill.step) {
        killed += 1
        return { do: 'kill', instance: killed - 1, restartMs: 0, lands: kill.lands }
      }
      if (!must && (kill === undefined || killed < setting.instances)) return undefined
      ended ??= at
      return 'end'
    },
  }
  let end = ''
  const played = await playHistory(decisions, {
    mutation,
    atRest(world) {
      end = stateOf(world, setting)
    },
  })
  return { steps: (ended ?? 0) - (begun ?? 0), violation: played.violation, end }
}

/** Everything that users and clouds can see, without what is new each time. */
function stateOf({ core, cloud, owners }: SimWorld, { propagation }: Setting): string {
  const kinds: Kind[] = ['MultiClusterIngress', 'MultiClusterService']
  if (propagation) kinds.push('ServiceExport', 'PropagationPolicy', 'ClusterPropagationPolicy')
  const objects = kinds.flatMap((kind) => listObjects<KubernetesObject>(core, kind).map(visible))
  const balancers = cloud.balancers().map(({ identity, fingerprint, spec, annotations, addresses, parts }) => ({
    owner: `${identity.kind}/${identity.name}`,
    isOwned: owners.get(identity.uid)?.exists ?? false,
    fingerprint,
    spec,
    annotations,
    addresses,
    parts,
  }))
  return canonicalJson({ objects, balancers })
}

function visible(object: KubernetesObject): unknown {
  const { metadata, ...rest } = object
  const { name, finalizers, labels, annotations, deletionTimestamp } = metadata
  const isLeaving = deletionTimestamp !== undefined
  const text = JSON.stringify({ ...rest, metadata: { name, finalizers, labels, annotations, isLeaving } })
  return JSON.parse(text.replace(/"lastTransitionTime":"[^"]*"/g, '"lastTransitionTime":""'))
}
