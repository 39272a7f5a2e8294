import type { Clock } from '../ports/clock.ts'
import { listen } from './listen.ts'
import type { Settings } from './load-settings.ts'
import { openFunction } from './open-function.ts'
import { createReloadedCertificate } from './reload-certificate.ts'
import { startProvider } from './start-provider.ts'

export interface ServedFunction {
  port: number
  /** Stops taking requests, finishes what was taken within `shutdown.drainMs`, and closes. */
  close(): Promise<{ left: number }>
}

/** Starts the function: all that can be wrong is found before the port is opened, so that nothing is half started. */
export async function serve(settings: Settings, clock: Clock): Promise<ServedFunction> {
  const { config, provider, logger } = settings
  const { tls } = config.server
  const certificate = tls === undefined ? undefined : createReloadedCertificate(tls, { clock, logger })
  const { app, start, close } = await openFunction(settings, clock, certificate?.current)
  const stopStarting = await startProvider(provider, { clock, logger })
  const port = await listen(app, config.server)
  start()
  certificate?.watch(app)
  logger.info({ port, provider: provider.name, finalizer: config.finalizer, tls: tls !== undefined }, 'serving')
  return {
    port,
    close() {
      stopStarting()
      certificate?.stop()
      return close()
    },
  }
}
