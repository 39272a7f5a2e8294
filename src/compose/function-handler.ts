import { answerRequest } from '../adapters/http/answer-request.ts'
import { createSystemClock } from '../adapters/system/system-clock.ts'
import type { PlatformAnswer, PlatformRequest } from '../ports/platform-request.ts'
import { openFunction } from './open-function.ts'
import { type PlatformOptions, settingsOf } from './settings-of.ts'

export interface HandlerOptions extends PlatformOptions {
  /** False where the platform freezes the process after each answer: then this instance only hands work over. */
  worksBetweenRequests: boolean
}

/** The function for a platform that listens itself: it is handed requests. */
export interface FunctionHandler {
  answer(request: PlatformRequest): Promise<PlatformAnswer>
  /** Finishes what was taken on. */
  close(): Promise<void>
}

/** Starts the function. Rejects with a `CatalogueError` when it cannot start; then nothing was started. */
export async function createFunctionHandler(options: HandlerOptions): Promise<FunctionHandler> {
  const clock = createSystemClock()
  const settings = await settingsOf(options, clock)
  const { config, provider, logger } = settings
  const { app, start, close } = await openFunction(settings, clock)
  await app.ready()
  if (options.worksBetweenRequests) start()
  logger.info({ provider: provider.name, finalizer: config.finalizer, queue: config.queue.kind }, 'ready')
  return {
    answer: (request) => answerRequest(app, request),
    async close() {
      await close()
    },
  }
}
