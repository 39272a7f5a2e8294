import { randomUUID } from 'node:crypto'
import { composeRuntime, type Runtime } from '../../src/compose/compose-runtime.ts'
import { composeWork } from '../../src/compose/compose-work.ts'
import type { Config } from '../../src/config/config.ts'
import { parseConfig } from '../../src/config/parse-config.ts'
import type { Operation } from '../../src/domain/cluster-event.ts'
import { type Kind, type ObjectOfKind, RESOURCES } from '../../src/domain/kinds.ts'
import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import { keyOf, type ObjectKey } from '../../src/domain/object-key.ts'
import type { SweepReport, SweepScope } from '../../src/domain/sweep-report.ts'
import type { CallWebhook } from '../../src/local/admission/call-webhook.ts'
import { createWebhookAdmission } from '../../src/local/admission/webhook-admission.ts'
import type { ApiObject } from '../../src/local/core/api-object.ts'
import { type ControlPlaneCore, createControlPlaneCore } from '../../src/local/core/control-plane-core.ts'
import type { RequestTarget } from '../../src/local/core/core-environment.ts'
import { createLocalClusterStore } from '../../src/local/local-cluster-store.ts'
import type { ClusterStore } from '../../src/ports/cluster-store.ts'
import type { CloudLoadBalancer, CloudProvider } from '../../src/provider/cloud.ts'
import {
  createFakeClusterCloud,
  type FakeClusterCloud,
  type FakeClusterOptions,
} from '../../src/providers/fake/fake-cluster-cloud.ts'
import { cloudWebhooks } from './cloud-webhooks.ts'
import { createManualClock, type ManualClock } from './manual-clock.ts'
import { silentLogger } from './silent-logger.ts'

/** Under this name the function writes. */
export const CLOUD_IDENTITY = 'system:serviceaccount:kube-system:cloud-controller-manager'

/**
 * How the function hears of what users do: reviews before the commit, as the API server sends them, CloudEvents after it,
 * or not at all, so that only a sweep finds it.
 */
export type CloudDoor = 'reviews' | 'events' | 'sweep'
export const CLOUD_DOORS: readonly CloudDoor[] = ['reviews', 'events', 'sweep']

export interface ServiceWorldOptions extends Omit<FakeClusterOptions, 'clock'> {
  door?: CloudDoor
  /** Stored before the story begins. */
  objects?: KubernetesObject[]
  /** YAML beside the usual settings; only the service controller runs unless it says so. */
  config?: string
  /** YAML of `sweep`; verifies no balancer unless it says so. */
  sweeping?: string
  /** In place of the fake one. */
  cloudProvider?: CloudProvider
  /** Between the function and the cloud's balancers. */
  around?: (loadBalancer: CloudLoadBalancer) => CloudLoadBalancer
  /** Between the function and the API server. */
  wrapStore?: (store: ClusterStore) => ClusterStore
}

/** One cluster, a function and the cloud under it in memory, on a clock that stands still. */
export interface ServiceWorld {
  core: ControlPlaneCore
  runtime: Runtime
  clock: ManualClock
  cluster: FakeClusterCloud
  config: Config
  store: ClusterStore
  create<T extends KubernetesObject>(object: T): Promise<T>
  /** A merge patch by a user. */
  edit(key: ObjectKey, body: object, options?: EditOptions): Promise<KubernetesObject>
  remove(key: ObjectKey): Promise<void>
  read<K extends Kind>(key: ObjectKey & { kind: K }): ObjectOfKind[K] | undefined
  /** What was told is worked on; through the door `sweep` a sweep finds it. Retries are not waited for. */
  settle(): Promise<void>
  sweep(scope?: SweepScope): Promise<SweepReport>
  http(path: string, body: object): Promise<{ status: number; body: string }>
  /** From here on `events`, `calls` and `writes` begin anew. */
  mark(): void
  /** `Normal EnsuredLoadBalancer: Ensured load balancer`, in the order they were written. */
  events(): string[]
  /** Into the cloud's balancers: `get web`, `ensure web [n1 n2]`. */
  calls(): string[]
  /** The same without those that only look. */
  changes(): string[]
  /** Of the function: `patch Service/status`; events are not among them. */
  writes(): string[]
}

export interface EditOptions {
  subresource?: 'status'
  username?: string
  /** Nobody is told. */
  silently?: boolean
}

// No balancer's turn to be verified comes by chance: uids differ from run to run.
const SELDOM = '{ intervalMs: 1, periodMs: 86400000 }'
const SETTINGS = `
provider: { name: fake }
callers: { anyone: true }
controlPlane: kubernetes
identity: ${CLOUD_IDENTITY}
kubernetes: { kubeconfig: /unused }
`
const ONLY_SERVICES = 'cloud: { controllers: [service] }'

export function createServiceWorld(options: ServiceWorldOptions = {}): ServiceWorld {
  const { door = 'events', around = (loadBalancer) => loadBalancer } = options
  const clock = createManualClock()
  const core = createCore(clock, door, () => runtime, options.objects ?? [])
  const cluster = createFakeClusterCloud({ ...options, clock })
  const { cloudProvider } = cluster
  const balancer = around(cluster.balancers.loadBalancer)
  const requests: string[] = []
  const store = recordWrites(createLocalClusterStore(core, CLOUD_IDENTITY), requests)
  const { config, faults } = parseConfig(
    `${SETTINGS}${options.config ?? ONLY_SERVICES}\nsweep: ${options.sweeping ?? SELDOM}\n`,
    {},
  )
  if (config === undefined) throw new Error(JSON.stringify(faults))
  const runtime = composeRuntime({
    config,
    provider: {
      name: 'fake',
      cloudProvider: options.cloudProvider ?? { ...cloudProvider, loadBalancer: () => balancer },
    },
    store: options.wrapStore?.(store) ?? store,
    composeWork,
    certificate: undefined,
    openapi: async () => '{}',
    clock,
    logger: silentLogger,
  })
  runtime.start()
  const marks = { events: 0, calls: 0, requests: 0 }
  const userOf = (username = 'somebody') => ({ user: { username, groups: [] } })

  async function told(operation: Operation, key: ObjectKey, object: KubernetesObject | undefined) {
    if (door !== 'events') return
    const { kind, namespace, name } = key
    const event = {
      source: 'cloudevent',
      operation,
      group: '',
      kind,
      namespace,
      name,
      receivedAt: clock.now(),
    } as const
    const side = operation === 'DELETE' ? 'oldObject' : 'object'
    await runtime.doors.acceptEvent({ ...event, ...(object === undefined ? {} : { [side]: object }) })
  }
  const sweep = (scope: SweepScope = 'all') => runtime.doors.sweep({ scope }, new AbortController().signal)
  const allEvents = () =>
    core
      .list({ group: '', version: 'v1', plural: 'events' })
      .items.toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
      .map((event) => `${event['type']} ${event['reason']}: ${event['message']}`)
  const balancerCalls = () =>
    cluster
      .calls()
      .filter(({ method }) => method in SHORT)
      .map(({ method, about, hosts }) => {
        const short = `${SHORT[method]} ${about.replace(/^default\//, '')}`
        return hosts === undefined ? short : `${short} [${hosts.join(' ')}]`
      })

  const world: ServiceWorld = {
    core,
    runtime,
    clock,
    cluster,
    config,
    store,
    async create<T extends KubernetesObject>(object: T) {
      const key = keyOf(object.kind as Kind, object)
      const stored = (await core.create(targetOf({ ...key, name: '' }), object, userOf())).object
      await told('CREATE', key, stored)
      return stored as unknown as T
    },
    async edit(key, body, { subresource, username, silently = false } = {}) {
      const target = { ...targetOf(key), ...(subresource === undefined ? {} : { subresource }) }
      const { object } = await core.patch(target, { type: 'merge', body }, userOf(username))
      if (!silently) await told('UPDATE', key, object)
      return object as unknown as KubernetesObject
    },
    async remove(key) {
      const before = world.read(key)
      await core.delete(targetOf(key), userOf())
      await told('DELETE', key, before)
    },
    read<K extends Kind>(key: ObjectKey & { kind: K }) {
      const { items } = core.list(targetOf({ ...key, name: '' }))
      return items.find(({ metadata }) => metadata.name === key.name) as unknown as ObjectOfKind[K] | undefined
    },
    async settle() {
      if (door === 'sweep') await sweep()
      await clock.advance(SETTLED_MS)
    },
    sweep,
    async http(path, body) {
      const payload = JSON.stringify(body)
      const headers = { 'content-type': 'application/json' }
      const response = await runtime.app.inject({ method: 'POST', url: path, headers, payload })
      return { status: response.statusCode, body: response.body }
    },
    mark() {
      marks.events = allEvents().length
      marks.calls = balancerCalls().length
      marks.requests = requests.length
    },
    events: () => allEvents().slice(marks.events),
    calls: () => balancerCalls().slice(marks.calls),
    changes: () => world.calls().filter((call) => !/^(get|list) /.test(call)),
    writes: () => requests.slice(marks.requests).filter((request) => request !== 'create Event'),
  }
  return world
}

// Bursts of nodes are gathered for a second; a failed key comes back after five.
const SETTLED_MS = 3_000

const SHORT: Readonly<Record<string, string>> = {
  getLoadBalancer: 'get',
  ensureLoadBalancer: 'ensure',
  updateLoadBalancer: 'update',
  ensureLoadBalancerDeleted: 'delete',
  listLoadBalancers: 'list',
}

function createCore(
  clock: ManualClock,
  door: CloudDoor,
  runtime: () => Runtime,
  objects: readonly KubernetesObject[],
): ControlPlaneCore {
  const callWebhook: CallWebhook = async (url, _caBundle, review) => {
    const { pathname } = new URL(url)
    const payload = JSON.stringify(review)
    const headers = { 'content-type': 'application/json' }
    const response = await runtime().app.inject({ method: 'POST', url: pathname, headers, payload })
    return { status: response.statusCode, headers: { 'content-type': 'application/json' }, body: response.body }
  }
  const core = createControlPlaneCore({
    clock,
    uid: randomUUID,
    nameSuffix: () => 'x7k2p',
    definitions: [],
    namespaces: [],
    admission: (own) => createWebhookAdmission({ core: own, clock, uid: randomUUID, callWebhook }),
  })
  core.preload([...objects, ...(door === 'reviews' ? cloudWebhooks() : [])] as ApiObject[])
  return core
}

function targetOf({ kind, namespace, name }: ObjectKey): RequestTarget {
  const { group, version, plural } = RESOURCES[kind]
  return { group, version, plural, ...(namespace === '' ? {} : { namespace }), ...(name === '' ? {} : { name }) }
}

function recordWrites(store: ClusterStore, requests: string[]): ClusterStore {
  return {
    ...store,
    create(kind, object, options) {
      requests.push(`create ${kind}`)
      return store.create(kind, object, options)
    },
    patch(key, patch, options) {
      requests.push(`patch ${key.kind}${options.subresource === undefined ? '' : '/status'}`)
      return store.patch(key, patch, options)
    },
    delete(key, options) {
      requests.push(`delete ${key.kind}`)
      return store.delete(key, options)
    },
  }
}
