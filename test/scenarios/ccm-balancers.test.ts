import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Node } from '../../src/domain/node.ts'
import { isExcluded } from '../../src/domain/service-balancer/backend-nodes.ts'
import { BALANCER_ANNOTATIONS } from '../../src/domain/service-balancer/balancer-annotations.ts'
import { describeAnnotations } from '../../src/domain/service-balancer/describe-annotations.ts'
import { parseBalancerOptions } from '../../src/domain/service-balancer/parse-balancer-options.ts'
import { parseLabelSelector } from '../../src/domain/service-balancer/parse-label-selector.ts'
import { SOURCE_RANGES_ANNOTATION, sourceRanges } from '../../src/domain/service-balancer/source-ranges.ts'
import type { FakeListeners } from '../../src/providers/fake/fake-balancer-listeners.ts'
import type { FakeClusterCall } from '../../src/providers/fake/fake-call-log.ts'
import { createServiceReconciler } from '../../src/reconcilers/service/service-reconciler.ts'
import { buildNode, buildWeb, nodeKey, OPTION, optionsOf, WEB } from '../support/build-cluster.ts'
import { serviceDependencies } from '../support/service-dependencies.ts'
import { createServiceWorld, type ServiceWorld } from '../support/service-world.ts'
import { addressesOf, assertQuiet, servedWorld, throughDoors, webOf } from '../support/through-doors.ts'

// What is asked of balancers and what they send traffic to. The numbers are those of the cases.

const REFUSED = 'Warning SyncLoadBalancerFailed: Error syncing load balancer: failed to ensure load balancer: '
const EXCLUDED = 'node.kubernetes.io/exclude-from-external-load-balancers'

function made(world: ServiceWorld, name = 'web'): FakeListeners {
  const part = world.cluster.balancers.find('default', name)
  if (part === undefined) throw new Error(`no balancer of ${name}`)
  return part.made
}

/** By a user of the cluster, who in the door `reviews` is refused what is wrong. */
async function annotate(world: ServiceWorld, options: Record<string, string | null>): Promise<void> {
  await world.edit(WEB, optionsOf(options)).catch((error: Error) => {
    if (!error.message.includes('denied')) throw error
  })
  await world.settle()
}

t.test('C-37 source ranges: the field, else the annotation', async (t) => {
  const annotations = { [SOURCE_RANGES_ANNOTATION]: '198.51.100.0/24, 203.0.113.0/24 ' }
  t.same(sourceRanges(buildWeb({}, { annotations })).ranges, ['198.51.100.0/24', '203.0.113.0/24'])
  const both = buildWeb({ loadBalancerSourceRanges: [' 192.0.2.0/24'] }, { annotations })
  t.same(sourceRanges(both).ranges, ['192.0.2.0/24'])
  t.same(sourceRanges(buildWeb()).ranges, ['0.0.0.0/0'])
  const blank = buildWeb({}, { annotations: { [SOURCE_RANGES_ANNOTATION]: ' ' } })
  t.same(sourceRanges(blank).ranges, ['0.0.0.0/0'])
  t.same(sourceRanges(buildWeb({ ipFamilies: ['IPv4', 'IPv6'] })).ranges, ['0.0.0.0/0', '::/0'])
  const world = await servedWorld({ annotations })
  t.same(made(world).sourceRanges, ['198.51.100.0/24', '203.0.113.0/24'])
})

throughDoors('C-38 a bad source range never means open', async (t, door) => {
  for (const text of [', ,', '198.51.100.0/24,', '10.0.0.0/33']) {
    const { ranges, findings } = sourceRanges(buildWeb({}, { annotations: { [SOURCE_RANGES_ANNOTATION]: text } }))
    t.same([ranges, findings.length > 0], [[], true], text)
  }
  const world = await servedWorld({ door, annotations: { [SOURCE_RANGES_ANNOTATION]: '198.51.100.0/24' } })
  const body = { metadata: { annotations: { [SOURCE_RANGES_ANNOTATION]: '198.51.100.0/24,nonsense' } } }
  if (door === 'reviews') {
    await t.rejects(world.edit(WEB, body), /"nonsense": must be a network/)
  } else {
    await world.edit(WEB, body)
    await world.settle()
    t.match(world.events(), [`${REFUSED}metadata.annotations[${SOURCE_RANGES_ANNOTATION}]: Invalid value: "nonsense"`])
  }
  t.same(made(world).sourceRanges, ['198.51.100.0/24'])
  t.same(world.changes(), [])
})

throughDoors('C-39 who cannot restrict sources lets nobody in', async (t, door) => {
  const world = createServiceWorld({ door, objects: [buildNode(1)], supports: { protocols: ['TCP'] } })
  const service = buildWeb({ loadBalancerSourceRanges: ['198.51.100.0/24'] })
  if (door === 'reviews') {
    await t.rejects(world.create(service), /cannot restrict sources/)
    return
  }
  await world.create(service)
  await world.settle()
  t.match(world.events(), [`${REFUSED}spec.loadBalancerSourceRanges: Forbidden`])
  t.same(world.cluster.balancers.bodies(), [])
})

throughDoors('C-41 an annotation taken away', async (t, door) => {
  const annotations = { [`${OPTION}protocol`]: 'https', [`${OPTION}certificate`]: 'c-1' }
  const world = await servedWorld({ door, annotations })
  t.same(made(world).ports, ['HTTPS 80 (certificate c-1) → 30080'])
  await world.create(buildWeb({}, { name: 'other' }))
  await annotate(world, { certificate: null, protocol: null })
  t.same(made(world).ports, ['TCP 80 → 30080'])
  t.ok(world.changes().includes('ensure other [n1 n2]'))
})

throughDoors('C-42 health checks are as asked', async (t, door) => {
  const world = await servedWorld({ door })
  await annotate(world, { 'health-check-port': '8081', 'health-check-protocol': 'http', 'health-check-path': '/ready' })
  t.equal(made(world).healthCheck, 'http://:8081/ready')
})

throughDoors('C-43 a health check that the cloud has no word for becomes one that it has', async (t, door) => {
  const annotations = { [`${OPTION}protocol`]: 'https', [`${OPTION}tls-passthrough`]: 'true' }
  const world = await servedWorld({ door, annotations })
  t.match(made(world), { ports: ['TLS 80 → 30080'], healthCheck: 'tcp://:30080' })
})

throughDoors('C-44 with local traffic kube-proxy is asked, without a PROXY header', async (t, door) => {
  const spec = { externalTrafficPolicy: 'Local', healthCheckNodePort: 32000 }
  const world = await servedWorld({ door, spec, annotations: { [`${OPTION}proxy-protocol`]: 'v1' } })
  t.match(made(world), {
    healthCheck: 'http://:32000/healthz',
    proxyProtocol: true,
    hosts: ['n1=fake://i-1', 'n2=fake://i-2'],
  })
})

throughDoors('C-46 the balancer that an annotation names is gone', async (t, door) => {
  const world = createServiceWorld({ door, objects: [buildNode(1)] })
  const mine = world.cluster.balancers.bring({ id: 'lb-x', address: '192.0.2.200' })
  await world.create(buildWeb({}, { annotations: { [`${OPTION}id`]: 'lb-x' } }))
  await world.settle()
  t.same(addressesOf(world), ['192.0.2.200'])
  for (const part of world.cluster.balancers.all()) world.cluster.balancers.remove(part)
  world.cluster.balancers.forget(mine)
  world.mark()
  await world.sweep()
  await world.settle()
  t.same(addressesOf(world), ['192.0.2.11'])
  t.equal(world.events().filter((event) => /LoadBalancerMissing: .*lb-x/.test(event)).length, 1)
  t.equal(webOf(world)?.metadata.annotations?.[`${OPTION}id`], 'lb-x', 'the annotation is the user’s')
  await assertQuiet(t, world)
})

throughDoors('C-47 what cannot be changed on a balancer is refused, never built twice', async (t, door) => {
  const world = await servedWorld({ door })
  await annotate(world, { internal: 'true' })
  t.match(world.events().at(-1), /^Warning SyncLoadBalancerFailed: .*internal cannot be changed/)
  t.equal(world.cluster.balancers.bodies().length, 1)
  await annotate(world, { internal: null })
  t.equal(world.cluster.balancers.bodies().length, 1)
  await assertQuiet(t, world)
})

throughDoors('C-48 on a balancer that was there, what is not ours stays', async (t, door) => {
  const world = createServiceWorld({ door, objects: [buildNode(1)] })
  const foreign = { ports: ['TCP 6443 → 6443'], hosts: ['bastion=10.0.0.99'] }
  const body = world.cluster.balancers.bring({ id: 'lb-x', foreign })
  await world.create(buildWeb({}, { annotations: { [`${OPTION}id`]: 'lb-x' } }))
  await world.settle()
  t.same(addressesOf(world), [body.address])
  t.same(body.foreign, foreign)
  const clash = buildWeb(
    { ports: [{ port: 6443, nodePort: 30643 }] },
    { name: 'clash', annotations: { [`${OPTION}id`]: 'lb-x' } },
  )
  await world.create(clash)
  await world.settle()
  t.match(world.events().at(-1), /port 6443 of balancer lb-x is taken/)
  await world.remove(WEB)
  await world.settle()
  t.same(body.foreign, foreign)
  t.same(world.cluster.balancers.bodies(), [body], 'it was the user’s, and still is')
})

throughDoors('C-49 a shared balancer goes with its last owner', async (t, door) => {
  const shared = { annotations: { [`${OPTION}shared-id`]: 'front' } }
  const world = createServiceWorld({ door, objects: [buildNode(1)] })
  await world.create(buildWeb({}, shared))
  await world.settle()
  const api = { kind: 'Service', namespace: 'default', name: 'api' } as const
  await world.create(buildWeb({ ports: [{ port: 443, nodePort: 30443 }] }, { ...shared, name: 'api' }))
  await world.settle()
  t.same(
    world.cluster.balancers.bodies().map(({ id }) => id),
    ['front'],
  )
  t.same(world.read(api)?.status?.loadBalancer?.ingress?.[0]?.ip, '192.0.2.10')
  await world.edit(api, { spec: { ports: [{ port: 80, nodePort: 30443 }] } })
  await world.settle()
  t.match(world.events().at(-1), /port 80 of balancer front is taken/)
  t.same(made(world, 'api').ports, ['TCP 443 → 30443'])
  await world.remove(WEB)
  await world.settle()
  t.same(
    world.cluster.balancers.bodies().map(({ id }) => id),
    ['front'],
  )
  await world.remove(api)
  await world.settle()
  t.same(world.cluster.balancers.bodies(), [])

  const internal = { [`${OPTION}shared-id`]: 'front', [`${OPTION}internal`]: 'true' }
  t.match(parseBalancerOptions(buildWeb({}, { annotations: internal })).findings, [{ message: /cannot be shared/ }])
})

throughDoors('C-49 a balancer that a user brought is neither deleted nor listed', async (t, door) => {
  const world = createServiceWorld({ door, objects: [buildNode(1)] })
  world.cluster.balancers.bring({ id: 'front' })
  await world.create(buildWeb({}, { annotations: { [`${OPTION}shared-id`]: 'front' } }))
  await world.settle()
  t.same((await world.sweep()).orphans, { found: 0, removed: 0 })
  await world.remove(WEB)
  await world.settle()
  t.equal(world.cluster.balancers.bodies().length, 1)
})

t.test('a balancer that is to be kept, or let go of', async (t) => {
  const kept = await servedWorld({ annotations: { [`${OPTION}retain-on-delete`]: 'true' } })
  await kept.remove(WEB)
  await kept.settle()
  t.equal(webOf(kept), undefined)
  t.equal(kept.cluster.balancers.bodies().length, 1)
  t.same((await kept.sweep()).orphans, { found: 0, removed: 0 })

  const disowned = await servedWorld()
  await annotate(disowned, { disown: 'true' })
  await disowned.edit(WEB, { spec: { ports: [{ name: 'http', port: 81, nodePort: 30081 }] } })
  await disowned.settle()
  t.same(made(disowned).ports, ['TCP 80 → 30080'], 'not changed')
  await disowned.remove(WEB)
  await disowned.settle()
  t.equal(disowned.cluster.balancers.bodies().length, 1, 'not deleted')
})

throughDoors('C-51 a balancer deleted in the console is made anew', async (t, door) => {
  const world = await servedWorld({ door })
  for (const part of world.cluster.balancers.all()) world.cluster.balancers.remove(part)
  await world.sweep()
  t.same(addressesOf(world), ['192.0.2.11'])
  t.match(world.events(), [/EnsuringLoadBalancer/, /EnsuredLoadBalancer/])
})

throughDoors('C-52 a balancer changed by hand is put right', async (t, door) => {
  const world = await servedWorld({ door })
  const before = structuredClone(made(world))
  Object.assign(made(world), { ports: [], hosts: [] })
  await world.sweep()
  t.same(made(world), before)
  t.same(world.events(), ['Normal EnsuredLoadBalancer: Ensured load balancer'])
  await assertQuiet(t, world)
})

throughDoors('C-53 an address that changes later is published', async (t, door) => {
  const world = await servedWorld({ door })
  for (const body of world.cluster.balancers.bodies()) body.address = '192.0.2.77'
  await world.sweep()
  t.same(addressesOf(world), ['192.0.2.77'])
  t.same(world.writes(), ['patch Service/status'])
})

throughDoors('C-54 one ensure brings everything', async (t, door) => {
  const world = await servedWorld({ door })
  await world.create(buildNode(3))
  await world.edit(WEB, {
    ...optionsOf({ algorithm: 'least-connections' }),
    spec: { externalTrafficPolicy: 'Local', healthCheckNodePort: 32001, loadBalancerIP: '192.0.2.99' },
  })
  await world.settle()
  t.match(made(world), {
    hosts: ['n1=fake://i-1', 'n2=fake://i-2', 'n3=fake://i-3'],
    healthCheck: 'http://:32001/healthz',
    settings: ['algorithm=least-connections', 'address=192.0.2.99', 'local=true'],
  })
  t.same(world.changes(), ['ensure web [n1 n2 n3]'])
})

throughDoors('C-57 nodes come and go', async (t, door) => {
  const world = await servedWorld({ door, nodes: 1 })
  await world.create(buildNode(2))
  await world.settle()
  await world.remove(nodeKey(1))
  await world.settle()
  t.same(world.changes(), ['update web [n1 n2]', 'update web [n2]'])
  const updated = 'Normal UpdatedLoadBalancer: Updated load balancer with new hosts'
  t.same(world.events(), [updated, updated])

  const both = await servedWorld({ door, nodes: 1 })
  await both.create(buildNode(2))
  await both.remove(nodeKey(1))
  await both.settle()
  t.same(both.changes(), ['update web [n2]'])
})

throughDoors('C-58 the exclusion label, set and cleared', async (t, door) => {
  const world = await servedWorld({ door })
  await world.edit(nodeKey(2), { metadata: { labels: { [EXCLUDED]: 'true' } } })
  await world.settle()
  await world.edit(nodeKey(2), { metadata: { labels: { [EXCLUDED]: null } } })
  await world.settle()
  t.same(world.changes(), ['update web [n1]', 'update web [n1 n2]'])
})

t.test('C-59 values of the exclusion label', async (t) => {
  const excluded = (value: string) => isExcluded(buildNode(1, { metadata: { labels: { [EXCLUDED]: value } } }))
  t.same(['false', '0', 'F', 'f', 'FALSE', 'False'].map(excluded), [false, false, false, false, false, false])
  t.same(['true', '1', '', 'no', 'fALSE', 'yes'].map(excluded), [true, true, true, true, true, true])
  t.notOk(isExcluded(buildNode(1)))
})

throughDoors('R-SVC-20 who serves is the health check’s word: no state of a node leaves it out', async (t, door) => {
  const lost = buildNode(1)
  const objects: Node[] = [
    { ...lost, status: { ...lost.status, conditions: [{ type: 'Ready', status: 'Unknown' }] } },
    { ...buildNode(2), spec: { unschedulable: true, providerID: 'fake://i-2' } },
    { ...buildNode(3), spec: {} },
    {
      ...buildNode(4),
      spec: { taints: [{ key: 'node.cloudprovider.kubernetes.io/uninitialized', effect: 'NoSchedule' }] },
    },
  ]
  const world = createServiceWorld({ door, objects })
  await world.create(buildWeb())
  await world.settle()
  t.same(world.changes(), ['ensure web [n1 n2 n3 n4]'])
})

throughDoors('C-61 a control plane node is a node', async (t, door) => {
  const labels = { 'node-role.kubernetes.io/control-plane': '' }
  const world = createServiceWorld({ door, objects: [buildNode(1, { metadata: { labels } })] })
  await world.create(buildWeb())
  await world.settle()
  t.same(world.changes(), ['ensure web [n1]'])
})

throughDoors('C-62 a node that flips is the business of health checks', async (t, door) => {
  const world = await servedWorld({ door })
  await world.sweep()
  world.mark()
  for (const status of ['Unknown', 'True']) {
    await world.edit(nodeKey(2), { status: { conditions: [{ type: 'Ready', status }] } }, { subresource: 'status' })
    if (door !== 'sweep') await world.settle()
  }
  t.same(world.calls(), [])
  await assertQuiet(t, world)
})

const DOOMED = [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }]

throughDoors(
  'C-63 the autoscaler’s taint counts at the next sync',
  async (t, door) => {
    const world = await servedWorld({ door })
    await world.sweep()
    await world.edit(nodeKey(2), { spec: { taints: DOOMED } })
    await world.settle()
    t.same(world.changes(), [])
    await world.edit(WEB, { spec: { ports: [{ name: 'http', port: 81, nodePort: 30080 }] } })
    await world.settle()
    t.same(world.changes(), ['ensure web [n1]'])
  },
  ['reviews', 'events'],
)

throughDoors(
  'C-64 a node in deletion counts at the next sync',
  async (t, door) => {
    const world = await servedWorld({ door })
    await world.sweep()
    await world.edit(nodeKey(2), { metadata: { finalizers: ['example.com/hold'] } })
    await world.core.delete(
      { group: '', version: 'v1', plural: 'nodes', name: 'n2' },
      { user: { username: 'a', groups: [] } },
    )
    await world.edit(nodeKey(2), { metadata: { labels: { a: '1' } } })
    await world.settle()
    t.same(
      world.changes().filter((call) => call !== 'update web [n1]'),
      [],
      'a DELETE is told, and is worth a look',
    )
    await world.sweep()
    t.same(made(world).hosts, ['n1=fake://i-1'])
  },
  ['reviews', 'events'],
)

t.test('C-66 a node made anew under its name is another target', async (t) => {
  const world = await servedWorld({ door: 'sweep' })
  await world.remove(nodeKey(2))
  await world.create(buildNode(2, { spec: { providerID: 'fake://i-9' } }))
  await world.sweep()
  t.same(world.changes(), ['update web [n1 n2]'])
  t.same(made(world).hosts, ['n1=fake://i-1', 'n2=fake://i-9'])
})

/** The next calls of one method fail. */
function failing(method: string, times: number, before: (world: ServiceWorld) => void = () => {}) {
  let left = times
  const state: { world?: ServiceWorld } = {}
  const failure = (call: FakeClusterCall) => {
    if (call.method !== method || left === 0) return undefined
    left -= 1
    if (state.world !== undefined) before(state.world)
    return { when: 'before', error: new Error('instance i-3 not found') } as const
  }
  return { failure, state }
}

throughDoors('C-67 an update that failed is told and tried again', async (t, door) => {
  const { failure } = failing('updateLoadBalancer', 1)
  const world = await servedWorld({ door, failure, nodes: 1 })
  await world.create(buildNode(2))
  await world.settle()
  const message =
    'Error updating load balancer with new hosts [n1 n2] [node names limited, total number of nodes: 2], error: instance i-3 not found'
  t.same(world.events(), [`Warning UpdateLoadBalancerFailed: ${message}`])
  await world.clock.advance(5_000)
  t.same(made(world).hosts, ['n1=fake://i-1', 'n2=fake://i-2'])
})

t.test('C-67 of many nodes the first twenty are named', async (t) => {
  const objects = Array.from({ length: 25 }, (_, index) => buildNode(index + 10))
  const failure = ({ method }: FakeClusterCall) =>
    method === 'updateLoadBalancer' ? { when: 'before' as const, error: new Error('quota') } : undefined
  const world = createServiceWorld({ objects, failure })
  await world.create(buildWeb())
  await world.settle()
  await world.create(buildNode(35))
  await world.settle()
  t.ok(
    world
      .events()
      .some((event) => event.endsWith('n28 n29] [node names limited, total number of nodes: 26], error: quota')),
    world.events().join('\n'),
  )
})

throughDoors('C-68 an update of a balancer that is gone is no failure', async (t, door) => {
  const { failure, state } = failing('updateLoadBalancer', 1, ({ cluster }) => {
    for (const part of cluster.balancers.all()) cluster.balancers.remove(part)
  })
  const world = await servedWorld({ door, failure, nodes: 1 })
  state.world = world
  await world.create(buildNode(2))
  await world.settle()
  t.notOk(world.events().some((event) => event.startsWith('Warning')))
  t.same(made(world).hosts, ['n1=fake://i-1', 'n2=fake://i-2'], 'it is made anew')
})

throughDoors('C-69 a retry asks for the nodes anew', async (t, door) => {
  const { failure } = failing('updateLoadBalancer', 1)
  const world = await servedWorld({ door, failure })
  await world.create(buildNode(3))
  await world.settle()
  await world.edit(nodeKey(3), {}, { silently: true })
  await world.core.delete(
    { group: '', version: 'v1', plural: 'nodes', name: 'n3' },
    { user: { username: 'a', groups: [] } },
  )
  await world.clock.advance(5_000)
  await world.sweep()
  t.same(world.changes()[0], 'update web [n1 n2 n3]')
  t.notOk(
    world
      .changes()
      .slice(1)
      .some((call) => call.includes('n3')),
  )
  t.same(made(world).hosts, ['n1=fake://i-1', 'n2=fake://i-2'])
})

t.test('C-69 a slow look never brings back an older set', async (t) => {
  let wait: Promise<void> | undefined
  const world = await servedWorld({
    around: (cloud) => ({
      ...cloud,
      async getLoadBalancer(...call) {
        const record = await cloud.getLoadBalancer(...call)
        const held = wait
        wait = undefined
        await held
        return record
      },
    }),
  })
  await world.create(buildNode(3))
  let go = () => {}
  wait = new Promise((resolve) => {
    go = resolve
  })
  const slow = world.sweep()
  await world.clock.advance(100)
  await world.remove(nodeKey(3))
  await world.create(buildNode(4))
  await world.settle()
  t.same(made(world).hosts, ['n1=fake://i-1', 'n2=fake://i-2', 'n4=fake://i-4'])
  go()
  await slow
  t.notOk(world.changes().some((call) => call.includes('n3')))
  t.same(made(world).hosts, ['n1=fake://i-1', 'n2=fake://i-2', 'n4=fake://i-4'])
})

throughDoors('C-71 labels and heartbeats change nothing', async (t, door) => {
  const world = await servedWorld({ door })
  for (const number of [1, 2]) {
    await world.edit(nodeKey(number), { metadata: { labels: { a: '1' } } })
    await world.edit(
      nodeKey(number),
      { status: { conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2026-03-01T08:05:00Z' }] } },
      { subresource: 'status' },
    )
  }
  await world.settle()
  await world.sweep()
  t.same([world.changes(), world.writes()], [[], []])
})

throughDoors('C-72 a node selector', async (t, door) => {
  const labels = { role: 'edge' }
  const world = await servedWorld({ door, objects: [buildNode(1), buildNode(2, { metadata: { labels } })] })
  await annotate(world, { 'node-selector': 'a in (b' })
  if (door !== 'reviews') t.match(world.events().at(-1), /SyncLoadBalancerFailed: .*a label selector/)
  t.same(made(world).hosts, ['n1=fake://i-1', 'n2=fake://i-2'], 'targets stay')
  await annotate(world, { 'node-selector': 'role=edge' })
  t.same(made(world).hosts, ['n2=fake://i-2'])
})

throughDoors('a node that is labelled later becomes a backend where it is selected', async (t, door) => {
  const world = await servedWorld({ door, objects: [buildNode(1), buildNode(2)] })
  await world.create(buildWeb({}, { name: 'api', annotations: { [`${OPTION}node-selector`]: 'role=edge' } }))
  await world.settle()
  t.same(made(world, 'api').hosts, [])
  // From now on it knows which nodes everybody was told of.
  await world.sweep()
  world.mark()
  await world.edit(nodeKey(2), { metadata: { labels: { role: 'edge' } } })
  await world.settle()
  t.same(made(world, 'api').hosts, ['n2=fake://i-2'])
  t.same(world.changes(), ['update api [n2]'])
  if (door !== 'sweep') t.notOk(world.calls().includes('get web'), 'who selects nothing is not asked about')
})

t.test('C-73 a machine of the account that is no node does not matter', async (t) => {
  const world = createServiceWorld({ objects: [buildNode(1)] })
  world.cluster.machines.put({
    id: 'i-77',
    name: 'build',
    state: 'running',
    type: '',
    zone: '',
    region: '',
    addresses: [],
  })
  await world.create(buildWeb())
  await world.settle()
  t.same(made(world).hosts, ['n1=fake://i-1'])
})

throughDoors('C-74 a node without an address is left out until it has one', async (t, door) => {
  const bare = { ...buildNode(2), status: { conditions: [{ type: 'Ready', status: 'True' }] } }
  const supports = { protocols: ['TCP'], target: 'address' } as const
  const world = createServiceWorld({ door, objects: [buildNode(1), bare], supports })
  await world.create(buildWeb())
  await world.settle()
  t.same(made(world).hosts, ['n1=10.0.0.1'])
  t.ok(world.events().some((event) => /Warning NodeSkipped: node n2 has no InternalIP/.test(event)))
  await world.edit(
    nodeKey(2),
    { status: { addresses: [{ type: 'InternalIP', address: '10.0.0.2' }] } },
    { subresource: 'status' },
  )
  await world.settle()
  if (door === 'reviews') await world.sweep()
  t.same(made(world).hosts, ['n1=10.0.0.1', 'n2=10.0.0.2'])
})

throughDoors('without nodes the balancer is made, and the owner is told', async (t, door) => {
  const world = await servedWorld({ door, nodes: 1 })
  await world.remove(nodeKey(1))
  await world.settle()
  t.same(world.changes(), ['update web []'])
  const none = 'Warning UnAvailableLoadBalancer: There are no available nodes for LoadBalancer'
  t.same(world.events(), [none])
  const empty = createServiceWorld({ door })
  await empty.create(buildWeb())
  await empty.settle()
  t.same(empty.changes(), ['ensure web []'])
  t.equal(empty.events()[1], none)
  t.same(addressesOf(empty), ['192.0.2.10'])
})

t.test('annotations: every one has its range, and a misspelt one is told', async (t) => {
  const rows: Record<string, { good: string[]; bad: string[] }> = {
    name: { good: ['web-1'], bad: ['', '-x', 'a b'] },
    id: { good: ['lb-1'], bad: ['', 'lb\r\n1', 'x'.repeat(1025)] },
    protocol: { good: ['tcp', 'https'], bad: ['TCP', 'udp'] },
    'http-ports': { good: ['80', '80, 8080'], bad: ['0', '80,', '65536', 'http'] },
    'tls-ports': { good: ['443'], bad: ['-1'] },
    'tls-passthrough': { good: ['true', 'false'], bad: ['yes', '1'] },
    certificate: { good: ['arn:x'], bad: [''] },
    'redirect-http-to-https': { good: ['true'], bad: ['on'] },
    'proxy-protocol': { good: ['none', 'v1', 'v2'], bad: ['true', 'v3'] },
    'health-check-protocol': { good: ['http'], bad: ['udp'] },
    'health-check-port': { good: ['1', '65535'], bad: ['0', '65536', '1.5'] },
    'health-check-path': { good: ['/ready'], bad: ['ready', '/a b'] },
    'health-check-interval': { good: ['1', '300'], bad: ['0', '301', '5s'] },
    'health-check-timeout': { good: ['5'], bad: ['0'] },
    'healthy-threshold': { good: ['10'], bad: ['11'] },
    'unhealthy-threshold': { good: ['1'], bad: ['0'] },
    algorithm: { good: ['round-robin'], bad: ['random'] },
    'idle-timeout': { good: ['4000'], bad: ['4001'] },
    'node-selector': { good: ['role=edge,zone in (a, b),!spare', 'a!=b', 'x'], bad: ['a in (b', '=', ''] },
    internal: { good: ['true'], bad: ['TRUE'] },
    'static-ip': { good: ['192.0.2.1', '2001:db8::1'], bad: ['192.0.2', '192.0.2.01'] },
    hostname: { good: ['lb.example.net'], bad: ['LB.example.net', 'a..b', '-a', '192.0.2.1', `${'a'.repeat(64)}.net`] },
    'ip-mode': { good: ['auto', 'VIP', 'Proxy'], bad: ['vip'] },
    'shared-id': { good: ['front'], bad: ['a/b'] },
    'retain-on-delete': { good: ['false'], bad: ['no'] },
    disown: { good: ['true'], bad: ['1'] },
  }
  t.same(Object.keys(rows).sort(), Object.keys(BALANCER_ANNOTATIONS).sort())
  const findingsOf = (name: string, value: string) =>
    parseBalancerOptions(buildWeb({}, { annotations: { [`${OPTION}${name}`]: value } })).findings
  for (const [name, { good, bad }] of Object.entries(rows)) {
    for (const value of good) t.same(findingsOf(name, value), [], `${name}: ${value}`)
    for (const value of bad) {
      t.match(
        findingsOf(name, value),
        [{ field: `metadata.annotations[${OPTION}${name}]`, reason: 'FieldValueInvalid' }],
        `${name}: ${value}`,
      )
    }
  }
  t.match(findingsOf('protocoll', 'tcp'), [{ reason: 'FieldValueNotSupported' }])
  t.match(findingsOf('constructor', 'tcp'), [{ reason: 'FieldValueNotSupported' }])
  const later = { [`${OPTION}health-check-timeout`]: '9', [`${OPTION}health-check-interval`]: '5' }
  t.match(parseBalancerOptions(buildWeb({}, { annotations: later })).findings, [
    { message: /must not exceed the interval/ },
  ])
  const both = { [`${OPTION}http-ports`]: '80, 81', [`${OPTION}tls-ports`]: '443,81' }
  t.match(parseBalancerOptions(buildWeb({}, { annotations: both })).findings, [
    { field: `metadata.annotations[${OPTION}tls-ports]`, message: /81 is an HTTP port too/ },
  ])
  t.same(parseLabelSelector('a=b,c notin (d,e)'), {
    matchExpressions: [
      { key: 'a', operator: 'In', values: ['b'] },
      { key: 'c', operator: 'NotIn', values: ['d', 'e'] },
    ],
  })
})

t.test('many Services ask for the nodes together, and each is changed once', async (t) => {
  const lists = { Node: 0, Service: 0 }
  const nodes = Array.from({ length: 50 }, (_, index) => buildNode(index + 1))
  const services = Array.from({ length: 100 }, (_, index) => buildWeb({}, { name: `web-${index}`, uid: `u-${index}` }))
  const world = createServiceWorld({
    objects: [...nodes, ...services],
    wrapStore: (store) => ({
      ...store,
      async list(kind, options) {
        if (Object.hasOwn(lists, kind)) lists[kind as keyof typeof lists] += 1
        await new Promise<void>((resolve) => world.clock.after(20, resolve))
        return store.list(kind, options)
      },
    }),
  })
  const swept = world.sweep()
  await world.clock.advance(60_000)
  await swept
  t.equal(world.changes().length, 100)
  world.mark()
  Object.assign(lists, { Node: 0, Service: 0 })
  for (const number of [51, 52, 53]) await world.create(buildNode(number))
  await world.clock.advance(60_000)
  t.equal(world.changes().length, 100, 'three nodes are one change')
  t.same(world.writes(), [])
  t.equal(lists.Service, 1)
  t.ok(lists.Node <= 60, `${lists.Node} lists of nodes for 100 Services, of which each looks twice`)
})

t.test('the page of annotations is written from the table', async (t) => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/service-annotations.md'), 'utf8')
  // The formatter aligns the columns.
  const flat = page.replace(/ +/g, ' ').replace(/-{3,}/g, '---')
  t.ok(flat.includes(`\n${describeAnnotations()}\n`), describeAnnotations())
})

t.test('a balancer whose turn it is is ensured, although nothing is seen to differ', async (t) => {
  const world = await servedWorld()
  const pass = { reader: world.store, signal: new AbortController().signal }
  const { loadBalancer } = world.cluster.balancers
  const reconciler = createServiceReconciler(serviceDependencies({ ...world, loadBalancer }))
  t.match(await reconciler.reconcile(WEB, { ...pass, isVerificationDue: () => false }), { kind: 'settled' })
  t.same(world.changes(), [])
  t.match(await reconciler.reconcile(WEB, { ...pass, isVerificationDue: () => true }), { kind: 'settled' })
  t.same([world.changes(), world.events(), world.writes()], [['ensure web [n1 n2]'], [], []])
})

t.test('what is measured', async (t) => {
  const { failure } = failing('updateLoadBalancer', 1)
  const world = await servedWorld({ failure, nodes: 1 })
  await world.create(buildNode(2))
  await world.settle()
  await world.clock.advance(5_000)
  const text = await world.runtime.doors.metricsText()
  t.match(text, /service_controller_loadbalancer_sync_total [1-9]/)
  t.match(text, /service_controller_nodesync_error_total 1/)
  t.match(text, /service_controller_nodesync_latency_seconds_count [1-9]/)
  t.match(text, /service_controller_update_loadbalancer_host_latency_seconds_count 1/)
})
