import { createTokenFileProof } from '../adapters/callers/token-file-proof.ts'
import { createServer } from '../adapters/http/create-server.ts'
import { createRefusalLog } from '../adapters/http/refusal-log.ts'
import { releaseConnections } from '../adapters/http/release-connections.ts'
import { createPrometheusMetrics } from '../adapters/metrics/prometheus-metrics.ts'
import { buildProviderApp } from '../adapters/provider-server/provider-app.ts'
import { createProtocolValidator } from '../adapters/schema/create-protocol-validator.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { Provider } from '../provider/provider.ts'
import { listen } from './listen.ts'
import { CERTIFICATE_EXPIRY, PROVIDER_SERVER_CATALOGUE } from './metric-catalogue.ts'
import { createReloadedCertificate } from './reload-certificate.ts'
import { startProvider } from './start-provider.ts'

export interface ProviderServerSettings {
  provider: Provider
  host: string
  /** 0 asks for a free one. */
  port: number
  /** Absent: without TLS. */
  tls: { certFile: string; keyFile: string } | undefined
  /** Absent: whoever can reach it may call it. */
  tokenFile: string | undefined
  limits: { requestBytes: number; answerBytes: number }
  /** How long calls under way may take when it stops. */
  drainMs: number
  clock: Clock
  logger: Logger
}

export interface ServedProvider {
  port: number
  /** Takes no further calls, waits for those under way, and closes. */
  close(): Promise<void>
}

/** Serves a provider over HTTP, as the provider `http` calls it. What can be wrong is found before the port is opened. */
export async function serveProvider(settings: ProviderServerSettings): Promise<ServedProvider> {
  const { provider, host, tls, tokenFile, clock, logger, limits } = settings
  const certificate = tls && createReloadedCertificate(tls, { clock, logger })
  const metrics = createPrometheusMetrics(PROVIDER_SERVER_CATALOGUE)
  const stopped = new AbortController()
  let draining = false
  const app = buildProviderApp(provider, {
    clock,
    logger,
    metrics,
    metricsText() {
      if (certificate !== undefined) metrics.set(CERTIFICATE_EXPIRY, certificate.current().notAfter / 1_000)
      return metrics.text()
    },
    validate: createProtocolValidator(),
    ...(tokenFile !== undefined && {
      caller: createTokenFileProof({ path: tokenFile, field: '--token-file' }, { clock, logger }),
      logRefusal: createRefusalLog({ clock, logger }),
    }),
    limits,
    draining: () => draining,
    stopped: stopped.signal,
    serverFactory: (handler) => createServer(handler, certificate?.current()),
  })
  releaseConnections(app, () => draining)
  provider.cloudProvider?.initialize(NO_CLIENTS, stopped.signal)
  const stopStarting = await startProvider(provider, { clock, logger })
  const port = await listen(app, { host, port: settings.port })
  certificate?.watch(app)
  logger.info({ port, provider: provider.name, tls: tls !== undefined }, 'serving the provider')
  return {
    port,
    async close() {
      draining = true
      stopStarting()
      certificate?.stop()
      const cancel = clock.after(settings.drainMs, () => stopped.abort(new Error('the provider stops')))
      await app.close()
      cancel()
      stopped.abort(new Error('the provider has stopped'))
      logger.info({}, 'stopped')
    },
  }
}

/** A provider that is served needs no API server: all it is to know comes with the call. */
const NO_CLIENTS = {
  client(name: string): never {
    throw new Error(`${name} asks for a client of the API server, which a provider that is served over HTTP has not`)
  },
}
