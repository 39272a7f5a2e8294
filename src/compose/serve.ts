import { loadKubeConfig } from '../adapters/kubernetes/kube-config.ts'
import { createKubernetesClusterStore } from '../adapters/kubernetes/kubernetes-cluster-store.ts'
import type { Clock } from '../ports/clock.ts'
import { composeRuntime } from './compose-runtime.ts'
import { kubernetesSource } from './kubernetes-source.ts'
import { listen } from './listen.ts'
import type { Settings } from './load-settings.ts'
import { openapiDocument } from './openapi-document.ts'
import { createReloadedCertificate } from './reload-certificate.ts'
import { startTelemetry } from './telemetry.ts'

export interface ServedFunction {
  port: number
  /** Stops taking requests, finishes what was taken within `shutdown.drainMs`, and closes. */
  close(): Promise<{ left: number }>
}

/** Starts the function: all that can be wrong is found before the port is opened, so that nothing is half started. */
export async function serve({ config, provider, logger, sink }: Settings, clock: Clock): Promise<ServedFunction> {
  const { tls } = config.server
  const certificate = tls === undefined ? undefined : createReloadedCertificate(tls, { clock, logger })
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
    certificate: certificate?.current,
    openapi: openapiDocument(),
    clock,
    logger,
    telemetry,
  })
  const port = await listen(runtime.app, config.server)
  runtime.start()
  certificate?.watch(runtime.app)
  logger.info({ port, provider: provider.name, finalizer: config.finalizer, tls: tls !== undefined }, 'serving')
  return {
    port,
    async close() {
      certificate?.stop()
      const drained = await runtime.drain()
      await runtime.app.close()
      await store.close()
      await telemetry.close()
      logger.info(drained, 'stopped')
      return drained
    },
  }
}
