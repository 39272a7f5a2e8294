import { composeRuntime, type Runtime } from '../../src/compose/compose-runtime.ts'
import type { Config } from '../../src/config/config.ts'
import { parseConfig } from '../../src/config/parse-config.ts'
import type { Kind, ObjectOfKind } from '../../src/domain/kinds.ts'
import { RESOURCES } from '../../src/domain/kinds.ts'
import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import type { ObjectKey } from '../../src/domain/object-key.ts'
import { type ControlPlaneCore, createControlPlaneCore } from '../../src/local/core/control-plane-core.ts'
import type { RequestTarget } from '../../src/local/core/core-environment.ts'
import { karmadaCrds } from '../../src/local/crds/karmada-crds.ts'
import { createLocalClusterStore } from '../../src/local/local-cluster-store.ts'
import type { ClusterStore } from '../../src/ports/cluster-store.ts'
import type { Logger } from '../../src/ports/logger.ts'
import type { MultiClusterProvider } from '../../src/provider/multicluster.ts'
import type { FakeCall, FakeCloud, FakeFailure } from '../../src/providers/fake/fake-cloud.ts'
import { createFakeProvider } from '../../src/providers/fake/fake-provider.ts'
import { buildClass, buildServiceWorld, CLASS_NAME, FINALIZER } from './build-objects.ts'
import { createManualClock, type ManualClock } from './manual-clock.ts'

/** Under this name the function writes. */
export const IDENTITY = 'system:serviceaccount:karmada-system:webhook-cloud-provider'

export interface WorldOptions {
  /** Stored before the story begins; our IngressClass and the Services `web` and `game` unless given. */
  objects?: KubernetesObject[]
  delayMs?: number
  failure?: (call: FakeCall) => FakeFailure | undefined
  /** In place of the fake one. */
  provider?: (fake: MultiClusterProvider) => MultiClusterProvider
  /** Between the function and the API server: faults, counters. */
  wrapStore?: (store: ClusterStore) => ClusterStore
  /** Further settings in YAML of `ingressClass`. */
  ingressClass?: string
  /** YAML beside the usual settings. */
  config?: string
}

/** A whole control plane, a function and a cloud in memory, on a clock that stands still. */
export interface World {
  core: ControlPlaneCore
  runtime: Runtime
  clock: ManualClock
  cloud: FakeCloud
  /** What the function asked of the API server: `get MultiClusterIngress`, `patch MultiClusterIngress/status`. */
  requests: string[]
  logs: { level: string; message: string; fields: object }[]
  config: Config
  create<T extends KubernetesObject>(object: T): Promise<T>
  /** A merge patch by a user. */
  edit(key: ObjectKey, body: object, subresource?: 'status'): Promise<KubernetesObject>
  remove(key: ObjectKey): Promise<void>
  read<K extends Kind>(key: ObjectKey & { kind: K }): ObjectOfKind[K] | undefined
  /** In the order they were written. */
  events(): string[]
  /** `get`, `ensure` … in the order they reached the provider. */
  calls(): string[]
}

const SETTINGS = `
provider: { name: fake }
identity: ${IDENTITY}
ingressClass: { names: [${CLASS_NAME}], default: true, INGRESS_CLASS }
kubernetes: { kubeconfig: /unused }
`

export function createWorld(options: WorldOptions = {}): World {
  const clock = createManualClock()
  const core = createCore(
    clock,
    options.objects ?? [buildClass(), ...buildServiceWorld('web'), ...buildServiceWorld('game')],
  )
  const fake = createFakeProvider({
    delayMs: options.delayMs ?? 0,
    failure: options.failure ?? (() => undefined),
    clock,
  })
  const requests: string[] = []
  const logs: World['logs'] = []
  const { config, faults } = parseConfig(
    SETTINGS.replace('INGRESS_CLASS', options.ingressClass ?? '') + (options.config ?? ''),
    {},
  )
  if (config === undefined) throw new Error(JSON.stringify(faults))
  const store = recordRequests(createLocalClusterStore(core, IDENTITY), requests)
  const runtime = composeRuntime({
    config,
    provider: options.provider?.(fake) ?? fake,
    store: options.wrapStore?.(store) ?? store,
    certificate: undefined,
    openapi: '{}',
    clock,
    logger: recordLogs(logs),
  })
  runtime.start()
  const user = { user: { username: 'somebody', groups: [] } }
  return {
    core,
    runtime,
    clock,
    cloud: fake.cloud,
    requests,
    logs,
    config,
    async create<T extends KubernetesObject>(object: T) {
      const target = targetOf({ kind: object.kind as Kind, namespace: object.metadata.namespace ?? '', name: '' })
      return (await core.create(target, object, user)).object as unknown as T
    },
    async edit(key, body, subresource) {
      const target = { ...targetOf(key), ...(subresource === undefined ? {} : { subresource }) }
      return (await core.patch(target, { type: 'merge', body }, user)).object as unknown as KubernetesObject
    },
    async remove(key) {
      await core.delete(targetOf(key), user)
    },
    read<K extends Kind>(key: ObjectKey & { kind: K }) {
      const { items } = core.list(targetOf({ ...key, name: '' }))
      return items.find(({ metadata }) => metadata.name === key.name) as unknown as ObjectOfKind[K] | undefined
    },
    events: () =>
      core
        .list({ group: '', version: 'v1', plural: 'events' })
        .items.toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
        .map((event) => `${event['type']} ${event['reason']}: ${event['message']}`),
    calls: () => fake.cloud.calls().map(({ method }) => method),
  }
}

function createCore(clock: ManualClock, objects: KubernetesObject[]): ControlPlaneCore {
  let uids = 0
  const core = createControlPlaneCore({
    clock,
    uid() {
      uids += 1
      return `00000000-0000-4000-8000-${String(uids).padStart(12, '0')}`
    },
    nameSuffix: () => 'x7k2p',
    definitions: karmadaCrds,
    namespaces: ['shop'],
  })
  core.preload(objects as never)
  return core
}

function targetOf({ kind, namespace, name }: ObjectKey): RequestTarget {
  const { group, version, plural } = RESOURCES[kind]
  return { group, version, plural, ...(namespace === '' ? {} : { namespace }), ...(name === '' ? {} : { name }) }
}

function recordRequests(store: ClusterStore, requests: string[]): ClusterStore {
  return {
    get(key, options) {
      requests.push(`get ${key.kind}`)
      return store.get(key, options)
    },
    list(kind, options) {
      requests.push(`list ${kind}`)
      return store.list(kind, options)
    },
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

function recordLogs(logs: World['logs']): Logger {
  const write = (level: string) => (fields: object, message: string) => void logs.push({ level, message, fields })
  const logger: Logger = {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: () => logger,
  }
  return logger
}

export { FINALIZER }
