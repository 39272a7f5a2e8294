import assert from 'node:assert/strict'
import type { ApiClient } from '../../contracts/kubernetes-api/api-client.ts'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import type { Scenario } from '../scenario.ts'
import { type CloudInstallation, withCloudInstallation } from '../support/cloud-installation.ts'
import { untilCached } from '../support/until-cached.ts'

const namespace = 'cloud-conditions'
const NODES = '/api/v1/nodes'
const SERVICES = `/api/v1/namespaces/${namespace}/services`
const CONFIGURATION = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/webhook-cloud-provider'

type Door = 'mutate' | 'validate' | 'notify-services' | 'notify-nodes'
type Counts = Partial<Record<Door, number>>

/** A change that a user or a kubelet makes, and the doors at which its review must arrive, and at no other. */
interface Change {
  what: string
  by(admin: ApiClient): Promise<unknown>
  arrivesAt: readonly Door[]
}

const edit = (path: string, body: object): Change['by'] => {
  return (admin) => mustBe(200, admin.patch('merge-patch', path, body))
}
const create = (path: string, body: object): Change['by'] => {
  return (admin) => mustBe(201, admin.post(path, body))
}
const remove = (path: string): Change['by'] => {
  return (admin) => mustBe(200, admin.delete(path))
}
const condition = (status: string, at: string) => ({
  status: { conditions: [{ type: 'Ready', status, reason: 'Test', lastHeartbeatTime: at }] },
})
const node = `${NODES}/conditions`
const balanced = `${SERVICES}/balanced`
const plain = `${SERVICES}/plain`
const classed = `${SERVICES}/classed`
const service = (name: string, spec: object) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { ports: [{ port: 80 }], ...spec },
})
const LOAD_BALANCER = { type: 'LoadBalancer' }

const CHANGES: readonly Change[] = [
  change('a node joins', create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'conditions' } }), [
    'notify-nodes',
  ]),
  change('a label of a node', edit(node, { metadata: { labels: { team: 'shop' } } }), ['notify-nodes']),
  change('a taint', edit(node, { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } }), ['notify-nodes']),
  change('a network', edit(node, { spec: { podCIDR: '10.244.9.0/24', podCIDRs: ['10.244.9.0/24'] } }), [
    'notify-nodes',
  ]),
  change('a cordon', edit(node, { spec: { unschedulable: true } }), []),
  change('a finalizer of a node', edit(node, { metadata: { finalizers: ['example.com/hold'] } }), []),
  change('a heartbeat', edit(`${node}/status`, condition('True', '2026-01-01T00:00:00Z')), []),
  change('a plain Service', create(SERVICES, service('plain', {})), []),
  change('ports of a plain Service', edit(plain, { spec: { ports: [{ port: 81 }] } }), []),
  change(
    'a Service of another class',
    create(SERVICES, service('classed', { ...LOAD_BALANCER, loadBalancerClass: 'example.com/other' })),
    [],
  ),
  change('ports of another class', edit(classed, { spec: { ports: [{ port: 81 }] } }), []),
  change('a balanced Service', create(SERVICES, service('balanced', LOAD_BALANCER)), [
    'mutate',
    'validate',
    'notify-services',
  ]),
  change('its ports', edit(balanced, { spec: { ports: [{ port: 81, nodePort: null }] } }), [
    'validate',
    'notify-services',
  ]),
  change('its annotation', edit(balanced, { metadata: { annotations: { a: 'b' } } }), ['validate', 'notify-services']),
  change('its label', edit(balanced, { metadata: { labels: { a: 'b' } } }), []),
  change('its addresses, cleared', edit(`${balanced}/status`, { status: { loadBalancer: null } }), ['notify-services']),
  change(
    'its addresses, others',
    edit(`${balanced}/status`, { status: { loadBalancer: { ingress: [{ ip: '192.0.2.99' }] } } }),
    [],
  ),
  change('its type', edit(balanced, { spec: { type: 'ClusterIP' } }), ['notify-services']),
  change('a plain Service is balanced', edit(plain, { spec: LOAD_BALANCER }), ['validate', 'notify-services']),
  change('it is deleted', remove(plain), ['notify-services']),
  change('another class is deleted', remove(classed), []),
  change('a node in deletion', remove(node), ['notify-nodes']),
]

const STATUS_CHANGES: readonly Change[] = [
  change('a node joins again', create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'conditions' } }), [
    'notify-nodes',
  ]),
  change('it is Ready', edit(`${node}/status`, condition('True', '2026-01-01T00:00:00Z')), ['notify-nodes']),
  change('a heartbeat', edit(`${node}/status`, condition('True', '2026-01-01T00:05:00Z')), []),
  change('it is not Ready', edit(`${node}/status`, condition('Unknown', '2026-01-01T00:05:00Z')), ['notify-nodes']),
  change(
    'its addresses',
    edit(`${node}/status`, { status: { addresses: [{ type: 'InternalIP', address: '10.9.9.9' }] } }),
    ['notify-nodes'],
  ),
  change('it leaves', remove(node), ['notify-nodes']),
]

export const scenario: Scenario = {
  name: 'CEL under one cluster: reviews of Services and nodes that can mean work arrive, heartbeats do not',
  beside: true,
  async run(context) {
    const { admin, log } = context
    await mustBe(
      201,
      admin.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }),
    )
    try {
      await withCloudInstallation(context, async (installed) => {
        await inForce(admin)
        for (const each of CHANGES) await make(each, admin, installed)
        await admin.patch('merge-patch', node, { metadata: { finalizers: null } })
        await installed.register(true)
        await inForce(admin)
        for (const each of STATUS_CHANGES) await make(each, admin, installed)
        log(`${CHANGES.length + STATUS_CHANGES.length} changes, reviews as expected`)
      })
    } finally {
      for (const path of [balanced, plain, classed]) {
        await admin.delete(path)
        await admin.patch('merge-patch', path, { metadata: { finalizers: null } })
      }
      await admin.patch('merge-patch', node, { metadata: { finalizers: null } })
      await admin.delete(node)
      await admin.delete(`/api/v1/namespaces/${namespace}`)
    }
  },
}

function change(what: string, by: Change['by'], arrivesAt: readonly Door[]): Change {
  return { what, by, arrivesAt }
}

// Longer than work on a Service waits for more of its kind: begun beside the next change it would conflict with it, and
// the API server would ask twice.
const QUIET_MS = 900
// What arrives nowhere makes no work.
const QUIET_WITHOUT_WORK_MS = 100

/** Made when everything before it has settled; what the function writes in its turn is looked at with it, and passes no door. */
async function make({ what, by, arrivesAt }: Change, admin: ApiClient, { audit }: CloudInstallation): Promise<void> {
  await untilCached(admin, [SERVICES, NODES])
  const before = await counts(admin)
  await by(admin)
  const expected = Object.fromEntries(arrivesAt.map((door) => [door, 1]))
  await eventually(async () => {
    const asked = (await audit.requests()).length
    await new Promise((resolve) => setTimeout(resolve, arrivesAt.length > 0 ? QUIET_MS : QUIET_WITHOUT_WORK_MS))
    assert.equal((await audit.requests()).length, asked, 'not yet quiet')
  })
  const after = await counts(admin)
  const arrived = Object.fromEntries(
    Object.entries(after).flatMap(([door, count]) => {
      const more = count - (before[door as Door] ?? 0)
      return more === 0 ? [] : [[door, more]]
    }),
  )
  assert.deepEqual(arrived, expected, what)
}

/** A dry run of a create passes every door that is open, and is stored nowhere. */
async function inForce(admin: ApiClient): Promise<void> {
  await mustBe(200, admin.get(CONFIGURATION))
  await eventually(async () => {
    const before = await counts(admin)
    await mustBe(201, admin.post(`${SERVICES}?dryRun=All`, service('probe', LOAD_BALANCER)))
    await mustBe(
      201,
      admin.post(`${NODES}?dryRun=All`, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'probe' } }),
    )
    const after = await counts(admin)
    for (const door of ['mutate', 'validate', 'notify-services', 'notify-nodes'] as const)
      assert.equal((after[door] ?? 0) - (before[door] ?? 0), 1, door)
  }, 20_000)
}

async function counts(admin: ApiClient): Promise<Counts> {
  const { text } = await admin.get('/metrics', 'text/plain')
  const found: Counts = {}
  for (const line of text.split('\n')) {
    const [, name] =
      /^apiserver_admission_webhook_request_total\{.*name="([a-z-]+)\.webhook-cloud-provider\.dev"/.exec(line) ?? []
    if (name !== undefined) found[name as Door] = (found[name as Door] ?? 0) + Number(line.slice(line.lastIndexOf(' ')))
  }
  return found
}
