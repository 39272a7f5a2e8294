import t, { type Test } from 'tap'
import { sameLoadBalancerStatus } from '../../src/domain/load-balancer-status.ts'
import type { MultiClusterIngress } from '../../src/domain/multi-cluster-ingress.ts'
import type { MultiClusterService } from '../../src/domain/multi-cluster-service.ts'
import type { PropagationPolicy } from '../../src/domain/propagation-policy.ts'
import type { ServiceExport } from '../../src/domain/service-export.ts'
import type { ApiObject } from '../../src/local/core/api-object.ts'
import { StatusError } from '../../src/local/core/status-error.ts'
import type { BalancerIdentity } from '../../src/provider/multicluster.ts'
import { type ProviderCall, sameIdentity } from '../support/around-provider.ts'
import { describeBackends } from '../support/describe-backends.ts'
import { type KarmadaCase, loadKarmadaCases } from '../support/karmada-cases.ts'
import {
  act,
  beginStory,
  type Change,
  DOORS,
  type Door,
  finalizerOf,
  nameOf,
  resolveName,
  type Story,
  stored,
  subjectsOf,
  targetOf,
  tell,
  whyNot,
} from '../support/karmada-story.ts'
import { CLUSTER_ID, type World } from '../support/world.ts'
import type { KarmadaExpectation, ObjectExpectation, OtherExpectation, Stage, Variant } from './karmada-expectation.ts'
import { KARMADA_EXPECTATIONS } from './karmada-expectations.ts'

// Every case through every door that it allows: what is asked of the cloud, and the world afterwards.

const cases = loadKarmadaCases()
const told = { stories: 0, stages: 0 }
const impossible = new Map<string, Set<number>>()

t.test('cases through doors', { skip: cases === undefined && 'the cases are not there' }, async (t) => {
  for (const found of cases ?? []) {
    const expectation = KARMADA_EXPECTATIONS.find(({ id }) => id === found.id)
    if (expectation === undefined) {
      t.fail(`${found.name} has no expectation: add one to test/scenarios/karmada-expectations.ts`)
      continue
    }
    for (const door of DOORS) await tellCase(t, found, expectation, door)
  }
  t.comment(`${told.stories} stories of ${cases?.length} cases, ${told.stages} steps`)
  for (const [reason, ids] of impossible) t.comment(`not told: ${reason} (${[...ids].join(', ')})`)
})

async function tellCase(t: Test, found: KarmadaCase, expectation: KarmadaExpectation, door: Door): Promise<void> {
  const versions: (Variant | undefined)[] = [undefined, ...(expectation.variants ?? [])]
  for (const variant of versions) {
    const stages = variant === undefined ? expectation.stages : [variant.stage]
    const reasons = stages.map((stage) => whyNot(stage, door))
    const subject = variant === undefined ? found.name : `${found.name}, ${variant.title}`
    for (const reason of reasons) {
      if (reason !== undefined) impossible.set(reason, (impossible.get(reason) ?? new Set()).add(found.id))
    }
    if (reasons.every((reason) => reason !== undefined)) {
      await t.test(`${subject}, by ${door}`, { skip: reasons[0] ?? '' }, async () => {})
      continue
    }
    told.stories += 1
    await t.test(`${subject}, by ${door}`, (t) => tellStory(t, found, expectation, door, variant))
  }
}

async function tellStory(
  t: Test,
  found: KarmadaCase,
  expectation: KarmadaExpectation,
  door: Door,
  variant: Variant | undefined,
): Promise<void> {
  const story = beginStory(found, expectation, { reviewed: door === 'reviews', ...(variant && { variant }) })
  const { world } = story
  const usersOwn = usersObjects(story)
  let last: Change[] = []
  for (const stage of story.stages) {
    const before = lookAt(world)
    if (stage.step === 'refused') {
      await tellRefused(t, story, stage)
      continue
    }
    const changes = await act(story, stage)
    const subjects = subjectsOf(story, stage, changes)
    const scene = { ...before, statuses: statusesOf(world), expectation, usersOwn }
    if (stage.step === 'waited') {
      await world.clock.advance(stage.waitMs ?? 0)
      if (door === 'sweep') await tell(world, door, [])
    } else if (whyNot(stage, door) === undefined) {
      await tell(world, door, subjects, stage.step === 'repeated')
      last = subjects
    } else {
      t.comment(`${stage.step}: ${whyNot(stage, door)}`)
      continue
    }
    await world.clock.advance(SETTLING_MS)
    told.stages += 1
    await t.test(`${stage.step}: ${stage.trigger}`, async (t) => {
      for (const object of stage.objects) checkObject(t, object, world, scene)
      checkOthers(t, stage.others, world, scene)
      if (stage.writes !== undefined) t.strictSame(writesSince(world, before), [], 'writes nothing')
    })
  }
  await t.test('once more, and a sweep: quiet', async (t) => {
    // What nobody told is found by the first sweep: clusters for the policy of the CRD, a Secret behind reviews.
    await tell(world, 'sweep', [])
    await world.clock.advance(SETTLING_MS)
    const before = lookAt(world)
    const revision = world.core.resourceVersion()
    await tell(world, door, last, true)
    await world.clock.advance(SETTLING_MS)
    await tell(world, 'sweep', [])
    await world.clock.advance(SETTLING_MS)
    t.equal(world.core.resourceVersion(), revision, 'nothing is written')
    // What failed for good is tried again by a sweep, and a release that is denied is asked for again.
    if (variant?.given.terminal || variant?.given.denied) return
    t.strictSame(writesSince(world, before), [], 'nor tried')
    t.strictSame(changesSince(world, before), [], 'nothing changes in the cloud')
  })
  t.strictSame(
    world.logs.filter(({ level }) => level === 'error'),
    [],
    'no fault of ours',
  )
}

// Long enough for reviews, bursts and their dependents; shorter than a retry and the grace of a pool.
const SETTLING_MS = 4_000

async function tellRefused(t: Test, story: Story, stage: Stage): Promise<void> {
  const { world, found } = story
  const refusal = await act(story, stage).then(
    () => undefined,
    (error: unknown) => error,
  )
  t.ok(refusal instanceof StatusError, 'it is refused')
  const fields = found.verdicts.flatMap(({ schema, webhook }) => fieldsIn(`${schema} ${webhook}`))
  for (const field of fields) t.match((refusal as StatusError).message, field, 'naming the field')
  await world.clock.advance(60_000)
  t.equal(world.runtime.queue.size(), 0, 'forgotten')
  t.strictSame(world.handed, [], 'the provider hears nothing')
  t.strictSame(world.requests.filter(isWrite), [])
  t.strictSame(eventsOn(world, ''), [])
  for (const { key } of stage.objects) t.equal(stored(world, key), undefined)
  told.stages += 1
}

/** Field paths in a verdict: `spec.rules[0].host: Invalid value …`. */
function fieldsIn(verdict: string): string[] {
  return [
    ...verdict.matchAll(/(?:metadata|spec)(?:\.[a-zA-Z]+(?:\[\d+\])?)*(?=: (?:Invalid|Required|Unsupported))/g),
  ].map(([field]) => field)
}

// ---- the world before and after ----

interface Look {
  calls: number
  requests: number
  events: Set<string>
}

interface Scene extends Look {
  statuses: Map<string, unknown>
  expectation: KarmadaExpectation
  /** Versions of the objects that a user made, by key. */
  usersOwn: Map<string, string | undefined>
}

function lookAt(world: World): Look {
  return {
    calls: world.handed.length,
    requests: world.requests.length,
    events: new Set(eventsOn(world, '').map(({ metadata }) => metadata.name)),
  }
}

function statusesOf({ core }: World): Map<string, unknown> {
  const objects = ['MultiClusterIngress', 'MultiClusterService'].flatMap((kind) => core.list(targetOf(kind, '')).items)
  return new Map(objects.map((object) => [nameOf(object), object['status']]))
}

function usersObjects({ found, world }: Story): Map<string, string | undefined> {
  const kinds = ['ServiceExport', 'PropagationPolicy']
  const names = found.objects.filter(({ kind }) => kinds.includes(kind)).map(nameOf)
  return new Map(names.map((name) => [name, stored(world, name)?.metadata.resourceVersion]))
}

function eventsOn({ core }: World, key: string): (ApiObject & { reason: string; type: string; message: string })[] {
  const events = core.list({ group: '', version: 'v1', plural: 'events' }).items as unknown as (ApiObject & {
    reason: string
    type: string
    message: string
    involvedObject: { kind: string; namespace?: string; name: string }
  })[]
  return events.filter(
    ({ involvedObject: { kind, namespace = '', name } }) => key === '' || `${kind}/${namespace}/${name}` === key,
  )
}

const isWrite = (request: string) => /^(create|patch|delete) /.test(request)

function writesSince({ requests }: World, before: Look): string[] {
  return requests.slice(before.requests).filter(isWrite)
}

/** Calls that ask for something else than the one before; a sweep verifies some balancers by asking for the same. */
function changesSince({ handed }: World, { calls }: Look): string[] {
  return handed.slice(calls).flatMap(({ method, context: { identity, fingerprint } }) => {
    const last = handed
      .slice(0, calls)
      .findLast(({ context }) => context.fingerprint !== '' && sameIdentity(context.identity, identity))
    return method === 'get' || (method === 'update' && last?.context.fingerprint === fingerprint) ? [] : [method]
  })
}

// ---- what is expected ----

function checkObject(t: Test, expected: ObjectExpectation, world: World, scene: Scene): void {
  const key = resolveName(expected.key)
  const object = stored(world, key)
  const methods = callsOn(world.handed.slice(scene.calls), key, object).map(({ method }) => method)
  t.ok(
    expected.calls.some((allowed) => sameCalls(allowed, methods)),
    `calls: ${methods.join(', ') || 'none'}; allowed: ${expected.calls.map((list) => list.join(', ') || 'none').join(' | ')}`,
  )
  checkFinalizer(t, expected, object, finalizerOf(scene.expectation))
  if (object !== undefined) checkStatus(t, expected, object, world, scene)
  checkEvents(t, expected, world, key, scene)
  checkHanded(t, expected, callsOn(world.handed, key, object))
}

/** Calls about this object, not about an earlier one of its name. */
function callsOn(handed: readonly ProviderCall[], key: string, object: ApiObject | undefined): ProviderCall[] {
  return handed.filter(
    ({ context: { identity } }) =>
      `${identity.kind}/${identity.namespace}/${identity.name}` === key &&
      (object === undefined || identity.uid === object.metadata.uid),
  )
}

/** Reading is allowed as often as wanted where it is allowed at all. */
function sameCalls(allowed: readonly string[], called: readonly string[]): boolean {
  const changes = (list: readonly string[]) => list.filter((method) => method !== 'get').join()
  return changes(allowed) === changes(called) && (allowed.includes('get') || !called.includes('get'))
}

function checkFinalizer(t: Test, { finalizer }: ObjectExpectation, object: ApiObject | undefined, ours: string): void {
  const held = object?.metadata.finalizers?.includes(ours) ?? false
  if (finalizer === 'gone') t.equal(object, undefined, 'the object is gone')
  else if (finalizer === 'added' || finalizer === 'kept') t.ok(held, `finalizer ${finalizer}`)
  else t.notOk(held, `finalizer ${finalizer}`)
  if (finalizer === 'removed') t.ok(object, 'the object stays')
}

function checkStatus(
  t: Test,
  { key, status: expected }: ObjectExpectation,
  object: ApiObject,
  world: World,
  { statuses }: Scene,
): void {
  const now = object['status'] as MultiClusterIngress['status'] & MultiClusterService['status']
  const before = statuses.get(resolveName(key)) as typeof now
  switch (expected.loadBalancer) {
    case 'empty':
      t.ok(sameLoadBalancerStatus(now?.loadBalancer, undefined), 'loadBalancer is empty')
      break
    case 'unchanged':
      t.strictSame(now?.loadBalancer ?? {}, before?.loadBalancer ?? {}, 'loadBalancer is unchanged')
      break
    case 'provider': {
      const { namespace = '', name, uid = '' } = object.metadata
      const kind = object.kind as BalancerIdentity['kind']
      const reported = world.reported({ clusterId: CLUSTER_ID, kind, namespace, name, uid })
      t.ok(reported && sameLoadBalancerStatus(now?.loadBalancer, reported), 'loadBalancer is what the provider says')
    }
  }
  if (expected.serviceLocations !== undefined) t.strictSame(now?.serviceLocations ?? [], expected.serviceLocations)
  if (expected.trafficBlockClusters !== undefined)
    t.strictSame(now?.trafficBlockClusters ?? [], expected.trafficBlockClusters)
  if (expected.conditions === 'unchanged') {
    t.strictSame(othersConditions(now), othersConditions(before), 'conditions of others')
  }
}

function othersConditions(status: MultiClusterService['status']) {
  return (status?.conditions ?? []).filter(({ type }) => type !== 'LoadBalancerReady')
}

function checkEvents(t: Test, expected: ObjectExpectation, world: World, key: string, { events }: Scene): void {
  const news = eventsOn(world, key).filter(({ metadata }) => !events.has(metadata.name))
  for (const { type, reason, message = [], count } of expected.events) {
    const found = news.filter((event) => event.reason === reason)
    if (count === 'once') t.equal(found.length, 1, `${reason} once`)
    else t.ok(found.length <= 1, `${reason} at most once`)
    for (const event of found) t.equal(event.type, type, reason)
    if (found.length > 0) for (const part of message) t.match(found[0]?.message, part, reason)
  }
  const reasons = expected.events.map(({ reason }) => reason as string)
  t.strictSame(
    news.filter(({ reason }) => !reasons.includes(reason)).map(({ reason, message }) => `${reason}: ${message}`),
    [],
    'nothing else is told',
  )
}

/** By the last call that handed anything over. */
function checkHanded(t: Test, { backends, certificates }: ObjectExpectation, calls: ProviderCall[]): void {
  const last = calls.findLast(({ method }) => method === 'ensure' || method === 'update')
  if (last === undefined) return
  const { context } = last
  if (backends !== undefined) t.strictSame(describeBackends(context.backends), backends, 'backends')
  if (certificates !== undefined) {
    t.strictSame(
      context.certificates.flatMap(({ secretName, certificate }) => (certificate === undefined ? [] : [secretName])),
      certificates,
      'certificates',
    )
  }
}

function checkOthers(t: Test, { present, absent }: OtherExpectation, world: World, { usersOwn }: Scene): void {
  for (const key of absent) t.equal(stored(world, key), undefined, `no ${key}`)
  for (const [key, value] of Object.entries(present)) {
    const object = stored(world, key) as (ServiceExport & PropagationPolicy) | undefined
    t.ok(object, `${key} is there`)
    if (object === undefined) continue
    if (typeof value === 'string') {
      t.equal(object.metadata.resourceVersion, usersOwn.get(key), `${key} is left as it is`)
      continue
    }
    const service = stored(world, `Service/${object.metadata.namespace}/${value.owner}`)
    t.match(object.metadata.ownerReferences, [
      { kind: 'Service', name: value.owner, uid: service?.metadata.uid, controller: true },
    ])
    if (value.clusters !== undefined) {
      t.strictSame(object.spec?.placement?.clusterAffinity?.clusterNames, value.clusters, `${key}: clusters`)
    }
  }
}
