import type { Sink } from '../../src/adapters/cloudevents/read-sink.ts'
import { composeRuntime, type Runtime } from '../../src/compose/compose-runtime.ts'
import { composeWork } from '../../src/compose/compose-work.ts'
import { createJetStream } from '../../src/compose/create-jet-stream.ts'
import type { Telemetry } from '../../src/compose/telemetry.ts'
import type { Config } from '../../src/config/config.ts'
import { parseConfig } from '../../src/config/parse-config.ts'
import type { ServingCertificate } from '../../src/config/serving-certificate.ts'
import type { Kind, ObjectOfKind } from '../../src/domain/kinds.ts'
import { RESOURCES } from '../../src/domain/kinds.ts'
import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import type { LoadBalancerStatus } from '../../src/domain/load-balancer-status.ts'
import type { ObjectKey } from '../../src/domain/object-key.ts'
import type { CallWebhook } from '../../src/local/admission/call-webhook.ts'
import { createWebhookAdmission } from '../../src/local/admission/webhook-admission.ts'
import type { ApiObject } from '../../src/local/core/api-object.ts'
import { type ControlPlaneCore, createControlPlaneCore } from '../../src/local/core/control-plane-core.ts'
import type { RequestTarget } from '../../src/local/core/core-environment.ts'
import { karmadaCrds } from '../../src/local/crds/karmada-crds.ts'
import { createLocalClusterStore } from '../../src/local/local-cluster-store.ts'
import type { ClusterStore } from '../../src/ports/cluster-store.ts'
import type { Logger } from '../../src/ports/logger.ts'
import type { BalancerIdentity, MultiClusterProvider } from '../../src/provider/multicluster.ts'
import type { FakeCall, FakeCloud, FakeFailure } from '../../src/providers/fake/fake-cloud.ts'
import { createFakeProvider } from '../../src/providers/fake/fake-provider.ts'
import { inProcessCaller } from './api-callers.ts'
import {
  aroundProvider,
  type GivenBalancer,
  givenBalancers,
  type ProviderCall,
  sameIdentity,
} from './around-provider.ts'
import { buildClass, buildServiceWorld, CLASS_NAME, FINALIZER } from './build-objects.ts'
import { createManualClock, type ManualClock } from './manual-clock.ts'

/** As the configuration names the control plane. */
export const CLUSTER_ID = 'default'
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
  /** YAML of who may call; everyone unless given. */
  callers?: string
  certificate?: () => ServingCertificate
  /** YAML beside the usual settings. */
  config?: string
  /** Where work events go, with a `queue` of kind `cloudevents`. */
  sink?: Sink
  /** Class names that the configuration calls ours; `multicloud`, which is the default, unless given. */
  classNames?: readonly string[]
  defaultClassIsOurs?: boolean
  /** In the cloud before the story begins. */
  balancers?: GivenBalancer[]
  /** Registered with the API server, which asks them as the real one does. */
  webhooks?: readonly ApiObject[]
  karmadaIsDown?: () => boolean
  telemetry?: Telemetry
  /** A second function, with a cloud of its own, on the control plane of the first. */
  beside?: World
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
  /** Every call to the provider with all that was handed over. */
  handed: ProviderCall[]
  provider: MultiClusterProvider
  /** As the function sees the API server. */
  store: ClusterStore
  /** Balancers that are in the cloud, the given ones among them. */
  balancers(): BalancerIdentity[]
  /** What the provider says of one of them. */
  reported(identity: BalancerIdentity): LoadBalancerStatus | undefined
  /** A request to one of the function's doors. */
  http(method: string, path: string, body?: object): Promise<{ status: number; body: string }>
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
CALLERS
identity: ${IDENTITY}
ingressClass: { names: NAMES, default: DEFAULT, INGRESS_CLASS }
kubernetes: { kubeconfig: /unused }
`

export function createWorld(options: WorldOptions = {}): World {
  let inFlight = 0
  const { beside } = options
  const clock = beside?.clock ?? createManualClock(undefined, () => inFlight > 0)
  const callWebhook = inProcessCaller({
    app: () => runtime.app,
    karmadaIsDown: options.karmadaIsDown ?? (() => false),
  })
  const counted = <R>(request: Promise<R>): Promise<R> => {
    inFlight += 1
    return request.finally(() => {
      inFlight -= 1
    })
  }
  const core =
    beside?.core ??
    createCore(
      clock,
      [
        ...(options.objects ?? [buildClass(), ...buildServiceWorld('web'), ...buildServiceWorld('game')]),
        ...(options.webhooks ?? []),
      ],
      options.webhooks && ((url, ca, review, timeoutMs) => counted(callWebhook(url, ca, review, timeoutMs))),
    )
  const fake = createFakeProvider({
    delayMs: options.delayMs ?? 0,
    failure: options.failure ?? (() => undefined),
    clock,
  })
  const requests: string[] = []
  const logs: World['logs'] = []
  const handed: ProviderCall[] = []
  const given = [...(options.balancers ?? [])]
  const { config, faults } = parseConfig(settingsOf(options), {})
  if (config === undefined) throw new Error(JSON.stringify(faults))
  const recorded = recordRequests(createLocalClusterStore(core, IDENTITY), requests)
  const store = options.wrapStore?.(recorded) ?? recorded
  const provider = providerOf(fake, given, handed, options)
  const runtime = composeRuntime({
    config,
    provider,
    store,
    composeWork,
    createJetStream,
    ...(options.sink === undefined ? {} : { sink: options.sink }),
    certificate: options.certificate,
    openapi: async () => '{}',
    clock,
    logger: recordLogs(logs),
    ...(options.telemetry && { telemetry: options.telemetry }),
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
    handed,
    provider,
    store,
    balancers: () => identitiesOf(fake, given),
    reported(identity) {
      const mine = given.find((balancer) => sameIdentity(balancer.identity, identity))
      const made = fake.cloud.balancers().find((balancer) => sameIdentity(balancer.identity, identity))
      return mine?.status ?? (made && { ingress: [{ ip: made.address }] })
    },
    async http(method, path, body) {
      const type = path === '/events' ? 'application/cloudevents+json' : 'application/json'
      const headers = body === undefined ? {} : { 'content-type': type }
      const request = { method: method as 'POST', url: path, headers, ...(body && { payload: JSON.stringify(body) }) }
      const response = await counted(runtime.app.inject(request))
      return { status: response.statusCode, body: response.body }
    },
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

const OPEN = 'callers: { anyone: true }'

function settingsOf({
  classNames = [CLASS_NAME],
  defaultClassIsOurs = true,
  ingressClass,
  callers = OPEN,
  config,
}: WorldOptions) {
  const classes = {
    NAMES: JSON.stringify(classNames),
    DEFAULT: defaultClassIsOurs,
    INGRESS_CLASS: ingressClass ?? '',
    CALLERS: callers,
  }
  const settings = SETTINGS.replace(
    /NAMES|DEFAULT|INGRESS_CLASS|CALLERS/g,
    (name) => `${classes[name as keyof typeof classes]}`,
  )
  return settings + (config ?? '')
}

function providerOf(
  fake: MultiClusterProvider & { cloud: FakeCloud },
  given: GivenBalancer[],
  handed: ProviderCall[],
  options: WorldOptions,
): MultiClusterProvider {
  const listed = async () => identitiesOf(fake, given)
  const { loadBalancer, mcsLoadBalancer } = fake
  const knowing: MultiClusterProvider = {
    ...fake,
    ...(loadBalancer && { loadBalancer: { ...loadBalancer, listLoadBalancers: listed } }),
    ...(mcsLoadBalancer && { mcsLoadBalancer: { ...mcsLoadBalancer, listMCSLoadBalancers: listed } }),
  }
  const cloud = given.length === 0 ? fake : aroundProvider(knowing, givenBalancers(given))
  return aroundProvider(options.provider?.(cloud) ?? cloud, (call, next) => {
    handed.push(call)
    return next()
  })
}

function identitiesOf({ cloud }: { cloud: FakeCloud }, given: readonly GivenBalancer[]): BalancerIdentity[] {
  const all = [...given, ...cloud.balancers()].map(({ identity }) => identity)
  return [...new Map(all.map((identity) => [JSON.stringify(Object.entries(identity).sort()), identity])).values()]
}

function createCore(
  clock: ManualClock,
  objects: KubernetesObject[],
  callWebhook: CallWebhook | undefined,
): ControlPlaneCore {
  let uids = 0
  const uid = () => {
    uids += 1
    return `00000000-0000-4000-8000-${String(uids).padStart(12, '0')}`
  }
  const core = createControlPlaneCore({
    clock,
    uid,
    nameSuffix: () => 'x7k2p',
    definitions: karmadaCrds,
    namespaces: ['shop'],
    ...(callWebhook && { admission: (own) => createWebhookAdmission({ core: own, clock, uid, callWebhook }) }),
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

function recordLogs(logs: World['logs'], bound: object = {}): Logger {
  const write = (level: string) => (fields: object, message: string) =>
    void logs.push({ level, message, fields: { ...bound, ...fields } })
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => recordLogs(logs, { ...bound, ...fields }),
  }
}

export { FINALIZER }
