import type { FastifyInstance } from 'fastify'
import { readKubeconfig } from '../adapters/kubernetes/read-kubeconfig.ts'
import type { ServingCertificate } from '../config/serving-certificate.ts'
import type { Clock } from '../ports/clock.ts'
import type { WorkedQueue } from '../ports/work-queue.ts'
import { NO_CODE_CACHE, reportCodeCache } from './code-cache.ts'
import { composeRuntime } from './compose-runtime.ts'
import { loadJetStream } from './create-work-queue.ts'
import { kubernetesSource } from './kubernetes-source.ts'
import { lateClusterStore } from './late-cluster-store.ts'
import { loadWork, workOf } from './late-work.ts'
import type { Settings } from './load-settings.ts'
import { startTelemetry } from './telemetry.ts'

/** The function over a real API server. Nothing listens, and nothing works until it is started. */
export interface OpenFunction {
  app: FastifyInstance
  start(): void
  /** Finishes what was taken within `shutdown.drainMs`, and closes. */
  close(): Promise<{ left: number }>
}

// The request that starts a process is often all that it sees before it is scaled away or frozen: its work must find a
// queue. A queue whose server is not there is not waited for: it refuses what it is told, and the sweep finds that.
const BEGIN_MS = 1_000

/** Resolves when work can be queued, and at the latest after a second. */
export async function openFunction(
  settings: Settings,
  clock: Clock,
  certificate?: () => ServingCertificate,
): Promise<OpenFunction> {
  const { config, provider, logger, sink, codeCache = NO_CODE_CACHE } = settings
  const telemetry = await startTelemetry(config, { clock, logger })
  reportCodeCache(codeCache, { ...telemetry, logger })
  const source = kubernetesSource(config)
  readKubeconfig(source)
  const store = lateClusterStore(async () => {
    const { openClusterStore } = await import('./open-cluster-store.ts')
    return openClusterStore(source, { timeoutMs: config.kubernetes.timeoutMs, clock, ...telemetry })
  }, clock)
  const runtime = composeRuntime({
    config,
    provider,
    store,
    composeWork: await workOf(settings),
    serverClock: store,
    ...(sink === undefined ? {} : { sink }),
    ...(await loadJetStream(config)),
    certificate,
    openapi: loadDocument,
    clock,
    logger,
    telemetry,
    onWork: onceAnswered(() => Promise.all([loadWork(), store.open()])),
  })
  await untilBegun(runtime.queue, clock)
  return {
    app: runtime.app,
    start: runtime.start,
    async close() {
      const drained = await runtime.drain()
      await runtime.app.close()
      await store.close()
      await telemetry.close()
      logger.info(drained, 'stopped')
      return drained
    },
  }
}

/**
 * What is told of in a review is looked at a moment after the answer: in that moment, and not before the answer, is loaded
 * what the look needs. What fails fails again when it is needed, and is told then.
 */
function onceAnswered(prepare: () => Promise<unknown>): () => void {
  let isPrepared = false
  return () => {
    if (isPrepared) return
    isPrepared = true
    setImmediate(() => void prepare().catch(() => {}))
  }
}

async function loadDocument(): Promise<string> {
  const { openapiDocument } = await import('./openapi-document.ts')
  return openapiDocument()
}

async function untilBegun({ begun }: WorkedQueue, clock: Clock): Promise<void> {
  const over = Promise.withResolvers<void>()
  const cancel = clock.after(BEGIN_MS, over.resolve)
  // The clock's timers keep no process alive, and nothing else does yet.
  const alive = setInterval(() => {}, BEGIN_MS)
  await Promise.race([begun, over.promise])
  clearInterval(alive)
  cancel()
}
