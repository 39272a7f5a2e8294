import t from 'tap'
import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import type { MultiClusterIngress } from '../../src/domain/multi-cluster-ingress.ts'
import type { MultiClusterService } from '../../src/domain/multi-cluster-service.ts'
import { buildReview } from '../support/api-callers.ts'
import { describeBackends } from '../support/describe-backends.ts'
import { type KarmadaCase, loadKarmadaCases } from '../support/karmada-cases.ts'
import { act, beginStory, type Change, nameOf, stored, subjectsOf, targetOf, tell } from '../support/karmada-story.ts'
import type { World } from '../support/world.ts'
import type { KarmadaExpectation } from './karmada-expectation.ts'
import { KARMADA_EXPECTATIONS, ONLY_WITHOUT_WEBHOOK } from './karmada-expectations.ts'

// The same history through any door, shuffled, doubled and with losses, followed by sweeps, ends in the same world;
// addresses aside. `WCP_HISTORY_SEEDS=40 tap …` plays more of them.

const SEEDS = Number(process.env['WCP_HISTORY_SEEDS'] ?? 2)
const cases = loadKarmadaCases()

t.test('any history', { skip: cases === undefined && 'the cases are not there' }, async (t) => {
  for (const expectation of KARMADA_EXPECTATIONS) {
    const found = cases?.find(({ id }) => id === expectation.id)
    if (found === undefined || expectation.stages.some(({ step }) => step === 'refused')) continue
    await t.test(found.name, async (t) => {
      const quiet = await play(found, expectation, undefined)
      for (let seed = 1; seed <= SEEDS; seed += 1) {
        t.strictSame(await play(found, expectation, found.id * 1_000 + seed), quiet, `seed ${found.id * 1_000 + seed}`)
      }
    })
  }
})

/** What the world is in the end. Without a seed nobody tells the function of anything. */
async function play(found: KarmadaCase, expectation: KarmadaExpectation, seed: number | undefined) {
  const random = seed === undefined ? undefined : createRandom(seed)
  const isReviewable = expectation.stages.every(({ doors }) => doors.notify !== ONLY_WITHOUT_WEBHOOK)
  const story = beginStory(found, expectation, { reviewed: (random?.chance(0.5) ?? false) && isReviewable })
  const { world } = story
  const past: Change[] = []
  for (const stage of story.stages) {
    if (random?.chance(0.5)) await announce(world, story.withheld, random)
    const changes = await act(story, stage)
    past.push(...subjectsOf(story, stage, changes), ...changes)
    if (random !== undefined) await gossip(world, past, random)
    await world.clock.advance(stage.waitMs ?? 0)
  }
  for (let round = 0; round < 3; round += 1) {
    await tell(world, 'sweep', [])
    await world.clock.advance(120_000)
  }
  return portrait(world)
}

interface Random {
  chance(probability: number): boolean
  below(limit: number): number
}

function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return { chance: (probability) => next() < probability, below: (limit) => Math.floor(next() * limit) }
}

/** Reviews of what is about to be stored, as an API server sends them; perhaps twice, perhaps in vain. */
async function announce(
  world: World,
  withheld: readonly { operation: string; object: KubernetesObject }[],
  random: Random,
): Promise<void> {
  for (const { operation, object } of withheld) {
    if (operation !== 'CREATE') continue
    const review = buildReview('CREATE', { object: object as never })
    for (let times = random.below(3); times > 0; times -= 1) await world.http('POST', '/admission/notify', review)
    await world.clock.advance(random.below(3_000))
  }
}

/** Some of what has happened, and some of what has not, in any order, through any door. */
async function gossip(world: World, past: readonly Change[], random: Random): Promise<void> {
  const doors = ['reviews', 'cloudEvents', 'references', 'sweep'] as const
  for (let events = random.below(8); events > 0; events -= 1) {
    const change = past[random.below(past.length)]
    if (change === undefined) return
    const forged = random.chance(0.15)
    const operation = forged ? (['CREATE', 'UPDATE', 'DELETE'] as const)[random.below(3)] : change.operation
    const door = doors[random.below(doors.length)] ?? 'sweep'
    await tell(world, door, [{ ...change, operation: operation ?? change.operation }], true)
    await world.clock.advance(random.chance(0.5) ? 0 : random.below(20_000))
  }
}

// ---- the world, without what may differ ----

const KINDS = [
  'MultiClusterIngress',
  'MultiClusterService',
  'ServiceExport',
  'PropagationPolicy',
  'ClusterPropagationPolicy',
] as const

function portrait(world: World) {
  const objects = KINDS.flatMap((kind) => world.core.list(targetOf(kind, '')).items)
  const balancers = world.balancers().map(({ kind, namespace, name, uid }) => {
    const key = `${kind}/${namespace}/${name}`
    const last = world.handed.findLast(
      ({ method, context }) =>
        (method === 'ensure' || method === 'update') && context.identity.uid === uid && context.identity.name === name,
    )
    return [key, stored(world, key)?.metadata.uid === uid, last && describeBackends(last.context.backends)]
  })
  return {
    objects: objects.map((object) => [nameOf(object), object['spec'], object.metadata.finalizers, statusOf(object)]),
    balancers: balancers.toSorted((a, b) => String(a[0]).localeCompare(String(b[0]))),
    waiting: world.runtime.queue.size(),
  }
}

function statusOf(object: KubernetesObject) {
  const { status } = object as MultiClusterIngress & MultiClusterService
  if (status === undefined) return undefined
  const { loadBalancer, conditions, ...rest } = status
  return {
    ...rest,
    addresses: (loadBalancer?.ingress ?? []).map(({ ip, hostname, ...entry }) => ({
      ...entry,
      named: hostname !== undefined,
    })),
    conditions: (conditions ?? []).map(({ type, status, reason }) => [type, status, reason]),
  }
}
