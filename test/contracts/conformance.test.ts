import t from 'tap'
import type { Node } from '../../src/domain/node.ts'
import type { Service } from '../../src/domain/service.ts'
import type {
  CloudContext,
  CloudLoadBalancer,
  CloudProvider,
  EnsureContext,
  InstancesV2,
  Routes,
} from '../../src/provider/cloud.ts'
import { RetryAfter } from '../../src/provider/errors.ts'
import type { LoadBalancer, MCSLoadBalancer, ProviderContext } from '../../src/provider/multicluster.ts'
import type { Provider } from '../../src/provider/provider.ts'
import { createExampleCloud } from '../../src/providers/example/example-provider.ts'
import { createFakeClusterCloud } from '../../src/providers/fake/fake-cluster-cloud.ts'
import { createFakeProvider } from '../../src/providers/fake/fake-provider.ts'
import { type ConformanceSubject, examineProvider, formatReport } from '../../src/testing/conformance.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { serveRemotely } from '../support/provider-server.ts'

// Over HTTP time is the system's.
t.setTimeout(240_000)

/** Time passes when somebody waits for it. */
function skippingClock() {
  const clock = createManualClock()
  return {
    ...clock,
    wait: async (ms: number) => {
      await clock.advance(ms)
    },
  }
}

function fake(delayMs: number, clock = createManualClock()): Provider {
  const { cloudProvider } = createFakeClusterCloud({ clock, delayMs, adopt: true })
  return { ...createFakeProvider({ delayMs, failure: () => undefined, clock }), cloudProvider }
}

const examine = (createProvider: ConformanceSubject['createProvider'], clock = skippingClock()) =>
  examineProvider({ createProvider, level: 2, clock, patienceMs: 10_000 })

t.test('the fake provider passes, quick or slow', async (t) => {
  for (const delayMs of [0, 3_000]) {
    const clock = skippingClock()
    const report = await examine(() => fake(delayMs, clock), clock)
    t.ok(report.passed, formatReport(report))
    t.ok(report.results.length > 50, 'three kinds were looked at')
  }
})

t.test('the example provider has nothing to fail with', async (t) => {
  const report = await examine(() => ({ name: 'example', cloudProvider: createExampleCloud() }))
  t.match(report, {
    passed: true,
    results: [{ outcome: 'passed' }, { check: 'provider/interfaces', outcome: 'skipped' }],
  })
})

// Providers that are wrong in one point each, and the check that says so.

type Change = (right: LoadBalancer) => Partial<LoadBalancer>

const WRONG: Readonly<Record<string, Change>> = {
  'absent-is-undefined': () => ({ getLoadBalancer: async () => ({}) }),
  'ensure-makes': ({ ensureLoadBalancer }) => ({
    ensureLoadBalancer: async (ingress, context) => {
      await ensureLoadBalancer(ingress, context)
      return { status: { ingress: [{ ip: '203.0.113.99' }] } }
    },
  }),
  'status-can-be-published': ({ ensureLoadBalancer }) => ({
    ensureLoadBalancer: async (ingress, context) => {
      await ensureLoadBalancer(ingress, context)
      return { status: { ingress: [{ hostname: 'not a host' }] } }
    },
  }),
  'ensure-again': (right) => ({
    ensureLoadBalancer: async (ingress, context) => {
      const { uid } = context.identity
      ensured.set(uid, (ensured.get(uid) ?? 0) + 1)
      return right.ensureLoadBalancer(ingress, context)
    },
    getLoadBalancer: async (ingress, context) => {
      const found = await right.getLoadBalancer(ingress, context)
      return found && { ...found, status: { ingress: [{ ip: `192.0.2.${ensured.get(context.identity.uid)}` }] } }
    },
  }),
  'update-keeps': ({ ensureLoadBalancerDeleted, updateLoadBalancer }) => ({
    updateLoadBalancer: async (ingress, context) => {
      const result = await updateLoadBalancer(ingress, context)
      await ensureLoadBalancerDeleted(ingress, context)
      return result
    },
  }),
  'delete-removes': () => ({ ensureLoadBalancerDeleted: async () => {} }),
  'delete-of-absent': ({ getLoadBalancer, ensureLoadBalancerDeleted }) => ({
    ensureLoadBalancerDeleted: async (ingress, context) => {
      if (ingress !== undefined && (await getLoadBalancer(ingress, context)) === undefined) throw new Error('404')
      return ensureLoadBalancerDeleted(ingress, context)
    },
  }),
  'delete-of-gone-object': ({ ensureLoadBalancerDeleted }) => ({
    ensureLoadBalancerDeleted: async (ingress, context) => {
      if (ingress?.metadata.name !== undefined) await ensureLoadBalancerDeleted(ingress, context)
    },
  }),
  'identities-are-apart': (right) => {
    const byName = (context: ProviderContext) => ({ ...context, identity: { ...context.identity, uid: 'any' } })
    return {
      getLoadBalancer: (ingress, context) => right.getLoadBalancer(ingress, byName(context)),
      ensureLoadBalancer: (ingress, context) => right.ensureLoadBalancer(ingress, byName(context)),
      updateLoadBalancer: (ingress, context) => right.updateLoadBalancer(ingress, byName(context)),
      ensureLoadBalancerDeleted: (ingress, context) => right.ensureLoadBalancerDeleted(ingress, byName(context)),
    }
  },
  'arguments-are-read-only': ({ ensureLoadBalancer }) => ({
    ensureLoadBalancer: async (ingress, context) => {
      ingress.metadata.labels = { mine: 'true' }
      return ensureLoadBalancer(ingress, context)
    },
  }),
  'aborted-before': ({ ensureLoadBalancer }) => ({
    ensureLoadBalancer: (ingress, context) =>
      ensureLoadBalancer(ingress, { ...context, signal: new AbortController().signal }),
  }),
  'aborted-during': ({ ensureLoadBalancer }) => ({
    ensureLoadBalancer: async (ingress, context) => {
      await Promise.resolve()
      return context.signal.aborted ? new Promise(() => {}) : ensureLoadBalancer(ingress, context)
    },
  }),
  'validate-is-pure': () => ({
    validate: () => [{ field: 'spec', reason: 'FieldValueInvalid', message: 'no' }],
  }),
  'overlapping-ensures': (right) => ({
    ensureLoadBalancer: async (ingress, context) => {
      const found = await right.getLoadBalancer(ingress, context)
      await aMoment()
      if (found !== undefined) return right.ensureLoadBalancer(ingress, context)
      doubled.push(context.identity)
      return right.ensureLoadBalancer(ingress, context)
    },
    listLoadBalancers: async () => doubled,
  }),
  'overlapping-ensure-and-delete': (right) => ({
    listLoadBalancers: async () => [...doubled],
    ensureLoadBalancer: async (ingress, context) => {
      if (!doubled.some(({ uid }) => uid === context.identity.uid)) doubled.push({ ...context.identity })
      return right.ensureLoadBalancer(ingress, context)
    },
  }),
  'answer-lost': (right) => ({
    getLoadBalancer: async (ingress, context) =>
      lost.has(context.identity.uid) ? undefined : right.getLoadBalancer(ingress, context),
    ensureLoadBalancer: async (ingress, context) => {
      await Promise.resolve()
      if (context.signal.aborted) lost.add(context.identity.uid)
      return right.ensureLoadBalancer(ingress, context)
    },
  }),
  'answer-lost-midway': (right) => ({
    // It takes a moment, and forgets whose it was when nobody waits any more.
    getLoadBalancer: async (ingress, context) =>
      lost.has(context.identity.uid) ? undefined : right.getLoadBalancer(ingress, context),
    ensureLoadBalancer: async (ingress, context) => {
      await aMoment()
      if (context.signal.aborted) lost.add(context.identity.uid)
      return right.ensureLoadBalancer(ingress, context)
    },
  }),
  'update-answer-lost': (right) => ({
    getLoadBalancer: async (ingress, context) =>
      lost.has(context.identity.uid) ? undefined : right.getLoadBalancer(ingress, context),
    updateLoadBalancer: async (ingress, context) => {
      await aMoment()
      if (context.signal.aborted) lost.add(context.identity.uid)
      return right.updateLoadBalancer(ingress, context)
    },
  }),
  'delete-answer-lost': (right) => ({
    ensureLoadBalancerDeleted: async (ingress, context) => {
      const { uid } = context.identity
      await aMoment()
      if (begunDeletes.has(uid)) return
      if (context.signal.aborted) begunDeletes.add(uid)
      return right.ensureLoadBalancerDeleted(ingress, context)
    },
  }),
  'list-is-the-record': () => ({ listLoadBalancers: async () => [] }),
  'fingerprint-is-of-the-last': ({ getLoadBalancer }) => ({
    getLoadBalancer: async (ingress, context) => {
      const found = await getLoadBalancer(ingress, context)
      return found && { ...found, fingerprint: 'always' }
    },
  }),
  'others-are-untouched': (right) => ({
    listLoadBalancers: async (context) => [
      ...((await right.listLoadBalancers?.(context)) ?? []),
      ...((await right.listLoadBalancers?.({ ...context, clusterId: 'another' })) ?? []),
    ],
  }),
}

/** Long enough for a call over HTTP to be overtaken, or given up. */
async function aMoment(): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

const ensured = new Map<string, number>()
const lost = new Set<string>()
const begunDeletes = new Set<string>()
const NEVER = new AbortController().signal
const doubled: ProviderContext['identity'][] = []

function wrong(change: Change): Provider {
  const { loadBalancer } = fake(0)
  if (loadBalancer === undefined) throw new Error('the fake serves no ingress')
  doubled.length = 0
  return { name: 'wrong', loadBalancer: { ...loadBalancer, ...change(loadBalancer) } }
}

/** The same fault in the other kinds, whose methods have other names and arguments. */
const WRONG_IN: Readonly<Record<string, (change: Change) => Provider>> = {
  MultiClusterIngress: wrong,
  MultiClusterService(change) {
    const { mcsLoadBalancer } = fake(0)
    if (mcsLoadBalancer === undefined) throw new Error('the fake serves no services')
    doubled.length = 0
    const right = {
      getLoadBalancer: mcsLoadBalancer.getMCSLoadBalancer,
      ensureLoadBalancer: mcsLoadBalancer.ensureMCSLoadBalancer,
      updateLoadBalancer: mcsLoadBalancer.updateMCSLoadBalancer,
      ensureLoadBalancerDeleted: mcsLoadBalancer.ensureMCSLoadBalancerDeleted,
      listLoadBalancers: mcsLoadBalancer.listMCSLoadBalancers,
    } as unknown as LoadBalancer
    const { listLoadBalancers, validate, ...changed } = { ...right, ...change(right) }
    return {
      name: 'wrong',
      mcsLoadBalancer: {
        getMCSLoadBalancer: changed.getLoadBalancer,
        ensureMCSLoadBalancer: changed.ensureLoadBalancer,
        updateMCSLoadBalancer: changed.updateLoadBalancer,
        ensureMCSLoadBalancerDeleted: changed.ensureLoadBalancerDeleted,
        listMCSLoadBalancers: listLoadBalancers,
        validate,
      } as unknown as MCSLoadBalancer,
    }
  },
  Service(change) {
    const { cloudProvider } = fake(0)
    const balancer = cloudProvider?.loadBalancer()
    if (cloudProvider === undefined || balancer === undefined) throw new Error('the fake serves no cluster')
    doubled.length = 0
    // Nodes go with the context, which the fault hands on.
    type WithNodes = EnsureContext & { nodes: Node[] }
    const right = {
      getLoadBalancer: (service: Service, context: WithNodes) => balancer.getLoadBalancer('c', service, context),
      ensureLoadBalancer: (service: Service, { nodes, ...context }: WithNodes) =>
        balancer.ensureLoadBalancer('c', service, nodes, context),
      updateLoadBalancer: (service: Service, { nodes, ...context }: WithNodes) =>
        balancer.updateLoadBalancer('c', service, nodes, context),
      ensureLoadBalancerDeleted: (service: Service | undefined, context: WithNodes) =>
        balancer.ensureLoadBalancerDeleted('c', service, context),
      listLoadBalancers: (context: CloudContext) => balancer.listLoadBalancers?.('c', context),
    }
    const asked = right as unknown as LoadBalancer
    const changed = { ...asked, ...change(asked) } as unknown as typeof right
    const loadBalancer = {
      ...balancer,
      ...('validate' in changed && { validate: changed.validate }),
      getLoadBalancer: (_cluster: string, service: Service, context: WithNodes) =>
        changed.getLoadBalancer(service, context),
      ensureLoadBalancer: (_cluster: string, service: Service, nodes: Node[], context: EnsureContext) =>
        changed.ensureLoadBalancer(service, { ...context, nodes }),
      updateLoadBalancer: (_cluster: string, service: Service, nodes: Node[], context: EnsureContext) =>
        changed.updateLoadBalancer(service, { ...context, nodes }),
      ensureLoadBalancerDeleted: (_cluster: string, service: Service | undefined, context: WithNodes) =>
        changed.ensureLoadBalancerDeleted(service, context),
      listLoadBalancers: (_cluster: string, context: CloudContext) => changed.listLoadBalancers(context),
    } as unknown as CloudLoadBalancer
    return {
      name: 'wrong',
      cloudProvider: {
        ...cloudProvider,
        loadBalancer: () => loadBalancer,
        instancesV2: () => undefined,
        routes: () => undefined,
      },
    }
  },
}

t.test('a provider that is wrong in one point fails by the check of that point', async (t) => {
  for (const [kind, wrongIn] of Object.entries(WRONG_IN)) {
    const right = await examine(() => wrongIn(() => ({})))
    t.ok(right.passed, formatReport(right))
    for (const [check, change] of Object.entries(WRONG)) {
      const { results, passed } = await examine(() => wrongIn(change))
      const found = results.find((result) => result.check === `${kind}/${check}`)
      t.equal(found?.outcome, 'failed', `${kind}/${check}: ${found?.message}`)
      t.notOk(passed)
    }
  }
})

// The same for what knows machines, and for routes.

type CloudChange = (right: { instances: InstancesV2; routes: Routes }) => {
  instances?: Partial<InstancesV2>
  routes?: Partial<Routes>
}

const WRONG_CLOUD: Readonly<Record<string, CloudChange>> = {
  'absent-instance': () => ({ instances: { instanceExists: async () => true } }),
  'foreign-instance': () => ({ instances: { instanceExists: async () => false } }),
  'running-instance': () => ({ instances: { instanceShutdown: async () => true } }),
  'instance-metadata': ({ instances }) => ({
    instances: {
      instanceMetadata: async (node, context) => {
        const found = await instances.instanceMetadata(node, context)
        return found && { ...found, providerID: found.providerID.replace('fake://', '') }
      },
    },
  }),
  'instance-arguments': ({ instances }) => ({
    instances: {
      instanceExists: (node, context) => {
        node.metadata.labels = { seen: 'true' }
        return instances.instanceExists(node, context)
      },
    },
  }),
  'instance-aborted': ({ instances }) => ({
    instances: { instanceExists: (node, context) => instances.instanceExists(node, { ...context, signal: NEVER }) },
  }),
  'route-is-made-once': ({ routes }) => ({
    routes: {
      listRoutes: async (cluster, context) => {
        const found = await routes.listRoutes(cluster, context)
        return [...found, ...found]
      },
    },
  }),
  'route-is-deleted': () => ({ routes: { deleteRoute: async () => {} } }),
  'route-arguments': ({ routes }) => ({
    routes: {
      createRoute: (cluster, hint, route, context) => {
        route.name = hint
        return routes.createRoute(cluster, hint, route, context)
      },
    },
  }),
  'route-aborted': () => ({ routes: { listRoutes: async () => [] } }),
  'routes-of-others': ({ routes }) => ({
    routes: {
      createRoute: (_cluster, hint, route, context) => routes.createRoute('conformance', hint, route, context),
      listRoutes: (_cluster, context) => routes.listRoutes('conformance', context),
      deleteRoute: (_cluster, route, context) => routes.deleteRoute('conformance', route, context),
    },
  }),
}

const NODE = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' }, spec: { providerID: 'fake://i-1' } }

function cloudWith(change: CloudChange): Provider {
  const { cloudProvider, machines } = createFakeClusterCloud({ clock: createManualClock() })
  const addresses = [{ type: 'InternalIP', address: '10.0.0.1' }]
  machines.put({ id: 'i-1', name: 'node-1', state: 'running', type: 'small', zone: 'a', region: 'r', addresses })
  const instances = cloudProvider.instancesV2?.()
  const routes = cloudProvider.routes()
  if (instances === undefined || routes === undefined) throw new Error('the fake has no machines or routes')
  const changed = change({ instances, routes })
  const cloud: CloudProvider = {
    ...cloudProvider,
    loadBalancer: () => undefined,
    instancesV2: () => ({ ...instances, ...changed.instances }),
    routes: () => ({ ...routes, ...changed.routes }),
  }
  return { name: 'cloud', cloudProvider: cloud }
}

const examineCloud = (change: CloudChange) =>
  examineProvider({
    createProvider: () => cloudWith(change),
    level: 2,
    clock: skippingClock(),
    node: structuredClone(NODE),
  })

t.test('machines and routes: each wrong cloud fails by the check of its point', async (t) => {
  const right = await examineCloud(() => ({}))
  t.ok(right.passed, formatReport(right))
  t.notOk(
    right.results.some(({ outcome }) => outcome === 'skipped'),
    'a node was named, so nothing is skipped',
  )
  for (const [check, change] of Object.entries(WRONG_CLOUD)) {
    const { results } = await examineCloud(change)
    const found = results.find((result) => result.check.endsWith(`/${check}`))
    t.equal(found?.outcome, 'failed', `${check}: ${found?.message}`)
  }
})

t.test('without a node what needs one is skipped, and said so', async (t) => {
  const report = await examineProvider({
    createProvider: () => cloudWith(() => ({})),
    level: 2,
    clock: skippingClock(),
  })
  t.ok(report.passed, formatReport(report))
  const skipped = report.results.filter(({ outcome }) => outcome === 'skipped')
  t.equal(skipped.length, 6)
  for (const { message } of skipped) t.equal(message, 'no node was named whose machine runs')
})

/** What a provider cannot do wrong from behind the protocol: the client copies arguments, and rejects at an abort by itself. */
const RIGHT_OVER_HTTP = [
  'aborted-before',
  'aborted-during',
  'arguments-are-read-only',
  'instance-aborted',
  'instance-arguments',
  'route-aborted',
  'route-arguments',
  'validate-is-pure',
]

t.test('over HTTP a wrong provider fails by the same check, and says why', async (t) => {
  const { results: known } = await examine(() => fake(0))
  const levelOf = new Map(known.map(({ check, level }) => [check.split('/')[1], level]))
  const unnoticed: string[] = []
  const examined = async (check: string, behind: Provider) => {
    const { provider, stop } = await serveRemotely(t, behind)
    const level = levelOf.get(check) ?? 2
    const { results } = await examineProvider({ createProvider: () => provider, level, node: structuredClone(NODE) })
    await stop()
    const found = results.find((result) => result.check.endsWith(`/${check}`))
    if (found?.outcome !== 'failed') unnoticed.push(check)
    else t.match(found.message, /^[a-z\d].{15,}/i, `${check}: ${found.message}`)
  }
  for (const [check, change] of Object.entries(WRONG)) await examined(check, wrong(change))
  for (const [check, change] of Object.entries(WRONG_CLOUD)) await examined(check, cloudWith(change))
  // It gives up at once: often before the request is on its way.
  t.strictSame(unnoticed.filter((check) => check !== 'answer-lost').toSorted(), RIGHT_OVER_HTTP)
})

t.test('no two objects of a check ask for one host or one port', async (t) => {
  const asked: string[] = []
  await examine(() => {
    asked.length = 0
    return wrong(({ ensureLoadBalancer }) => ({
      ensureLoadBalancer: (ingress, context) => {
        const { identity } = context
        asked.push(`${ingress.spec?.rules?.[0]?.host} of ${Object.values(identity).join('/')}`)
        return ensureLoadBalancer(ingress, context)
      },
    }))
  })
  const hosts = new Map(asked.map((line) => [line.split(' of ')[0] ?? '', line]))
  t.equal(hosts.size, new Set(asked).size)
})

t.test('every check has a provider that it fails', async (t) => {
  const { results } = await examine(() => fake(0))
  const names = new Set(results.map(({ check }) => check.split('/')[1] ?? ''))
  const failed = { ...WRONG, ...WRONG_CLOUD }
  t.strictSame([...names].filter((name) => !(name in failed)).sort(), ['interfaces', 'name'])
  const named = await examine(() => ({ ...fake(0), name: 'Acme Cloud' }))
  t.match(named.results[0], { check: 'provider/name', outcome: 'failed' })
  const empty = await examine(() => ({ name: 'empty' }))
  t.match(empty, { passed: false, results: [{}, { check: 'provider/interfaces', outcome: 'failed' }] })
})

t.test('a cloud that is never done, and one that never answers', async (t) => {
  for (const { ensureLoadBalancer, says } of [
    {
      ensureLoadBalancer: async () => {
        throw new RetryAfter(500, 'still building')
      },
      says: /^ensure still says RetryAfter after 10000 ms: still building$/,
    },
    { ensureLoadBalancer: () => new Promise<never>(() => {}), says: /^ensure has not answered within 10000 ms/ },
    { ensureLoadBalancer: async () => Promise.reject(new Error('500')), says: /^ensure fails: 500$/ },
  ]) {
    const { results } = await examine(() => wrong(() => ({ ensureLoadBalancer })))
    t.match(results.find(({ check }) => check === 'MultiClusterIngress/ensure-makes')?.message, says)
  }
})

t.test('the report is for people', async (t) => {
  const report = await examineProvider({
    createProvider: () => wrong(() => ({ ensureLoadBalancerDeleted: async () => {} })),
    level: 1,
    clock: skippingClock(),
  })
  const text = formatReport(report)
  t.match(text, /^passed {2}provider\/name\n/)
  t.match(
    text,
    /\nfailed {2}MultiClusterIngress\/delete-removes\n {8}ensureDeleted returns only when the balancer is gone; but get still answers/,
  )
  t.match(text, /\nskipped MultiClusterIngress\/validate-is-pure\n {8}it has no validate\n/)
  t.match(text, /\n\nwrong: level 1 not passed: \d+ passed, \d+ failed, 1 skipped$/)
})

t.test('a list whose records are not what get answers is found', async (t) => {
  const createProvider = () =>
    wrong((right) => ({
      listLoadBalancers: async (context) =>
        ((await right.listLoadBalancers?.(context)) ?? []).map((listed) => ({
          ...listed,
          record: { fingerprint: 'old' },
        })),
    }))
  const { results } = await examineProvider({ createProvider, level: 2 })
  const failed = results.filter(({ outcome }) => outcome === 'failed')
  t.match(failed, [{ check: 'MultiClusterIngress/list-is-the-record', message: /something else than get/ }])
})
