import type { FastifyInstance } from 'fastify'
import type { Sink } from '../adapters/cloudevents/read-sink.ts'
import { buildApp } from '../adapters/http/app.ts'
import { DOOR_METRICS } from '../adapters/http/door-metrics.ts'
import type { Doors } from '../adapters/http/doors.ts'
import { createPrometheusMetrics, type PrometheusMetrics } from '../adapters/metrics/prometheus-metrics.ts'
import { createSchemaValidator } from '../adapters/schema/schema-validator.ts'
import type { Config } from '../config/config.ts'
import type { ServingCertificate } from '../config/serving-certificate.ts'
import type { OurMarks } from '../domain/relevance.ts'
import { acceptEvent } from '../flow/accept-event.ts'
import { claimOnAdmission } from '../flow/claim-on-admission.ts'
import type { Flow } from '../flow/flow.ts'
import { FLOW_METRICS } from '../flow/flow-metrics.ts'
import { createHostMemory } from '../flow/host-memory.ts'
import type { OwnershipRules } from '../flow/ownership-rules.ts'
import { QUEUE_METRICS } from '../flow/queue-metrics.ts'
import { sharedLists } from '../flow/shared-lists.ts'
import { validateOnAdmission } from '../flow/validate-on-admission.ts'
import { workOn } from '../flow/work-on.ts'
import type { Clock } from '../ports/clock.ts'
import type { ClusterStore } from '../ports/cluster-store.ts'
import type { Lock } from '../ports/lock.ts'
import type { Logger } from '../ports/logger.ts'
import type { ServerClock } from '../ports/server-clock.ts'
import type { WorkedQueue } from '../ports/work-queue.ts'
import type { MultiClusterProvider } from '../provider/multicluster.ts'
import type { Provider } from '../provider/provider.ts'
import { NODE_METRICS } from '../reconcilers/node/node-metrics.ts'
import { SERVICE_METRICS } from '../reconcilers/service/service-metrics.ts'
import { balancerAbilities } from './balancer-abilities.ts'
import { cloudChecks } from './cloud-controllers.ts'
import { cloudDoors } from './cloud-doors.ts'
import { composeReconcilers } from './compose-reconcilers.ts'
import { createDoorGuards } from './create-door-guards.ts'
import { type ConfiguredLock, createLock } from './create-lock.ts'
import { createWorkQueue } from './create-work-queue.ts'
import { nextLook } from './next-look.ts'
import { readinessOf } from './readiness.ts'
import { servedCloud } from './served-cloud.ts'
import { sweepAndTidy } from './sweep-and-tidy.ts'

export interface RuntimeParts {
  config: Config
  provider: Provider
  store: ClusterStore
  /** The store's; ours where it is the same. */
  serverClock?: ServerClock
  /** Where work events go, for `queue.kind: cloudevents`. */
  sink?: Sink
  /** What is served with now; undefined behind an ingress that terminates TLS. */
  certificate: (() => ServingCertificate) | undefined
  /** The OpenAPI document, as JSON text. */
  openapi: string
  clock: Clock
  logger: Logger
}

/** Everything that runs, wired; nothing listens and nothing works until it is told to. */
export interface Runtime {
  app: FastifyInstance
  doors: Doors
  queue: WorkedQueue
  /** Begins to work on what is queued. */
  start(): void
  /** From now on doors ask callers to come back; queued work is finished within the configured time. */
  drain(): Promise<{ left: number }>
}

/** The one place where adapters meet ports. */
export function composeRuntime(parts: RuntimeParts): Runtime {
  const { config, certificate, clock, logger, openapi } = parts
  const metrics = createPrometheusMetrics([
    ...Object.values(FLOW_METRICS),
    ...Object.values(QUEUE_METRICS),
    ...Object.values(DOOR_METRICS),
    ...Object.values(SERVICE_METRICS),
    ...Object.values(NODE_METRICS),
  ])
  const queue = createWorkQueue({ ...parts, metrics })
  const locking = createLock({ ...parts, queue })
  const flow = composeFlow(parts, queue, locking.lock, metrics)
  let draining = false
  const doors = composeDoors(parts, flow, locking, metrics, () => draining)
  const app = buildApp(doors, {
    logger,
    metrics,
    clock,
    openapi,
    callers: createDoorGuards(config, { clock, logger }),
    sweepDeadlineMs: config.sweep.deadlineMs,
    workDeadlineMs: config.work.deadlineMs,
    ...(config.server.pathPrefix === undefined ? {} : { pathPrefix: config.server.pathPrefix }),
    ...(certificate === undefined ? {} : { tls: certificate() }),
  })
  return {
    app,
    doors,
    queue,
    start: () => queue.start((item, signal) => workOn(item, flow, signal)),
    drain() {
      draining = true
      return queue.drain(config.shutdown.drainMs)
    },
  }
}

function composeFlow(parts: RuntimeParts, queue: WorkedQueue, lock: Lock, metrics: PrometheusMetrics): Flow {
  const { config, clock, logger } = parts
  const store = sharedLists(parts.store, ['Node'])
  return {
    reader: store,
    queue,
    reconcilers: composeReconcilers({ ...parts, store, metrics }, lock),
    marks: { identity: config.identity, finalizer: config.finalizer, ...cloudMarks(parts) },
    ...hostsOf(parts),
    clock,
    logger,
    metrics,
  }
}

function hostsOf({ config, provider }: RuntimeParts): Pick<Flow, 'hosts'> {
  const loadBalancer = servedCloud(config, provider)?.loadBalancer()
  return loadBalancer === undefined ? {} : { hosts: createHostMemory(balancerAbilities(loadBalancer).target) }
}

function cloudMarks({ config, provider }: RuntimeParts): Pick<OurMarks, 'services'> {
  if (servedCloud(config, provider) === undefined) return {}
  return { services: { loadBalancerClass: config.cloud.loadBalancerClass } }
}

function composeDoors(
  parts: RuntimeParts,
  flow: Flow,
  locking: ConfiguredLock,
  metrics: PrometheusMetrics,
  draining: () => boolean,
): Doors {
  const { config, provider, certificate, clock, logger } = parts
  const cloud = servedCloud(config, provider)
  const rules = ownershipRules(config, provider)
  const checks = { schema: createSchemaValidator(), provider }
  return {
    mutate: (request) => claimOnAdmission(request, rules),
    validate: (request) => ({ findings: validateOnAdmission(request, rules, checks), warnings: [] }),
    ...(cloud && cloudDoors(cloud, config, logger)),
    acceptEvent: (event) => acceptEvent(event, flow),
    work: async (item, signal) => nextLook(await workOn(item, flow, signal), clock.now()),
    sweep: (request, signal) => sweepAndTidy(request, flow, config.sweep, locking, signal),
    readiness: async () => readinessOf(certificate?.(), clock.now(), cloud && cloudChecks(cloud, config)),
    metricsText: () => metrics.text(),
    draining,
  }
}

function ownershipRules(
  { finalizer, ingressClass, multiClusterServices }: Config,
  provider: MultiClusterProvider,
): OwnershipRules {
  return {
    finalizer,
    classNames: ingressClass.names,
    defaultClassIsOurs: ingressClass.default,
    selector: multiClusterServices.selector,
    serves: {
      MultiClusterIngress: provider.loadBalancer !== undefined,
      MultiClusterService: provider.mcsLoadBalancer !== undefined,
    },
  }
}
