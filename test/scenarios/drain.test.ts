import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { createCertificateAuthority } from '../../src/adapters/certificates/certificate-authority.ts'
import { drainFunction } from '../../src/compose/drain-function.ts'
import { letGo } from '../../src/compose/drain-objects.ts'
import { CatalogueError } from '../../src/domain/catalogue-error.ts'
import type { Kind } from '../../src/domain/kinds.ts'
import { RESOURCES } from '../../src/domain/kinds.ts'
import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import type { ControlPlaneCore } from '../../src/local/core/control-plane-core.ts'
import { karmadaCrds } from '../../src/local/crds/karmada-crds.ts'
import { startLocalControlPlane } from '../../src/local/start-local-control-plane.ts'
import { createCloudRegistry } from '../../src/provider/cloud-registry.ts'
import type { Provider } from '../../src/provider/provider.ts'
import { createProviderRegistry } from '../../src/provider/registry.ts'
import { createFakeClusterCloud } from '../../src/providers/fake/fake-cluster-cloud.ts'
import { ourWebhooks } from '../support/api-callers.ts'
import { buildNode, buildWeb, FINALIZER as CLEANUP, WEB } from '../support/build-cluster.ts'
import {
  buildClass,
  buildCluster,
  buildIngress,
  buildService,
  buildServiceWorld,
  FINALIZER,
} from '../support/build-objects.ts'
import { wcp } from '../support/command-line.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { createServiceWorld } from '../support/service-world.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { createWorld, IDENTITY, type World, type WorldOptions } from '../support/world.ts'

// What is left when the function is uninstalled: nothing.

const INGRESS = { kind: 'MultiClusterIngress', namespace: 'shop', name: 'storefront' } as const
const SERVICE = { kind: 'MultiClusterService', namespace: 'shop', name: 'game' } as const
const CRD_POLICY = { kind: 'ClusterPropagationPolicy', namespace: '', name: 'serviceexportpropagation-policy' } as const
const OURS = ['ServiceExport', 'PropagationPolicy', 'ClusterPropagationPolicy', 'Lease'] as const

function namesOf(core: ControlPlaneCore, kinds: readonly Kind[]): string[] {
  return kinds.flatMap((kind) => {
    const { group, version, plural } = RESOURCES[kind]
    return core.list({ group, version, plural }).items.map(({ metadata }) => `${kind} ${metadata.name}`)
  })
}

/** Served for a while, with exports and policies. */
async function servedWorld(options: WorldOptions = {}): Promise<World> {
  const world = createWorld({
    objects: [
      buildClass(),
      buildCluster('edge-a'),
      buildCluster('edge-b'),
      ...buildServiceWorld('web'),
      ...buildServiceWorld('game'),
    ],
    ...options,
  })
  await world.create(buildIngress())
  await world.create(buildService())
  await settle(world)
  return world
}

async function settle(world: World) {
  for (const _ of [1, 2, 3]) {
    await world.http('POST', '/sweep?scope=all')
    await world.clock.advance(0)
  }
}

interface How {
  keepBalancers?: boolean
  dryRun?: boolean
}

async function drain({ config, provider, store, clock }: Drained, { keepBalancers = false, dryRun = false }: How = {}) {
  const lines: string[] = []
  const options = {
    keepBalancers,
    dryRun,
    report: (line: string) => void lines.push(line),
    signal: new AbortController().signal,
  }
  const result = await letGo(store, { config, provider, logger: silentLogger }, clock, options)
  return { ...result, lines }
}

type Drained = Pick<World, 'config' | 'store' | 'clock'> & { provider: Provider }

t.test('karmada: balancers, statuses, finalizers, exports and policies go, in this order', async (t) => {
  const world = await servedWorld()
  t.equal(namesOf(world.core, OURS).length, 5)
  const before = JSON.stringify(
    world.core.list({ group: 'networking.karmada.io', version: 'v1alpha1', plural: 'multiclusteringresses' }),
  )
  const writes = world.requests.length

  t.strictSame(await drain(world, { dryRun: true }), {
    left: 0,
    hindrances: [],
    lines: [
      'MultiClusterIngress/shop/storefront: balancer would be removed',
      'MultiClusterService/shop/game: balancer would be removed',
      'PropagationPolicy/shop/propagate-service-game: would be removed',
      'ServiceExport/shop/game: would be removed',
      'PropagationPolicy/shop/propagate-service-web: would be removed',
      'ServiceExport/shop/web: would be removed',
      'ClusterPropagationPolicy//serviceexportpropagation-policy: would be removed',
    ],
  })
  t.equal(
    JSON.stringify(
      world.core.list({ group: 'networking.karmada.io', version: 'v1alpha1', plural: 'multiclusteringresses' }),
    ),
    before,
  )
  t.strictSame(
    world.requests.slice(writes).filter((request) => !/^(get|list) /.test(request)),
    [],
    'nothing is written',
  )

  const { lines, ...rest } = await drain(world)
  t.strictSame(rest, { left: 0, hindrances: [] })
  t.strictSame(
    lines.map((line) => line.replace(/.*: /, '')),
    ['balancer removed, let go', 'balancer removed, let go', ...Array(5).fill('removed')],
  )
  t.strictSame(world.balancers(), [])
  for (const key of [INGRESS, SERVICE]) {
    t.equal(world.read(key)?.metadata.finalizers, undefined)
    t.equal(world.read(key)?.status?.loadBalancer, undefined)
  }
  t.strictSame(namesOf(world.core, OURS), [])
  t.strictSame(await drain(world), { left: 0, hindrances: [], lines: [] }, 'once more: nothing to do')
})

t.test('karmada: what people made stays, and the CRD that it needs', async (t) => {
  const users = {
    apiVersion: 'multicluster.x-k8s.io/v1alpha1',
    kind: 'ServiceExport',
    metadata: { name: 'theirs', namespace: 'shop' },
  }
  const policy = {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'PropagationPolicy',
    metadata: { name: 'theirs', namespace: 'shop' },
    spec: { resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap' }] },
  }
  const world = await servedWorld()
  await world.create(users as KubernetesObject)
  await world.create(policy as KubernetesObject)
  const { left, lines } = await drain(world)
  t.equal(left, 0)
  t.match(
    lines.at(-1),
    /serviceexportpropagation-policy: stays, as 1 ServiceExports remain \(ServiceExport\/shop\/theirs\)/,
  )
  t.strictSame(namesOf(world.core, OURS), [
    'ServiceExport theirs',
    'PropagationPolicy theirs',
    'ClusterPropagationPolicy serviceexportpropagation-policy',
  ])
})

t.test('karmada: what another provider needs stays', async (t) => {
  const world = await servedWorld()
  const other = 'webhook-cloud-provider.dev/other'
  await world.create(buildIngress({ metadata: { name: 'of-another', finalizers: [other] } }))
  const { left, lines } = await drain(world)
  t.equal(left, 0)
  t.match(lines.at(-1), /stays, as another provider holds MultiClusterIngress\/shop\/of-another/)
  t.ok(world.read({ kind: 'ServiceExport', namespace: 'shop', name: 'web' }), 'it refers to this one')
  t.notOk(world.read({ kind: 'ServiceExport', namespace: 'shop', name: 'game' }))
  t.ok(world.read(CRD_POLICY))
  t.strictSame(world.read({ ...INGRESS, name: 'of-another' })?.metadata.finalizers, [other])
})

t.test('karmada: an object that stays keeps its export, until it can be let go of', async (t) => {
  let failing = false
  const world = await servedWorld({
    failure: ({ method, identity }) =>
      failing && method === 'ensureDeleted' && identity.name === 'storefront'
        ? { when: 'before', error: new Error('in use') }
        : undefined,
  })
  failing = true
  const first = await drain(world)
  t.equal(first.left, 1)
  t.match(first.lines[0], /^MultiClusterIngress\/shop\/storefront: stays: /)
  t.ok(world.read({ kind: 'ServiceExport', namespace: 'shop', name: 'web' }))
  t.notOk(world.read({ kind: 'ServiceExport', namespace: 'shop', name: 'game' }))
  failing = false
  t.match(await drain(world), { left: 0 })
  t.strictSame(namesOf(world.core, OURS), [])
})

t.test('keeping balancers, the Go manager gets exports and policies too', async (t) => {
  const world = await servedWorld()
  const before = namesOf(world.core, OURS)
  t.match(await drain(world, { keepBalancers: true, dryRun: true }), {
    lines: [
      'MultiClusterIngress/shop/storefront: would be handed over',
      'MultiClusterService/shop/game: would be handed over',
    ],
  })
  t.match(await drain(world, { keepBalancers: true }), { left: 0 })
  t.strictSame(namesOf(world.core, OURS), before)
  t.equal(world.balancers().length, 2)
})

t.test('with propagation switched off, exports are somebody else’s', async (t) => {
  const world = await servedWorld()
  const config = { ...world.config, propagation: { enabled: false } }
  t.match(await drain({ ...world, config }), {
    left: 0,
    lines: [/./, /./, /left alone, as propagation.enabled is false$/],
  })
  t.equal(namesOf(world.core, OURS).length, 5)
})

// ---- what is in the way ----

t.test('registered webhooks are in the way; those of another provider are not', async (t) => {
  const world = await servedWorld({ webhooks: ourWebhooks(FINALIZER, IDENTITY) })
  const { left, hindrances, lines } = await drain(world)
  t.strictSame([left, lines], [0, []])
  t.match(hindrances, [/webhooks are registered, .* kubectl delete mutatingwebhookconfigurations,validatingwebhook/])
  t.equal(world.balancers().length, 2, 'nothing was touched')
  t.match(await drain(world, { dryRun: true }), { hindrances: [/./], lines: [/would be removed/] })

  const beside = await servedWorld({ webhooks: ourWebhooks('webhook-cloud-provider.dev/other', IDENTITY) })
  t.match(await drain(beside, { dryRun: true }), { left: 0, hindrances: [] })
})

t.test('whoever holds a Lease is at work, and in the way; one that died is not, and its Lease goes', async (t) => {
  const world = await servedWorld({ config: 'lock: lease\nlease: { namespace: shop }' })
  const lease = namesOf(world.core, ['Lease'])
  t.strictSame(lease, [], 'nothing is held while nothing happens')
  const labels = {
    'app.kubernetes.io/managed-by': 'webhook-cloud-provider',
    'webhook-cloud-provider.dev/owner': FINALIZER.replace('/', '_'),
  }
  const now = new Date(world.clock.now()).toISOString().replace('Z', '000Z')
  await world.create({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'wcp-busy', namespace: 'shop', labels },
    spec: { holderIdentity: 'pod-1', leaseDurationSeconds: 15, acquireTime: now, renewTime: now },
  } as KubernetesObject)
  const { hindrances } = await drain(world)
  t.match(hindrances, [/^a function is at work \(pod-1 holds Leases in namespace shop\): stop it.* wait 20 s/])
  t.equal(world.balancers().length, 2)
  await world.clock.advance(21_000)
  const { left, lines } = await drain(world)
  t.equal(left, 0)
  t.match(lines.at(-1), /^Leases: \d+ removed$/)
  t.strictSame(namesOf(world.core, OURS), [])
})

t.test('what a function takes back meanwhile is told', async (t) => {
  const world = await servedWorld()
  let taken = false
  const store: World['store'] = {
    ...world.store,
    async delete(key, options) {
      await world.store.delete(key, options)
      if (!taken) await settle(world)
      taken = true
    },
  }
  const { left, lines } = await drain({ ...world, store })
  t.equal(left, 2)
  t.match(lines.at(-1), /^2 objects were taken back meanwhile: a function still runs; stop it$/)
})

// ---- under one cluster ----

t.test('kubernetes: balancers of Services of our class go; nodes, routes and other classes stay', async (t) => {
  const world = createServiceWorld({ objects: [buildNode(1), buildNode(2)] as KubernetesObject[] })
  await world.create(buildWeb())
  await world.settle()
  const theirs = buildWeb({ loadBalancerClass: 'example.com/theirs' }, { name: 'theirs', finalizers: [CLEANUP] })
  await world.create(theirs)
  t.strictSame(world.read(WEB)?.metadata.finalizers, [CLEANUP])
  const nodes = () => JSON.stringify(world.core.list({ group: '', version: 'v1', plural: 'nodes' }).items)
  const before = nodes()
  const { cluster, config, store, clock } = world
  const drained = { config, store, clock, provider: { name: 'fake', cloudProvider: cluster.cloudProvider } }

  t.strictSame(await drain(drained, { keepBalancers: true }), {
    left: 0,
    hindrances: [],
    lines: ['Services: nothing to hand over: another cloud controller manager finds the finalizer, which is shared'],
  })
  t.match(await drain(drained, { dryRun: true }), { lines: ['Service/default/web: balancer would be removed'] })
  t.strictSame(world.read(WEB)?.metadata.finalizers, [CLEANUP])

  t.strictSame(await drain(drained), {
    left: 0,
    hindrances: [],
    lines: ['Service/default/web: balancer removed, let go'],
  })
  t.equal(world.read(WEB)?.metadata.finalizers, undefined)
  t.strictSame(world.read(WEB)?.status?.loadBalancer, {})
  t.strictSame(world.read({ ...WEB, name: 'theirs' })?.metadata.finalizers, [CLEANUP])
  t.strictSame(cluster.balancers.all().length, 0)
  t.equal(nodes(), before)
  t.strictSame(await drain(drained), { left: 0, hindrances: [], lines: [] })
})

t.test(
  'kubernetes: what is in deletion, or wants no balancer any more, is cleaned up; what fails stays, and is told',
  async (t) => {
    let failing = true
    const world = createServiceWorld({
      objects: [buildNode(1)] as KubernetesObject[],
      failure: ({ method }) =>
        failing && method === 'ensureLoadBalancerDeleted' ? { when: 'before', error: new Error('in use') } : undefined,
    })
    await world.create(buildWeb())
    await world.settle()
    await world.remove(WEB)
    const { cluster, config, store, clock } = world
    const drained = { config, store, clock, provider: { name: 'fake', cloudProvider: cluster.cloudProvider } }
    t.match(await drain(drained), { left: 1, lines: [/^Service\/default\/web: stays: /] })
    failing = false
    t.match(await drain(drained), { left: 0 })
    t.equal(world.read(WEB), undefined)
  },
)

// ---- on the way ----

t.test('interrupted at any object, it is taken up again', async (t) => {
  for (let writes = 1; writes <= 6; writes += 1) {
    const world = await servedWorld()
    let left = writes
    const interrupted = new AbortController()
    const counting = <R>(write: Promise<R>) =>
      write.finally(() => {
        left -= 1
        if (left === 0) interrupted.abort(new Error('interrupted'))
      })
    const store: World['store'] = {
      ...world.store,
      patch: (key, patch, options) => counting(world.store.patch(key, patch, options)),
      delete: (key, options) => counting(world.store.delete(key, options)),
    }
    const { config, provider, clock } = world
    const settings = { config, provider, logger: silentLogger }
    const options = { keepBalancers: false, dryRun: false, report: () => {}, signal: interrupted.signal }
    await letGo(store, settings, clock, options).catch(() => t.ok(interrupted.signal.aborted))
    t.match(await drain(world), { left: 0 }, `after ${writes} writes`)
    t.strictSame([namesOf(world.core, OURS), world.balancers()], [[], []])
    for (const key of [INGRESS, SERVICE]) t.equal(world.read(key)?.metadata.finalizers, undefined)
  }
})

t.test('kinds that were uninstalled before hold nothing, and what RBAC hides is told', async (t) => {
  const world = await servedWorld()
  const gone = (kind: string) => ['ServiceExport', 'PropagationPolicy', 'ClusterPropagationPolicy'].includes(kind)
  const missing = () => Promise.reject(new CatalogueError('KindNotServed', 'no such kind'))
  const hidden = () => Promise.reject(new CatalogueError('ApiForbidden', 'forbidden'))
  const store: World['store'] = {
    ...world.store,
    get: (key, options) =>
      gone(key.kind) ? missing() : key.kind.endsWith('WebhookConfiguration') ? hidden() : world.store.get(key, options),
    list: (kind, options) => (gone(kind) ? missing() : world.store.list(kind, options)),
  }
  const { left, lines } = await drain({ ...world, store })
  t.equal(left, 0)
  t.match(lines[0], /^webhooks: RBAC does not let us see/)
  t.strictSame(world.balancers(), [])
})

t.test('wcp drain: what is in the way, what would be done, and done; by exit codes', async (t) => {
  const clock = createManualClock(Date.now())
  const authority = await createCertificateAuthority(clock.now())
  const plane = await startLocalControlPlane({ clock, authority, definitions: karmadaCrds })
  t.teardown(() => plane.close())
  const folder = mkdtempSync(join(tmpdir(), 'drain-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'kubeconfig'), plane.kubeconfig, { mode: 0o600 })
  const config = join(folder, 'config.json')
  const settings = { provider: { name: 'fake' }, kubernetes: { kubeconfig: join(folder, 'kubeconfig') } }
  writeFileSync(config, JSON.stringify(settings))
  plane.core.preload([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
    buildIngress({ metadata: { finalizers: [FINALIZER] } }),
    ...ourWebhooks(FINALIZER, IDENTITY),
  ] as never)

  t.match(await wcp(['drain', '--help']), { code: 0, out: /^usage: wcp drain --config FILE/ })
  t.match(await wcp(['drain']), { code: 2, err: /--config FILE or WCP_CONFIG/ })
  t.match(await wcp(['drain', '--config', config]), { code: 1, err: /^in the way: its webhooks are registered/ })
  for (const plural of ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'])
    for (const { metadata } of plane.core.list({ group: 'admissionregistration.k8s.io', version: 'v1', plural }).items)
      await plane.core.delete(
        { group: 'admissionregistration.k8s.io', version: 'v1', plural, name: metadata.name },
        { user: { username: 'admin', groups: ['system:masters'] } },
      )
  t.match(await wcp(['drain', '--config', config, '--dry-run']), {
    code: 0,
    out: /storefront: balancer would be removed$/,
  })
  t.match(await wcp(['drain', '--config', config]), { code: 0, out: /let go\nnothing is held any more$/ })
})

t.test('a function drains what a provider of its own holds, which wcp does not know', async (t) => {
  const clock = createManualClock(Date.now())
  const plane = await startLocalControlPlane({
    clock,
    authority: await createCertificateAuthority(clock.now()),
    definitions: [],
  })
  t.teardown(() => plane.close())
  const folder = t.testdir({ kubeconfig: plane.kubeconfig })
  const kubernetes = { kubeconfig: join(folder, 'kubeconfig') }
  const cloud = { configureCloudRoutes: false }
  const configFile = join(folder, 'config.json')
  writeFileSync(
    configFile,
    JSON.stringify({ provider: { name: 'acme' }, controlPlane: 'kubernetes', kubernetes, cloud }),
  )
  plane.core.preload([buildWeb({}, { finalizers: [CLEANUP] })] as never)
  t.match(await wcp(['drain', '--config', configFile]), { code: 2, err: /no provider is called "acme"/ })

  const clouds = createCloudRegistry()
  const { cloudProvider } = createFakeClusterCloud({ clock })
  clouds.registerCloudProvider('acme', () => cloudProvider)
  const lines: string[] = []
  const result = await drainFunction({
    configFile,
    environment: {},
    registry: createProviderRegistry(clouds.factories()),
    write: () => {},
    keepBalancers: false,
    dryRun: false,
    report: (line) => void lines.push(line),
    signal: new AbortController().signal,
  })
  t.same(result, { left: 0, hindrances: [] })
  t.match(lines, [/^Service\/default\/web: /])
  const services = { group: '', version: 'v1', plural: 'services', namespace: 'default', name: 'web' }
  t.equal(plane.core.get(services).metadata.finalizers, undefined)
})
