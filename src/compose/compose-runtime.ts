import type { FastifyInstance } from 'fastify'
import type { Sink } from '../adapters/cloudevents/read-sink.ts'
import { buildApp } from '../adapters/http/app.ts'
import type { Doors } from '../adapters/http/doors.ts'
import type { Config } from '../config/config.ts'
import type { ServingCertificate } from '../config/serving-certificate.ts'
import type { OurMarks } from '../domain/relevance.ts'
import { acceptEvent } from '../flow/accept-event.ts'
import { QUEUE_METRICS } from '../flow/queue-metrics.ts'
import { createWorkMeter, type WorkMeter } from '../flow/work-meter.ts'
import type { Clock } from '../ports/clock.ts'
import type { ClusterStore } from '../ports/cluster-store.ts'
import type { Logger } from '../ports/logger.ts'
import type { Metrics } from '../ports/metrics.ts'
import type { ServerClock } from '../ports/server-clock.ts'
import type { WorkedQueue } from '../ports/work-queue.ts'
import type { Provider } from '../provider/provider.ts'
import { observeProvider } from '../reconcilers/observe-provider.ts'
import { cloudChecks } from './cloud-controllers.ts'
import type { ComposeWork, Work } from './compose-work.ts'
import { createDoorGuards } from './create-door-guards.ts'
import { createWorkQueue } from './create-work-queue.ts'
import { CERTIFICATE_EXPIRY } from './metric-catalogue.ts'
import { nextLook } from './next-look.ts'
import { pureDoors } from './pure-doors.ts'
import { readinessOf } from './readiness.ts'
import { servedCloud } from './served-cloud.ts'
import { servedKinds } from './served-kinds.ts'
import { startAtZero } from './start-at-zero.ts'
import { measuredOnly, type Telemetry } from './telemetry.ts'
import type { CreateWorkQueue } from './work-queue-parts.ts'

export interface RuntimeParts {
  config: Config
  provider: Provider
  store: ClusterStore
  /** What is behind the doors. */
  composeWork: ComposeWork
  /** The store's; ours where it is the same. */
  serverClock?: ServerClock
  /** Where work events go, for `queue.kind: cloudevents`. */
  sink?: Sink
  /** For `queue.kind: jetstream`. */
  createJetStream?: CreateWorkQueue
  /** What is served with now; undefined behind an ingress that terminates TLS. */
  certificate: (() => ServingCertificate) | undefined
  /** The OpenAPI document, as JSON text; read when it is asked for. */
  openapi: () => Promise<string>
  clock: Clock
  logger: Logger
  /** Metrics alone unless given. */
  telemetry?: Telemetry
  /** Told when a review or an event has brought work for this process, which is not begun yet. */
  onWork?: () => void
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
export function composeRuntime(given: RuntimeParts): Runtime {
  const { telemetry = measuredOnly() } = given
  const parts = { ...given, telemetry, provider: observeProvider(given.provider, { ...given, ...telemetry }) }
  const { config, certificate, clock, logger, openapi } = parts
  const { metrics, tracer } = telemetry
  const queue = createWorkQueue({ ...parts, metrics })
  const marks = { identity: config.identity, finalizer: config.finalizer, ...cloudMarks(parts) }
  const work = parts.composeWork({ ...parts, metrics, tracer, queue, marks })
  const controllers = servedKinds(config, parts.provider)
  startAtZero(metrics, controllers)
  const { kind, concurrency } = config.queue
  const meter = createWorkMeter({ queue: kind, controllers, concurrency, clock, metrics })
  let draining = false
  const doors = composeDoors(parts, { queue, marks, work, meter }, () => draining)
  const app = buildApp(doors, {
    logger,
    metrics,
    tracer,
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
    start: () => queue.start(meter.measured(work.workOn)),
    drain() {
      draining = true
      return queue.drain(config.shutdown.drainMs)
    },
  }
}

interface MeasuredParts extends RuntimeParts {
  telemetry: Telemetry
}

function cloudMarks({ config, provider }: RuntimeParts): Pick<OurMarks, 'services'> {
  if (servedCloud(config, provider) === undefined) return {}
  return { services: { loadBalancerClass: config.cloud.loadBalancerClass } }
}

function composeDoors(
  parts: MeasuredParts,
  behind: { queue: WorkedQueue; marks: OurMarks; work: Work; meter: WorkMeter },
  draining: () => boolean,
): Doors {
  const { config, provider, certificate, clock, telemetry, onWork = () => {} } = parts
  const { queue, work, meter } = behind
  const { metrics, tracer } = telemetry
  const cloud = servedCloud(config, provider)
  return {
    ...pureDoors(parts),
    async acceptEvent(event) {
      const accepted = await acceptEvent(event, behind)
      if (accepted.keys > 0 && config.queue.kind === 'memory') onWork()
      return accepted
    },
    async work(item, signal) {
      const caller = tracer.current()
      const pass = meter.measured((asked, until) => work.workOn(asked, until, caller))
      return nextLook(await pass(item, signal), clock.now())
    },
    sweep: work.sweep,
    readiness: async () => readinessOf(certificate?.(), clock.now(), cloud && cloudChecks(cloud, config)),
    metricsText() {
      meter.tell()
      tellWaiting(queue, config.queue.kind, clock, metrics)
      const { notAfter } = certificate?.() ?? {}
      if (notAfter !== undefined) metrics.set(CERTIFICATE_EXPIRY, notAfter / 1_000)
      return metrics.text()
    },
    draining,
  }
}

function tellWaiting(queue: WorkedQueue, name: string, clock: Clock, metrics: Metrics): void {
  const { keys, since = clock.now() } = queue.waiting()
  metrics.set(QUEUE_METRICS.depth.name, keys, { name })
  metrics.set(QUEUE_METRICS.oldest.name, (clock.now() - since) / 1_000, { name })
}
