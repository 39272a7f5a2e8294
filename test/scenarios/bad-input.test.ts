import t from 'tap'
import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import { StatusError } from '../../src/local/core/status-error.ts'
import { buildReview, ourWebhooks } from '../support/api-callers.ts'
import { buildClass, buildIngress, buildService, DEFAULT_CLASS, FINALIZER } from '../support/build-objects.ts'
import { CASE_SETTINGS, type KarmadaCase, loadKarmadaCases } from '../support/karmada-cases.ts'
import { isBalanced, nameOf, stored, targetOf } from '../support/karmada-story.ts'
import { CLUSTER_ID, createWorld, IDENTITY, type World } from '../support/world.ts'
import { KARMADA_EXPECTATIONS } from './karmada-expectations.ts'

// What nobody should store: refused at the door in words that kubectl users know; and, where it is stored all the same,
// told once and shown to no provider.

const USER = { user: { username: 'somebody', groups: [] } }
const OURS = { ingressClass: `controller: ${CASE_SETTINGS.controller}` }
const refused = (loadKarmadaCases() ?? []).filter(({ id }) =>
  KARMADA_EXPECTATIONS.some((expectation) => expectation.id === id && expectation.stages[0]?.step === 'refused'),
)

/** Karmada's verdict on the one object of a refused case: what the schema finds, else what the webhook says. */
function faultsOf({ verdicts }: KarmadaCase): string[] {
  const [{ schema = 'ok', webhook = '' } = {}] = verdicts
  const verdict = schema === 'ok' ? webhook.replace(/^DENIED /, '').replace(/^\[(.*)\]$/, '$1') : schema
  return verdict.split(/(?:,|;) (?=(?:spec|metadata)[.[])/)
}

const isRefusedBySchema = ({ verdicts }: KarmadaCase) => verdicts.some(({ schema }) => schema !== 'ok')

function balancedOf({ objects }: KarmadaCase): KubernetesObject {
  const found = objects.find(isBalanced)
  if (found === undefined) throw new Error('the case has nothing to balance')
  return found
}

/** The files of these cases leave the class out: nothing of them is ever stored. */
const others = ({ objects }: KarmadaCase) => [
  ...objects.filter((object) => !isBalanced(object)),
  buildClass({ metadata: { annotations: DEFAULT_CLASS }, spec: { controller: CASE_SETTINGS.controller } }),
]

function create(world: World, object: KubernetesObject) {
  return world.core.create(targetOf(object.kind, object.metadata.namespace ?? ''), object, USER)
}

async function sweep(world: World): Promise<void> {
  await world.http('POST', '/sweep')
  await world.clock.advance(60_000)
}

const faults = (world: World) => world.events().filter((event) => event.startsWith('Warning InvalidObject: '))

for (const found of refused) {
  t.test(`${found.name}: the validating door refuses it`, async (t) => {
    const world = createWorld({ ...OURS, objects: others(found), webhooks: ourWebhooks(FINALIZER, IDENTITY) })
    const object = balancedOf(found)
    if (isRefusedBySchema(found)) {
      // The API server would not have come so far.
      const { body } = await world.http('POST', '/admission/validate', buildReview('CREATE', { object } as never))
      const { allowed, status } = JSON.parse(body).response
      const isCertain = (object as { spec?: { types?: unknown } }).spec?.types !== undefined || found.id !== 57
      t.equal(allowed, !isCertain, 'without types nobody can say that it is ours')
      // The verdicts on types are those of a smaller checker: field and kind of fault count.
      for (const fault of isCertain ? faultsOf(found) : []) t.match(status.message, fault.split(' value')[0])
      return
    }
    const error = await create(world, object).then(
      () => undefined,
      (reason: unknown) => reason,
    )
    t.ok(error instanceof StatusError && error.deniedBy === 'validate.webhook-cloud-provider.dev')
    for (const fault of faultsOf(found)) t.match((error as StatusError).message, fault, 'in Karmada’s words')
    const causes = (error as StatusError).status.details?.causes ?? []
    t.strictSame(
      causes.map(({ field }) => field),
      faultsOf(found).map((fault) => fault.split(': ')[0]),
      'each with its field',
    )
    await world.clock.advance(60_000)
    t.strictSame(world.handed, [])
  })

  const reason = isRefusedBySchema(found) && 'the CRD’s schema lets nobody store it'
  t.test(
    `${found.name}: stored all the same it is told once, and no provider is called`,
    { skip: reason },
    async (t) => {
      const world = createWorld({ ...OURS, objects: others(found) })
      const object = balancedOf(found)
      await create(world, object)
      await sweep(world)
      t.equal(faults(world).length, 1)
      t.match(faults(world)[0], faultsOf(found)[0], 'in Karmada’s words')
      t.equal(world.events().length, 1, 'and nothing else')
      t.strictSame(world.handed, [])
      t.equal(stored(world, nameOf(object))?.metadata.finalizers, undefined, 'nothing is claimed')
      t.equal(world.runtime.queue.size(), 0, 'nothing is tried again')
      const revision = world.core.resourceVersion()
      await sweep(world)
      t.equal(world.core.resourceVersion(), revision)
      t.strictSame(world.handed, [])
    },
  )
}

for (const { title, object, key, bad, good } of [
  {
    title: 'an ingress',
    object: buildIngress(),
    key: { kind: 'MultiClusterIngress', namespace: 'shop', name: 'storefront' } as const,
    bad: { spec: { rules: [{ host: '203.0.113.9' }] } },
    good: { spec: { rules: null } },
  },
  {
    title: 'a service',
    object: buildService(),
    key: { kind: 'MultiClusterService', namespace: 'shop', name: 'game' } as const,
    bad: { spec: { ports: [{ port: 80, name: 'Not_A_Label' }] } },
    good: { spec: { ports: [{ port: 80 }] } },
  },
]) {
  t.test(
    `${title} that is served and becomes invalid keeps its balancer as it is, until it is put right`,
    async (t) => {
      const world = createWorld()
      await world.create(object)
      await sweep(world)
      const fingerprint = () => world.cloud.balancers()[0]?.fingerprint
      const before = fingerprint()
      const calls = world.calls().length
      await world.edit(key, bad)
      await sweep(world)
      await sweep(world)
      t.equal(faults(world).length, 1)
      t.equal(world.calls().length, calls)
      t.strictSame(world.read(key)?.metadata.finalizers, [FINALIZER])
      t.equal(fingerprint(), before)
      t.match(
        world.read(key)?.status,
        { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
        'what serves keeps serving',
      )
      await world.edit(key, { ...good, metadata: { annotations: { again: '1' } } })
      await sweep(world)
      t.not(fingerprint(), before)
    },
  )

  t.test(`${title} that is invalid and goes is cleaned up`, async (t) => {
    const world = createWorld()
    await world.create(object)
    await sweep(world)
    await world.edit(key, bad)
    await world.remove(key)
    await sweep(world)
    t.equal(world.read(key), undefined)
    t.strictSame(world.balancers(), [])
  })
}

t.test('two types, or an unknown one beside ours, are of older versions of Karmada, and served', async (t) => {
  for (const types of [
    ['LoadBalancer', 'CrossCluster'],
    ['NodePort', 'LoadBalancer'],
  ]) {
    const world = createWorld()
    await world.create(buildService({ spec: { types, ports: [{ port: 80 }] } }))
    await sweep(world)
    t.strictSame(
      world.balancers().map(({ kind, name, clusterId }) => ({ kind, name, clusterId })),
      [{ kind: 'MultiClusterService', name: 'game', clusterId: CLUSTER_ID }],
    )
    t.strictSame(faults(world), [])
  }
})
