import assert from 'node:assert/strict'
import type { ApiClient, Body } from '../../contracts/kubernetes-api/api-client.ts'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import type { Scenario } from '../scenario.ts'
import { type AuditedRequest, isWrite, requestTable } from '../support/audit-log.ts'
import { type CloudInstallation, withCloudInstallation } from '../support/cloud-installation.ts'
import { eachOf, names } from '../support/each-of.ts'

const namespace = 'cloud-controllers'
const NODES = '/api/v1/nodes'
const SERVICES = `/api/v1/namespaces/${namespace}/services`
const NODE_COUNT = 500
const SERVICE_COUNT = 200
const CONCURRENCY = 20
const FINALIZER = 'service.kubernetes.io/load-balancer-cleanup'
const UNINITIALIZED = { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' }

export const scenario: Scenario = {
  name: 'cloud controller manager: nodes, their life and routes, Services; 500 nodes and 200 Services',
  async run(context) {
    const { admin, log } = context
    await mustBe(
      201,
      admin.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }),
    )
    try {
      await withCloudInstallation(context, async (installed) => {
        await inForce(admin)
        await oneNode(admin, installed)
        await oneService(admin, installed)
        await many(admin, installed, log)
        await rightsAreExact(installed, log)
      })
    } finally {
      await removeEverything(admin)
    }
  },
}

/** The API server calls new webhooks a little later: a node is initialised without a sweep when it does. */
async function inForce(admin: ApiClient): Promise<void> {
  let attempt = 0
  await eventually(async () => {
    attempt += 1
    const name = `probe-${attempt}`
    await mustBe(201, admin.post(NODES, node(name, 250)))
    try {
      await eventually(() => initialised(admin, name), 1_000, 100)
    } finally {
      await mustBe(200, admin.delete(`${NODES}/${name}`))
    }
  }, 20_000)
}

/** Joins, is initialised, gets its route, and goes when its machine is gone and it is NotReady, not before. */
async function oneNode(admin: ApiClient, installed: CloudInstallation): Promise<void> {
  const { cloud } = installed
  const path = `${NODES}/one`
  await mustBe(201, admin.post(NODES, node('one', 1)))
  await eventually(() => initialised(admin, 'one'))
  await kubelet(admin, 'one', 'True')
  const joined = await mustBe(200, admin.get(path))
  const machine = cloud.machines.find('one') ?? assert.fail('no machine')
  assert.equal(specOf(joined).providerID, 'fake://i-one')
  assert.deepEqual(statusOf(joined).addresses, machine.addresses)
  assert.equal(joined.metadata.labels?.['topology.kubernetes.io/zone'], machine.zone)
  assert.deepEqual(specOf(joined).taints?.filter(({ key }) => key === UNINITIALIZED.key) ?? [], [])

  await installed.sweep('routes')
  await eventually(async () => {
    const condition = conditionOf(await mustBe(200, admin.get(path)), 'NetworkUnavailable')
    assert.deepEqual([condition?.status, condition?.reason], ['False', 'RouteCreated'])
  })
  assert.ok(cloud.routes.all().some(({ destinationCIDR }) => destinationCIDR === '10.244.1.0/24'))

  cloud.machines.remove('i-one')
  await installed.sweep('nodes')
  await installed.sweep('pending-nodes')
  await mustBe(200, admin.get(path))
  await kubelet(admin, 'one', 'Unknown')
  await installed.sweep('pending-nodes')
  await eventually(() => mustBe(404, admin.get(path)))
  // Its route goes with the next pass over all of them; the first of the two may have been at work with the node.
  await installed.sweep('routes')
  await eventually(() =>
    assert.ok(!cloud.routes.all().some(({ destinationCIDR }) => destinationCIDR === '10.244.1.0/24')),
  )

  await mustBe(201, admin.post(NODES, node('stopped', 2)))
  await eventually(() => initialised(admin, 'stopped'))
  await kubelet(admin, 'stopped', 'False')
  const stopped = cloud.machines.find('stopped') ?? assert.fail('no machine')
  stopped.state = 'stopped'
  await installed.sweep('pending-nodes')
  assert.ok(await isMarked(admin, 'stopped'))
  stopped.state = 'running'
  await kubelet(admin, 'stopped', 'True')
  await installed.sweep('pending-nodes')
  assert.ok(!(await isMarked(admin, 'stopped')))
  await mustBe(200, admin.delete(`${NODES}/stopped`))
}

async function oneService(admin: ApiClient, { cloud, sweep }: CloudInstallation): Promise<void> {
  const path = `${SERVICES}/one`
  await mustBe(201, admin.post(SERVICES, service('one')))
  await eventually(() => published(admin, 'one', cloud))
  await mustBe(200, admin.patch('merge-patch', path, { spec: { type: 'ClusterIP' } }))
  await eventually(async () => {
    const changed = await mustBe(200, admin.get(path))
    assert.deepEqual(changed.metadata.finalizers ?? [], [])
    assert.equal(cloud.balancers.find(namespace, 'one'), undefined)
  })
  await mustBe(200, admin.patch('merge-patch', path, { spec: { type: 'LoadBalancer' } }))
  await eventually(() => published(admin, 'one', cloud))
  await mustBe(200, admin.delete(path))
  await eventually(() => mustBe(404, admin.get(path)))
  assert.equal(cloud.balancers.find(namespace, 'one'), undefined)
  await sweep('services')
}

async function many(admin: ApiClient, installed: CloudInstallation, log: (line: string) => void): Promise<void> {
  const { audit, cloud } = installed
  let asked = await counter(audit)
  const started = performance.now()
  const all = names('node', NODE_COUNT)
  await eachOf(all, CONCURRENCY, (name) => mustBe(201, admin.post(NODES, node(name, all.indexOf(name) + 1))))
  await eventually(
    async () => assert.equal((await tainted(admin)).length, 0, 'nodes that are not initialised'),
    60_000,
    200,
  )
  await eachOf(all, CONCURRENCY, (name) => kubelet(admin, name, 'True'))
  log(`${NODE_COUNT} nodes joined and were initialised after ${seconds(started)}`)
  for (const row of requestTable(await asked(), NODE_COUNT)) log(`  ${row}`)

  asked = await counter(audit)
  const routed = performance.now()
  await eventually(async () => {
    await installed.sweep('routes')
    assert.equal(cloud.routes.all().length, NODE_COUNT)
    assert.equal((await withoutNetwork(admin)).length, 0, 'nodes without the word on their routes')
  }, 60_000)
  log(`all have their routes and the word on them after ${seconds(routed)}`)
  for (const row of requestTable(await asked(), NODE_COUNT)) log(`  ${row}`)

  asked = await counter(audit)
  const served = performance.now()
  const services = names('service', SERVICE_COUNT)
  await eachOf(services, CONCURRENCY, (name) => mustBe(201, admin.post(SERVICES, service(name))))
  await eventually(
    async () => assert.equal((await unserved(admin)).length, 0, 'Services without an address'),
    60_000,
    200,
  )
  log(`${SERVICE_COUNT} Services were served after ${seconds(served)}`)
  for (const row of requestTable(await asked(), SERVICE_COUNT)) log(`  ${row}`)
  assert.equal(cloud.balancers.all().length, SERVICE_COUNT)
  assert.ok(cloud.balancers.all().every(({ made }) => made.hosts.length === NODE_COUNT))

  // What the reviews of the last writes still bring.
  await eventually(async () => {
    const before = (await audit.requests()).length
    await new Promise((resolve) => setTimeout(resolve, 2_000))
    assert.equal((await audit.requests()).length, before)
  }, 60_000)
  asked = await counter(audit)
  const calls = cloud.calls().length
  const swept = performance.now()
  const report = await installed.sweep('all')
  const requests = await asked()
  assert.deepEqual(requests.filter(isWrite), [], 'writes of a quiet sweep')
  const changing = cloud
    .calls()
    .slice(calls)
    .filter(({ method }) => /^(ensure|update|create|delete)/.test(method))
  assert.deepEqual(changing, [], 'changes in the cloud of a quiet sweep')
  log(`a quiet sweep: ${JSON.stringify(report.outcomes)}, ${requests.length} reads, 0 writes, ${seconds(swept)}`)

  await eachOf(services, CONCURRENCY, (name) => mustBe(200, admin.delete(`${SERVICES}/${name}`)))
  await eventually(() => assert.equal(cloud.balancers.all().length, 0), 60_000, 200)
}

/** What was asked since. */
async function counter(audit: CloudInstallation['audit']): Promise<() => Promise<AuditedRequest[]>> {
  const before = (await audit.requests()).length
  return async () => (await audit.requests()).slice(before)
}

async function rightsAreExact({ audit, grants }: CloudInstallation, log: (line: string) => void): Promise<void> {
  const requests = await audit.requests()
  const called = ({ verb, resource, group }: AuditedRequest) => `${verb} ${resource}.${group}`
  const refused = requests.filter(({ forbidden }) => forbidden)
  assert.deepEqual([...new Set(refused.map(called))], [], 'refused by RBAC')
  const used = new Set(requests.map(called))
  assert.deepEqual(
    grants.filter((grant) => !used.has(grant)),
    [],
    'granted and never used',
  )
  log(`${requests.length} requests, 0 refused; ${grants.length} grants, 0 unused`)
}

function node(name: string, number: number) {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    spec: {
      taints: [UNINITIALIZED],
      podCIDR: cidr(number),
      podCIDRs: [cidr(number)],
    },
    status: { addresses: [{ type: 'Hostname', address: name }] },
  }
}

/** 10.244.1.0/24 … 10.245.244.0/24 */
function cidr(number: number): string {
  return `10.${244 + (number >> 8)}.${number & 255}.0/24`
}

function service(name: string) {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { type: 'LoadBalancer', selector: { app: name }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
  }
}

/** What a kubelet, or the control plane in its place, says of it. */
function kubelet(admin: ApiClient, name: string, ready: string): Promise<Body> {
  const conditions = [{ type: 'Ready', status: ready, reason: 'Test', lastHeartbeatTime: new Date().toISOString() }]
  return mustBe(200, admin.patch('strategic-merge-patch', `${NODES}/${name}/status`, { status: { conditions } }))
}

async function initialised(admin: ApiClient, name: string): Promise<void> {
  const found = await mustBe(200, admin.get(`${NODES}/${name}`))
  assert.ok(specOf(found).providerID, 'providerID')
  assert.ok((statusOf(found).addresses?.length ?? 0) > 1, 'addresses')
}

async function isMarked(admin: ApiClient, name: string): Promise<boolean> {
  const { taints = [] } = specOf(await mustBe(200, admin.get(`${NODES}/${name}`)))
  return taints.some(({ key }) => key === 'node.cloudprovider.kubernetes.io/shutdown')
}

async function published(admin: ApiClient, name: string, cloud: CloudInstallation['cloud']): Promise<void> {
  const found = await mustBe(200, admin.get(`${SERVICES}/${name}`))
  assert.deepEqual(found.metadata.finalizers, [FINALIZER])
  assert.equal(ingressOf(found)[0]?.ip, cloud.balancers.find(namespace, name)?.address)
}

async function tainted(admin: ApiClient): Promise<string[]> {
  const { items = [] } = await mustBe(200, admin.get(NODES))
  return items
    .filter((each) => specOf(each).taints?.some(({ key }) => key === UNINITIALIZED.key))
    .map(({ metadata }) => metadata.name ?? '')
}

async function withoutNetwork(admin: ApiClient): Promise<string[]> {
  const { items = [] } = await mustBe(200, admin.get(NODES))
  return items
    .filter((each) => conditionOf(each, 'NetworkUnavailable')?.reason !== 'RouteCreated')
    .map(({ metadata }) => metadata.name ?? '')
}

async function unserved(admin: ApiClient): Promise<string[]> {
  const { items = [] } = await mustBe(200, admin.get(SERVICES))
  return items.filter((each) => ingressOf(each).length === 0).map(({ metadata }) => metadata.name ?? '')
}

interface Condition {
  type: string
  status: string
  reason?: string
}

function specOf({ spec }: Body): { providerID?: string; taints?: { key: string }[] } {
  return (spec ?? {}) as ReturnType<typeof specOf>
}

function statusOf({ status }: Body): { addresses?: unknown[]; conditions?: Condition[] } {
  return (status ?? {}) as ReturnType<typeof statusOf>
}

function conditionOf(found: Body, type: string): Condition | undefined {
  return statusOf(found).conditions?.find((condition) => condition.type === type)
}

function ingressOf({ status }: Body): { ip?: string }[] {
  return (status as { loadBalancer?: { ingress?: { ip?: string }[] } } | undefined)?.loadBalancer?.ingress ?? []
}

/** Nobody is left to take finalizers away. */
async function removeEverything(admin: ApiClient): Promise<void> {
  const { items = [] } = await admin.get(SERVICES).then(({ body }) => body)
  for (const { metadata } of items) {
    await admin.delete(`${SERVICES}/${metadata.name}`)
    await admin.patch('merge-patch', `${SERVICES}/${metadata.name}`, { metadata: { finalizers: null } })
  }
  await admin.delete(NODES)
  await admin.delete(`/api/v1/namespaces/${namespace}`)
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1_000).toFixed(1)} s`
}
