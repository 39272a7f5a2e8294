import assert from 'node:assert/strict'
import { composeRuntime, type Runtime } from '../../src/compose/compose-runtime.ts'
import { composeWork } from '../../src/compose/compose-work.ts'
import { parseConfig } from '../../src/config/parse-config.ts'
import { apiVersionOf, type Kind, RESOURCES } from '../../src/domain/kinds.ts'
import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import type { Node } from '../../src/domain/node.ts'
import type { ObjectKey } from '../../src/domain/object-key.ts'
import type { SweepReport, SweepScope } from '../../src/domain/sweep-report.ts'
import { type ControlPlaneCore, createControlPlaneCore } from '../../src/local/core/control-plane-core.ts'
import type { RequestTarget } from '../../src/local/core/core-environment.ts'
import { createLocalClusterStore } from '../../src/local/local-cluster-store.ts'
import type { ClusterStore, Patch } from '../../src/ports/cluster-store.ts'
import type { Logger } from '../../src/ports/logger.ts'
import type { CloudProvider } from '../../src/provider/cloud.ts'
import {
  createFakeClusterCloud,
  type FakeClusterCloud,
  type FakeClusterOptions,
} from '../../src/providers/fake/fake-cluster-cloud.ts'
import { createManualClock, type ManualClock } from './manual-clock.ts'

/** Under this name the function writes. */
export const NODE_WORLD_IDENTITY = 'system:serviceaccount:kube-system:webhook-cloud-provider'

export interface NodeWorldOptions extends Omit<FakeClusterOptions, 'clock'> {
  /** Stored before the story begins. */
  objects?: KubernetesObject[]
  /** YAML below `cloud:`; the pods' network is 10.244.0.0/16 unless given. */
  cloud?: string
  /** In place of the fake one. */
  cloudProvider?: (fake: CloudProvider) => CloudProvider
  /** Between the function and the API server: faults, counters. */
  wrapStore?: (store: ClusterStore) => ClusterStore
}

interface RecordedWrite {
  /** `patch Node/status n1` */
  what: string
  patch?: Patch
  preconditions?: { uid: string; resourceVersion: string }
}

/** The nodes of one cluster, its cloud and a function between them, in memory, on a clock that stands still. */
export interface NodeWorld {
  core: ControlPlaneCore
  runtime: Runtime
  clock: ManualClock
  cloud: FakeClusterCloud
  /** All writes of the function but its events. */
  writes: RecordedWrite[]
  logs: { level: string; message: string; fields: object }[]
  create(object: KubernetesObject): Promise<void>
  /** A merge patch by a user, or the kubelet. */
  edit(key: ObjectKey, body: object, subresource?: 'status'): Promise<void>
  remove(key: ObjectKey): Promise<void>
  node(name: string): Node | undefined
  /** In the order they were written. */
  events(): string[]
  /** `instanceExists n1`, in the order they reached the cloud. */
  calls(): string[]
  /** The doors, over HTTP: each returns when it has answered. */
  review(operation: 'CREATE' | 'UPDATE' | 'DELETE', review: Review): Promise<void>
  cloudEvent(verb: 'add' | 'update' | 'delete', object: KubernetesObject): Promise<void>
  sweep(scope?: SweepScope): Promise<SweepReport>
}

export interface Review {
  object?: KubernetesObject | undefined
  oldObject?: KubernetesObject | undefined
  subResource?: string
  username?: string
  dryRun?: boolean
}

// No balancer's turn to be verified comes by chance: uids differ from run to run.
const SETTINGS = `
sweep: { intervalMs: 1, periodMs: 86400000 }
provider: { name: fake }
callers: { anyone: true }
controlPlane: kubernetes
identity: ${NODE_WORLD_IDENTITY}
kubernetes: { kubeconfig: /unused }
`

export function createNodeWorld(options: NodeWorldOptions = {}): NodeWorld {
  const { objects = [], cloud: settings = 'clusterCidr: 10.244.0.0/16', cloudProvider, wrapStore, ...fake } = options
  const clock = createManualClock()
  const core = createCore(clock)
  core.preload(objects as never)
  const cloud = createFakeClusterCloud({ clock, ...fake })
  const { config, faults } = parseConfig(`${SETTINGS}cloud: { ${settings} }\n`, {})
  if (config === undefined) throw new Error(JSON.stringify(faults))
  const writes: RecordedWrite[] = []
  const logs: NodeWorld['logs'] = []
  const store = recordWrites(createLocalClusterStore(core, NODE_WORLD_IDENTITY), writes)
  const runtime = composeRuntime({
    config,
    provider: { name: 'fake', cloudProvider: cloudProvider?.(cloud.cloudProvider) ?? cloud.cloudProvider },
    store: wrapStore?.(store) ?? store,
    composeWork,
    certificate: undefined,
    openapi: async () => '{}',
    clock,
    logger: loggerInto({}, logs),
  })
  runtime.start()
  const user = { user: { username: 'somebody', groups: [] } }

  async function post(url: string, body: object, type = 'application/json'): Promise<string> {
    const headers = { 'content-type': type }
    const answer = await runtime.app.inject({ method: 'POST', url, headers, payload: JSON.stringify(body) })
    assert.ok(answer.statusCode < 300, `${url} answers ${answer.statusCode}: ${answer.body}`)
    return answer.body
  }

  return {
    core,
    runtime,
    clock,
    cloud,
    writes,
    logs,
    async create(object) {
      const { kind, metadata } = object
      await core.create(
        targetOf({ kind: kind as Kind, namespace: metadata.namespace ?? '', name: '' }),
        object as never,
        user,
      )
    },
    async edit(key, body, subresource) {
      const target = { ...targetOf(key), ...(subresource === undefined ? {} : { subresource }) }
      await core.patch(target, { type: 'merge', body }, user)
    },
    async remove(key) {
      await core.delete(targetOf(key), user)
    },
    node(name) {
      const { items } = core.list(targetOf({ kind: 'Node', namespace: '', name: '' }))
      return items.find(({ metadata }) => metadata.name === name) as Node | undefined
    },
    events: () =>
      core
        .list({ group: '', version: 'v1', plural: 'events' })
        .items.toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
        .map((event) => `${event['type']} ${event['reason']}: ${event['message']}`),
    calls: () => cloud.calls().map(({ method, about }) => `${method} ${about}`),
    async review(operation, review) {
      await post('/admission/notify', reviewOf(operation, review))
    },
    async cloudEvent(verb, object) {
      await post('/events', cloudEventOf(verb, object), 'application/cloudevents+json')
    },
    sweep: async (scope = 'all') => JSON.parse(await post(`/sweep?scope=${scope}`, {})) as SweepReport,
  }
}

function createCore(clock: ManualClock): ControlPlaneCore {
  let uids = 0
  return createControlPlaneCore({
    clock,
    uid() {
      uids += 1
      return `00000000-0000-4000-8000-${String(uids).padStart(12, '0')}`
    },
    nameSuffix: () => 'x7k2p',
    definitions: [],
    namespaces: ['default', 'shop'],
  })
}

function targetOf({ kind, namespace, name }: ObjectKey): RequestTarget {
  const { group, version, plural } = RESOURCES[kind]
  return { group, version, plural, ...(namespace === '' ? {} : { namespace }), ...(name === '' ? {} : { name }) }
}

function reviewOf(operation: string, { object, oldObject, subResource, username, dryRun = false }: Review) {
  const { kind, metadata } = object ?? oldObject ?? assert.fail('a review is of an object')
  const { group, version, plural } = RESOURCES[kind as Kind]
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: '705ab4f5-6393-11e8-b7cc-42010a800002',
      kind: { group, version, kind },
      resource: { group, version, resource: plural },
      ...(subResource !== undefined && { subResource }),
      name: metadata.name,
      ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
      operation,
      userInfo: { username: username ?? 'somebody', groups: ['system:authenticated'] },
      object: object ?? null,
      oldObject: oldObject ?? null,
      dryRun,
      options: null,
    },
  }
}

function cloudEventOf(verb: string, object: KubernetesObject) {
  const { kind, metadata } = object
  return {
    specversion: '1.0',
    id: `${metadata.uid}.${metadata.resourceVersion}.${verb}`,
    source: 'https://127.0.0.1:6443',
    type: `dev.knative.apiserver.resource.${verb}`,
    data: { ...object, apiVersion: apiVersionOf(kind as Kind), kind },
  }
}

function recordWrites(store: ClusterStore, writes: RecordedWrite[]): ClusterStore {
  return {
    get: store.get,
    list: store.list,
    create(kind, object, options) {
      if (kind !== 'Event') writes.push({ what: `create ${kind} ${object.metadata.name}` })
      return store.create(kind, object, options)
    },
    patch(key, patch, options) {
      const status = options.subresource === undefined ? '' : '/status'
      writes.push({ what: `patch ${key.kind}${status} ${key.name}`, patch })
      return store.patch(key, patch, options)
    },
    delete(key, options) {
      writes.push({ what: `delete ${key.kind} ${key.name}`, preconditions: options.preconditions })
      return store.delete(key, options)
    },
  }
}

function loggerInto(bound: object, logs: NodeWorld['logs']): Logger {
  const write = (level: string) => (fields: object, message: string) =>
    void logs.push({ level, message, fields: { ...bound, ...fields } })
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (more) => loggerInto({ ...bound, ...more }, logs),
  }
}
