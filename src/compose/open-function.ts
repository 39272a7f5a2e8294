import type { FastifyInstance } from 'fastify'
import { loadKubeConfig } from '../adapters/kubernetes/kube-config.ts'
import { createKubernetesClusterStore } from '../adapters/kubernetes/kubernetes-cluster-store.ts'
import type { ServingCertificate } from '../config/serving-certificate.ts'
import type { Clock } from '../ports/clock.ts'
import { composeRuntime } from './compose-runtime.ts'
import { kubernetesSource } from './kubernetes-source.ts'
import type { Settings } from './load-settings.ts'
import { openapiDocument } from './openapi-document.ts'
import { startTelemetry } from './telemetry.ts'

/** The function over a real API server. Nothing listens, and nothing works until it is started. */
export interface OpenFunction {
  app: FastifyInstance
  /** Resolves when work can be queued, and at the latest after this time: then the sweep finds what is told meanwhile. */
  untilBegun(withinMs: number): Promise<void>
  start(): void
  /** Finishes what was taken within `shutdown.drainMs`, and closes. */
  close(): Promise<{ left: number }>
}

export async function openFunction(
  { config, provider, logger, sink }: Settings,
  clock: Clock,
  certificate?: () => ServingCertificate,
): Promise<OpenFunction> {
  const telemetry = await startTelemetry(config, { clock, logger })
  const store = createKubernetesClusterStore(loadKubeConfig(kubernetesSource(config)), {
    timeoutMs: config.kubernetes.timeoutMs,
    clock,
    ...telemetry,
  })
  const runtime = composeRuntime({
    config,
    provider,
    store,
    serverClock: store,
    ...(sink === undefined ? {} : { sink }),
    certificate,
    openapi: openapiDocument(),
    clock,
    logger,
    telemetry,
  })
  return {
    app: runtime.app,
    async untilBegun(withinMs) {
      const over = Promise.withResolvers<void>()
      const cancel = clock.after(withinMs, over.resolve)
      await Promise.race([runtime.queue.begun, over.promise])
      cancel()
    },
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
