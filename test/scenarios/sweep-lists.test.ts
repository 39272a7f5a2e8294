import t from 'tap'
import { CatalogueError } from '../../src/domain/catalogue-error.ts'
import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import type { ClusterStore } from '../../src/ports/cluster-store.ts'
import type { ListedBalancer, MultiClusterProvider } from '../../src/provider/multicluster.ts'
import { buildClass, buildCluster, buildIngress, buildServiceWorld, FINALIZER } from '../support/build-objects.ts'
import { createWorld, type World, type WorldOptions } from '../support/world.ts'

// What a sweep asks for by lists: of the API server all namespaces in one, of the provider all balancers in one. What was
// listed a while ago may tell that nothing is to be done, and nothing else.

const SELDOM = 'sweep: { pageSize: 16, intervalMs: 300000, periodMs: 86400000 }'
const noAbort = () => new AbortController().signal

/** Ingresses of two Services in each namespace, with hosts of their own. */
function shops(namespaces: string[], ingresses: number): KubernetesObject[] {
  const moved = (object: KubernetesObject, namespace: string): KubernetesObject => {
    const copy = structuredClone(object) as KubernetesObject & { spec?: { resource?: { namespace?: string } } }
    if (copy.kind === 'ResourceBinding' && copy.spec?.resource !== undefined) copy.spec.resource.namespace = namespace
    const uid = `${namespace}-${copy.kind}-${copy.metadata.name}`
    return { ...copy, metadata: { ...copy.metadata, namespace, uid } }
  }
  return namespaces.flatMap((namespace) => [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } } as KubernetesObject,
    ...['web', 'cart'].flatMap((name) => buildServiceWorld(name)).map((object) => moved(object, namespace)),
    ...Array.from({ length: ingresses }, (_, index) => ingressOf(namespace, index)),
  ])
}

function ingressOf(namespace: string, index: number, host = `${index}.${namespace}.example.com`) {
  const service = { name: index % 2 === 0 ? 'web' : 'cart', port: { number: 80 } }
  const paths = [{ path: '/', pathType: 'Prefix' as const, backend: { service } }]
  return buildIngress({
    metadata: {
      name: `shop-${index}`,
      namespace,
      uid: `${namespace}-${index}`,
      finalizers: [FINALIZER],
      ...(namespace === 'z' && { creationTimestamp: '2020-01-01T00:00:00Z' }),
    },
    spec: { ingressClassName: 'multicloud', rules: [{ host, http: { paths } }] },
  })
}

async function settle(namespaces: string[], ingresses: number, options: WorldOptions = {}): Promise<World> {
  const shared = [buildClass(), buildCluster('edge-a'), buildCluster('edge-b')]
  const world = createWorld({ config: SELDOM, ...options, objects: [...shared, ...shops(namespaces, ingresses)] })
  for (let times = 0; times < 3; times += 1) await sweep(world)
  return world
}

async function sweep(world: World, token?: string) {
  world.requests.length = 0
  const report = await world.runtime.doors.sweep({ scope: 'all', ...(token && { continue: token }) }, noAbort())
  const requests = Object.groupBy(world.requests, (request) => request)
  await world.clock.advance(300_000)
  return {
    report,
    requests: Object.fromEntries(Object.entries(requests).map(([name, all = []]) => [name, all.length])),
  }
}

/** In an order of the API server that is not that of their names. */
const MANY = ['a', 'a-b', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k']

t.test(
  'many namespaces are walked through in pages; a quiet sweep asks for nothing else, and the cloud once',
  async (t) => {
    const world = await settle(MANY, 4)
    t.equal(world.balancers().length, 48)
    const calls = world.calls().length
    const { report, requests } = await sweep(world)
    t.match(report, { listed: 48 + 24, outcomes: { settled: 48 + 24 + 1, failed: 0, later: 0 } })
    t.strictSame(world.calls().length, calls, 'no balancer is asked for by itself')
    t.strictSame(requests, {
      'list IngressClass': 1,
      'list Cluster': 2,
      'list MultiClusterIngress': 3,
      // 24, in two pages; 48, in three.
      'list Service': 2,
      'list ResourceBinding': 2,
      'list EndpointSlice': 3,
      // And once more, as objects of their own.
      'list ServiceExport': 4,
      'list PropagationPolicy': 2,
      'list MultiClusterService': 2,
      'get ClusterPropagationPolicy': 1,
    })
  },
)

t.test('a change in any namespace is found, wherever pages are cut', async (t) => {
  const world = await settle(MANY, 4)
  const fingerprints = () =>
    new Map(
      world.cloud
        .balancers()
        .map(({ identity, fingerprint }) => [`${identity.namespace}/${identity.name}`, fingerprint]),
    )
  for (const namespace of MANY) {
    const before = fingerprints()
    await world.edit(
      { kind: 'EndpointSlice', namespace, name: 'imported-edge-a-web-x7k2p' },
      { endpoints: [{ addresses: ['10.64.0.99'] }] },
    )
    await sweep(world)
    const after = fingerprints()
    t.strictSame(
      [...after]
        .filter(([name, fingerprint]) => before.get(name) !== fingerprint)
        .map(([name]) => name)
        .sort(),
      [`${namespace}/shop-0`, `${namespace}/shop-2`],
    )
  }
})

for (const { title, disturb } of [
  {
    title: 'whose tokens expire without a way to go on',
    disturb:
      (store: ClusterStore): ClusterStore['list'] =>
      async (kind, options) => {
        if (kind === 'Service' && options.continue !== undefined) throw new CatalogueError('ContinueExpired', 'too old')
        return store.list(kind, options)
      },
  },
  {
    title: 'whose order is another',
    disturb:
      (store: ClusterStore): ClusterStore['list'] =>
      async (kind, options) => {
        const list = await store.list(kind, options)
        return kind === 'Service' && options.namespace === undefined
          ? { ...list, items: list.items.toReversed() }
          : list
      },
  },
]) {
  t.test(`a list ${title} is left for lists of each namespace`, async (t) => {
    const world = await settle(MANY, 4, { wrapStore: (store) => ({ ...store, list: disturb(store) }) })
    const { report, requests } = await sweep(world)
    t.match(report, { outcomes: { settled: 48 + 24 + 1, failed: 0, later: 0 } })
    t.ok((requests['list Service'] ?? 0) > 8, 'of each namespace')
    t.equal(requests['get Service'], undefined)
    t.equal(requests['list ResourceBinding'], 2, 'the other kinds are walked through')
  })
}

for (const { title, disturb } of [
  {
    title: 'begin anew, as their token has expired without a way to go on',
    disturb: (store: ClusterStore): ClusterStore['list'] => {
      let expires = true
      return async (kind, options) => {
        if (kind !== 'MultiClusterIngress' || options.continue === undefined || !expires) {
          return store.list(kind, options)
        }
        expires = false
        throw new CatalogueError('ContinueExpired', 'too old')
      }
    },
  },
  {
    title: 'come in another order',
    disturb:
      (store: ClusterStore): ClusterStore['list'] =>
      async (kind, options) => {
        const list = await store.list(kind, options)
        return kind === 'MultiClusterIngress' && options.namespace === undefined
          ? { ...list, items: list.items.toReversed() }
          : list
      },
  },
]) {
  t.test(`where ingresses ${title}, what is around them is listed for each namespace`, async (t) => {
    let isDisturbed = false
    const world = await settle(MANY, 4, {
      wrapStore: (store) => {
        const disturbed = disturb(store)
        return { ...store, list: (kind, options) => (isDisturbed ? disturbed : store.list)(kind, options) }
      },
    })
    const [calls, lines] = [world.calls().length, world.logs.length]
    isDisturbed = true
    const { requests } = await sweep(world)
    t.ok((requests['list Service'] ?? 0) > 8)
    t.equal(world.calls().length, calls)
    t.strictSame(
      world.logs
        .slice(lines)
        .filter(({ message }) => message === 'reconciled')
        .map(({ fields }) => ('key' in fields ? fields.key : undefined)),
      ['ClusterPropagationPolicy//serviceexportpropagation-policy'],
      'nothing is taken for absent: the sweep finds all of them settled',
    )
  })
}

t.test('ingresses in few of many namespaces: what is around them is listed for each', async (t) => {
  const world = await settle(['a', 'm', 'z'], 4)
  const { requests } = await sweep(world)
  t.equal(requests['list Service'], 3)
  t.equal(requests['get Service'], undefined)
})

function listing(change: (listed: ListedBalancer[]) => ListedBalancer[]) {
  return (fake: MultiClusterProvider): MultiClusterProvider => {
    const { loadBalancer } = fake
    if (loadBalancer === undefined) return fake
    const listLoadBalancers: typeof loadBalancer.listLoadBalancers = async (context) =>
      change((await loadBalancer.listLoadBalancers?.(context)) ?? [])
    return { ...fake, loadBalancer: { ...loadBalancer, listLoadBalancers } }
  }
}

t.test('a balancer of which the list does not say enough is asked for', async (t) => {
  for (const change of [
    (listed: ListedBalancer[]) => listed.filter(({ name }) => name !== 'shop-1'),
    (listed: ListedBalancer[]) =>
      listed.map(({ record, ...own }) => (own.name === 'shop-1' || !record ? own : { ...own, record })),
    (listed: ListedBalancer[]) => listed.map((own) => (own.name === 'shop-1' ? { ...own, record: {} } : own)),
    (listed: ListedBalancer[]) => [...listed, ...listed.filter(({ name }) => name === 'shop-1')],
  ]) {
    const world = await settle(['a'], 3, { provider: listing(change) })
    const calls = world.cloud.calls().length
    t.match(await sweep(world), { report: { outcomes: { settled: 3 + 2 + 1 } } })
    t.strictSame(
      world.cloud
        .calls()
        .slice(calls)
        .map(({ method, identity }) => `${method} ${identity.name}`),
      ['get shop-1'],
    )
  }
})

t.test('a provider that cannot list now is asked for each balancer, and that is said once', async (t) => {
  let fails = false
  const world = await settle(['a'], 3, {
    provider: listing((listed) => {
      if (fails) throw new Error('too many requests')
      return listed
    }),
  })
  fails = true
  const calls = world.calls().length
  const swept = world.runtime.doors.sweep({ scope: 'all' }, noAbort())
  await t.rejects(swept, { code: 'ProviderFailed' }, 'what nobody holds cannot be found')
  t.strictSame(world.calls().slice(calls), ['get', 'get', 'get'])
  t.equal(world.logs.filter(({ message }) => message === 'balancers could not be listed: each is asked for').length, 1)
})

t.test('a record of another shape than agreed fails its own object, and keeps the sweep from no other', async (t) => {
  let isMisshapen = false
  const told = (own: ListedBalancer): ListedBalancer =>
    own.name === 'shop-1' && isMisshapen
      ? { ...own, record: { ...own.record, status: { ingress: 'soon' as never } } }
      : own
  const world = await settle(['a'], 3, { provider: listing((listed) => listed.map(told)) })
  isMisshapen = true
  const { report } = await sweep(world)
  t.match(report, { outcomes: { settled: 2 + 2 + 1, failed: 1 } })
  t.equal(report.continue, undefined)
})

t.test('what the list says is not believed where something would follow from it', async (t) => {
  for (const told of [
    { fingerprint: 'of another time' },
    { fingerprint: 'of another time', status: { ingress: [] } },
  ]) {
    let isOld = false
    const world = await settle(['a'], 3, {
      provider: listing((listed) => (isOld ? listed.map((own) => ({ ...own, record: told })) : listed)),
    })
    const calls = world.calls().length
    isOld = true
    await sweep(world)
    t.strictSame(new Set(world.calls().slice(calls)), new Set(['get']), 'asked again, it is as it should be')
  }
})

t.test(
  'of an object that changed since it was listed nothing that was listed is believed under its lock',
  async (t) => {
    const ingress = { kind: 'MultiClusterIngress', namespace: 'a', name: 'shop-0' } as const
    let edits = 0
    const world: World = await settle(['a'], 1, {
      config: 'sweep: { intervalMs: 1000, periodMs: 1000 }\npropagation: { enabled: false }',
      wrapStore: (store) => ({
        ...store,
        async get(key, options) {
          if (edits === 1) {
            edits += 1
            await world.edit(ingress, { metadata: { annotations: { 'example.com/weight': '3' } } })
          }
          return store.get(key, options)
        },
      }),
    })
    const calls = world.calls().length
    edits = 1
    await sweep(world)
    t.equal(edits, 2, 'it is verified, so it is read under its lock')
    t.strictSame(world.calls().slice(calls), ['get', 'update'])
  },
)

/** What the provider was told last, of those that it was told anything but to look. */
function servedHosts(world: World, namespace: string, name: string): (string | undefined)[] | undefined {
  const told = world.handed.findLast(
    ({ method, context: { identity } }) =>
      method !== 'get' && identity.namespace === namespace && identity.name === name,
  )
  const { spec } = (told?.object ?? {}) as ReturnType<typeof ingressOf>
  return spec?.rules?.map(({ host }) => host)
}

t.test('a host that an ingress of a later page has claimed for longer is lost to it in the same sweep', async (t) => {
  for (const isCold of [false, true]) {
    const world = await settle(['m', 'z'], 12)
    const other = isCold ? createWorld({ config: SELDOM, beside: world, provider: () => world.provider }) : world
    t.strictSame(servedHosts(world, 'm', 'shop-0'), ['0.m.example.com'])
    // Of two of the same second the first by name is the older one; this one was there before both.
    const { spec } = ingressOf('z', 11, '0.m.example.com')
    await world.edit({ kind: 'MultiClusterIngress', namespace: 'z', name: 'shop-11' }, { spec: spec as object })
    await sweep(other)
    t.strictSame(servedHosts(world, 'm', 'shop-0'), [])
    t.strictSame(servedHosts(world, 'z', 'shop-11'), ['0.m.example.com'])
    const calls = world.cloud.calls().filter(({ method }) => method !== 'get').length
    await sweep(other)
    t.equal(world.cloud.calls().filter(({ method }) => method !== 'get').length, calls, 'and that is that')
    await world.edit(
      { kind: 'MultiClusterIngress', namespace: 'z', name: 'shop-11' },
      { spec: ingressOf('z', 11).spec as object },
    )
    await sweep(other)
    t.strictSame(servedHosts(world, 'm', 'shop-0'), ['0.m.example.com'], 'and comes back with its host')
  }
})

t.test('a sweep that was cut short may have overlooked it; the next one does not', async (t) => {
  const world = await settle(['m', 'z'], 12)
  const { spec } = ingressOf('z', 11, '0.m.example.com')
  await world.edit({ kind: 'MultiClusterIngress', namespace: 'z', name: 'shop-11' }, { spec: spec as object })
  const controller = new AbortController()
  const cut = world.runtime.doors.sweep({ scope: 'all' }, controller.signal)
  controller.abort()
  t.match(await cut, { continue: /./ })
  await sweep(world)
  t.strictSame(servedHosts(world, 'm', 'shop-0'), [])
})

t.test('who goes on with a sweep that was cut short, finds whom the call before has overlooked', async (t) => {
  const controller = new AbortController()
  let pages = Number.NEGATIVE_INFINITY
  const world = await settle(['m', 'z'], 28, {
    wrapStore: (store) => ({
      ...store,
      list(kind, options) {
        if (kind === 'MultiClusterIngress' && options.namespace === undefined) pages += 1
        // The first one has been worked on.
        if (pages === 4) controller.abort()
        return store.list(kind, options)
      },
    }),
  })
  const other = createWorld({ config: SELDOM, beside: world, provider: () => world.provider })
  const { spec } = ingressOf('z', 11, '0.m.example.com')
  await world.edit({ kind: 'MultiClusterIngress', namespace: 'z', name: 'shop-11' }, { spec: spec as object })
  pages = 0
  const cut = await world.runtime.doors.sweep({ scope: 'all' }, controller.signal)
  t.match(cut, { listed: 16, continue: /./ })
  const { report } = await sweep(other, cut.continue)
  t.equal(report.continue, undefined)
  t.strictSame(servedHosts(world, 'm', 'shop-0'), [])
})

const ofCart = { kind: 'ServiceExport', namespace: 'n', name: 'cart' } as const
const ofWeb = { ...ofCart, name: 'web' }

async function remove(world: World, namespace: string, names: string[]): Promise<void> {
  for (const name of names) await world.remove({ kind: 'MultiClusterIngress', namespace, name })
}

t.test('an export that only finished ingresses of an earlier page need stays in a pending sweep', async (t) => {
  const world = await settle(['a', 'n'], 18)
  await remove(world, 'n', ['shop-10', 'shop-11'])
  await sweep(world)
  // On the first page, and on the last: of the one between none is due.
  await remove(world, 'a', ['shop-0'])
  await remove(world, 'n', ['shop-9'])
  world.requests.length = 0
  await world.runtime.doors.sweep({ scope: 'pending' }, noAbort())
  t.ok(world.read(ofCart))
  t.strictSame(
    world.requests.filter((request) => ['get ServiceExport', 'delete ServiceExport'].includes(request)),
    ['get ServiceExport', 'get ServiceExport'],
    'one each of the two, as nothing is to be done',
  )
})

t.test('an export that an ingress needs which came after the lists of a pending sweep stays', async (t) => {
  let comes = false
  const world: World = await settle(['n'], 3, {
    wrapStore: (store) => ({
      ...store,
      async list(kind, options) {
        const list = await store.list(kind, options)
        if (!comes || kind !== 'PropagationPolicy') return list
        comes = false
        await world.create(ingressOf('n', 7) as KubernetesObject)
        return list
      },
    }),
  })
  await remove(world, 'n', ['shop-0', 'shop-1', 'shop-2'])
  comes = true
  await world.runtime.doors.sweep({ scope: 'pending' }, noAbort())
  t.ok(world.read(ofCart))
  t.notOk(world.read(ofWeb), 'what nobody needs goes')
})
