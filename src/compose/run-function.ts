import { createSystemClock } from '../adapters/system/system-clock.ts'
import { serve } from './serve.ts'
import { type PlatformOptions, settingsOf } from './settings-of.ts'

export interface FunctionOptions extends PlatformOptions {
  /** Resolves when the function is to stop: at SIGTERM, usually. */
  stopped: Promise<void>
}

/**
 * Runs the function until it is told to stop, then finishes what it has taken on. Throws a `CatalogueError` when it
 * cannot start; then nothing was started.
 */
export async function runFunction(options: FunctionOptions): Promise<void> {
  const clock = createSystemClock()
  const served = await serve(await settingsOf(options, clock), clock)
  await options.stopped
  await served.close()
}
