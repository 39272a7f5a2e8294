import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { CatalogueError } from '../../src/domain/catalogue-error.ts'
import { conditionOf, isReady, type Node } from '../../src/domain/node.ts'
import { isMarkedShutDown, isUninitialized } from '../../src/domain/nodes/node-taints.ts'
import type { SweepScope } from '../../src/domain/sweep-report.ts'
import type { ClusterStore } from '../../src/ports/cluster-store.ts'
import { buildJoiningNode, buildMachine, NOT_READY, READY } from '../support/build-nodes.ts'
import { createNodeWorld, type NodeWorld } from '../support/node-world.ts'

// Whatever happens to nodes and their machines, and however little of it is told: what the sweeps leave is the same.

const NUMBERS = [1, 2, 3]
const FOREIGN = { key: 'dedicated', value: 'x', effect: 'NoExecute' }
const PRESSURE = { type: 'MemoryPressure', status: 'False', reason: 'KubeletHasSufficientMemory' }

type Step =
  | { do: 'join' | 'rejoin' | 'leave' | 'vanish' | 'stop' | 'start' | 'appear'; number: number }
  | { do: 'say'; number: number; ready: boolean }
  | { do: 'wait'; ms: number }
  | { do: 'sweep'; scope: 'pending-nodes' | 'nodes' | 'routes' | 'all' }

const number = fc.constantFrom(...NUMBERS)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constantFrom('join', 'rejoin', 'leave', 'vanish', 'stop', 'start', 'appear'),
    number,
  }) as fc.Arbitrary<Step>,
  fc.record({ do: fc.constant('say' as const), number, ready: fc.boolean() }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 120_000 }) }),
  fc.record({
    do: fc.constant('sweep' as const),
    scope: fc.constantFrom('pending-nodes' as const, 'nodes' as const, 'routes' as const, 'all' as const),
  }),
)
/** How each step is told: not at all, once, twice. */
const told = fc.constantFrom('lost', 'review', 'event', 'both')
const history = fc.record({
  steps: fc.array(fc.tuple(step, told), { minLength: 3, maxLength: 25 }),
  /** Which calls into the cloud and which writes fail, before or after they acted: as if the process had died there. */
  failures: fc.array(fc.constantFrom(undefined, undefined, undefined, 'before' as const, 'after' as const), {
    maxLength: 40,
  }),
})

t.test('any history of nodes, told or not, with any failures, ends in the same world', async (t) => {
  await fc.assert(
    fc.asyncProperty(history, async ({ steps, failures }) => {
      const rest = failures.values()
      let isWell = false
      const nextFailure = () => (isWell ? undefined : rest.next().value)
      const world = createNodeWorld({
        failure: () => {
          const when = nextFailure()
          return when && { when, error: new Error('the cloud is down') }
        },
        wrapStore: (store) => losingAnswers(store, nextFailure),
      })
      for (const [each, how] of steps) await take(each, how, world)
      // Longer than the longest backoff, and than a new node is given.
      for (let round = 0; round < 4; round += 1) {
        await world.clock.advance(400_000)
        isWell = round >= 1
        await sweepOrFail('all', world)
      }
      await world.clock.advance(400_000)
      for (const each of nodesIn(world)) checkNode(each, world)
      checkRoutes(world)

      const writes = world.writes.length
      const changes = () => world.calls().filter((call) => /^(create|delete)Route/.test(call)).length
      const before = changes()
      await world.sweep('nodes')
      await world.sweep('pending-nodes')
      const unroutable = nodesIn(world).some(({ metadata }) => world.cloud.machines.find(metadata.name) === undefined)
      if (!unroutable) await world.sweep('all')
      assert.equal(world.writes.length, writes, 'a quiet world is not written to')
      assert.equal(changes(), before, 'nor is its cloud')
      assert.deepEqual(
        world.logs.filter(({ level }) => level === 'error'),
        [],
      )
    }),
    { numRuns: 60 },
  )
  t.pass()
})

function losingAnswers(store: ClusterStore, nextFailure: () => 'before' | 'after' | undefined): ClusterStore {
  async function write<R>(what: () => Promise<R>): Promise<R> {
    const when = nextFailure()
    const failed = new CatalogueError('ApiTimeout', 'the API server did not answer in time')
    if (when === 'before') throw failed
    const written = await what()
    if (when === 'after') throw failed
    return written
  }
  return {
    get: store.get,
    list: store.list,
    create: (kind, object, options) => write(() => store.create(kind, object, options)),
    patch: (key, patch, options) => write(() => store.patch(key, patch, options)),
    delete: (key, options) => write(() => store.delete(key, options)),
  }
}

async function take(each: Step, how: string, world: NodeWorld): Promise<void> {
  switch (each.do) {
    case 'wait':
      return world.clock.advance(each.ms)
    case 'sweep':
      return sweepOrFail(each.scope, world)
    default: {
      const name = `n${each.number}`
      const before = world.node(name)
      await change(each, before, world)
      await tell(before, world.node(name), how, world)
    }
  }
}

/** A list that the cloud cannot give ends a sweep; the next one does its work. */
async function sweepOrFail(scope: SweepScope, world: NodeWorld): Promise<void> {
  await world.sweep(scope).catch((error: unknown) => assert.match(String(error), /answers 50\d/))
}

type Change = Exclude<Step, { do: 'wait' | 'sweep' }>

async function change(each: Change, before: Node | undefined, world: NodeWorld): Promise<void> {
  const key = { kind: 'Node', namespace: '', name: `n${each.number}` } as const
  const { machines } = world.cloud
  const machine = machines.find(`n${each.number}`)
  switch (each.do) {
    case 'join':
    case 'rejoin':
      if (before !== undefined && each.do === 'join') return
      if (before !== undefined) await world.remove(key)
      if (machine === undefined) machines.put(buildMachine(each.number))
      await world.create(joining(each.number))
      return
    case 'leave':
      if (before !== undefined) await world.remove(key)
      return
    case 'vanish':
      machines.remove(`i-${each.number}`)
      return
    case 'appear':
      if (machine === undefined) machines.put(buildMachine(each.number))
      return
    case 'stop':
    case 'start':
      if (machine !== undefined) machine.state = each.do === 'stop' ? 'stopped' : 'running'
      return
    case 'say': {
      if (before === undefined) return
      const others = (before.status?.conditions ?? []).filter(({ type }) => type !== 'Ready')
      await world.edit(key, { status: { conditions: [...others, each.ready ? READY : NOT_READY] } }, 'status')
    }
  }
}

function joining(each: number): Node {
  const node = buildJoiningNode(each, {
    metadata: { labels: { team: 'shop' } },
    status: { conditions: [READY, PRESSURE] },
  })
  const { uid: _, creationTimestamp: __, ...metadata } = node.metadata
  return { ...node, metadata, spec: { ...node.spec, taints: [FOREIGN, ...(node.spec?.taints ?? [])] } }
}

async function tell(before: Node | undefined, after: Node | undefined, how: string, world: NodeWorld): Promise<void> {
  const isSame = before?.metadata.resourceVersion === after?.metadata.resourceVersion
  const object = after ?? before
  if (how === 'lost' || isSame || object === undefined) return
  const operation = before === undefined ? 'CREATE' : after === undefined ? 'DELETE' : 'UPDATE'
  const verb = { CREATE: 'add', UPDATE: 'update', DELETE: 'delete' } as const
  if (how !== 'event') await world.review(operation, { object: after, oldObject: before, ...status(operation) })
  if (how !== 'review') await world.cloudEvent(verb[operation], object)
  await world.clock.advance(100)
}

/** What changes of a node that stays is its status, here. */
function status(operation: string): { subResource?: string } {
  return operation === 'UPDATE' ? { subResource: 'status' } : {}
}

function nodesIn(world: NodeWorld): Node[] {
  return NUMBERS.flatMap((each) => world.node(`n${each}`) ?? [])
}

function checkNode(node: Node, { cloud }: NodeWorld): void {
  const { name } = node.metadata
  const machine = cloud.machines.find(name)
  assert.ok(isReady(node) || machine !== undefined, `${name} is NotReady and gone in the cloud`)
  if (machine !== undefined) {
    assert.ok(!isUninitialized(node), `${name} is not initialised`)
    assert.equal(node.spec?.providerID, `fake://${machine.id}`)
    assert.deepEqual(node.status?.addresses, machine.addresses)
  }
  assert.equal(isMarkedShutDown(node), !isReady(node) && machine?.state === 'stopped' ? true : marksThatStay(node))
  assert.ok(
    node.spec?.taints?.some(({ key }) => key === FOREIGN.key),
    'taints of others stay',
  )
  assert.equal(node.metadata.labels?.['team'], 'shop', 'labels of others stay')
  assert.ok(conditionOf(node, PRESSURE.type), 'conditions of others stay')
}

/** Started again and not Ready yet, a node keeps the taint (R-LIFE-7); Ready it does not. */
function marksThatStay(node: Node): boolean {
  return !isReady(node) && isMarkedShutDown(node)
}

function checkRoutes(world: NodeWorld): void {
  const wanted = nodesIn(world).flatMap(({ metadata, spec }) => {
    const machine = world.cloud.machines.find(metadata.name)
    return machine === undefined ? [] : (spec?.podCIDRs ?? []).map((cidr) => `${cidr} → ${machine.id}`)
  })
  const made = world.cloud.routes.all().map(({ destinationCIDR, nextHop }) => `${destinationCIDR} → ${nextHop}`)
  assert.deepEqual(made.toSorted(), wanted.toSorted(), 'routes')
  for (const node of nodesIn(world)) {
    const isRouted = world.cloud.machines.find(node.metadata.name) !== undefined
    assert.equal(conditionOf(node, 'NetworkUnavailable')?.status, isRouted ? 'False' : 'True')
  }
}
