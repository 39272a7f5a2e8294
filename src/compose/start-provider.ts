import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { Provider } from '../provider/provider.ts'

const AGAIN_AFTER_MS = 5_000

/**
 * Starts the provider, where it has anything to start. Returns after the first attempt: what cannot be started yet, as the
 * proxy beside it is down, is tried again and keeps nobody from being served. The function that is returned ends that.
 */
export async function startProvider(provider: Provider, parts: { clock: Clock; logger: Logger }): Promise<() => void> {
  const { clock, logger } = parts
  let stopped = false
  let cancel = () => {}
  let told = ''

  async function attempt(): Promise<void> {
    try {
      await provider.start?.()
      if (told !== '') logger.info({ provider: provider.name }, 'the provider has started')
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      // Once: it may be so for hours.
      if (message !== told) logger.warn({ provider: provider.name, error: message }, 'the provider cannot start yet')
      told = message
      if (!stopped) cancel = clock.after(AGAIN_AFTER_MS, () => void attempt())
    }
  }

  await attempt()
  return () => {
    stopped = true
    cancel()
  }
}
