import { type AdmissionDoors, registerAdmissionRoutes } from '../adapters/http/admission-routes.ts'
import { answerRequest } from '../adapters/http/answer-request.ts'
import { guardedApp } from '../adapters/http/guarded-app.ts'
import { createSystemClock } from '../adapters/system/system-clock.ts'
import type { Config } from '../config/config.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import { NO_CODE_CACHE, reportCodeCache } from './code-cache.ts'
import { createDoorGuard } from './create-door-guard.ts'
import type { FunctionHandler } from './function-handler.ts'
import type { PlatformOptions } from './settings-of.ts'
import { UNMEASURED } from './unmeasured.ts'

/** One door of the API server, and nothing behind it that works. */
export interface OpenDoor {
  config: Config
  logger: Logger
  doors: Omit<AdmissionDoors, 'draining'>
  /** Finishes what was taken on, within `shutdown.drainMs`. */
  drain?(): Promise<unknown>
}

export type OpenADoor = (options: PlatformOptions, clock: Clock) => Promise<OpenDoor>

/**
 * A function that is only a door, through the same routes and guards as the whole one. It has no client of the API server
 * and no reconcilers, and its platform calls it for reviews alone: there is no metric that anybody could read.
 */
export async function createDoorHandler(options: PlatformOptions, openDoor: OpenADoor): Promise<FunctionHandler> {
  const clock = createSystemClock()
  const { config, logger, doors, drain } = await openDoor(options, clock)
  const { codeCache = NO_CODE_CACHE } = options
  reportCodeCache(codeCache, { metrics: UNMEASURED, logger })
  if (config.telemetry.traces !== undefined) logger.warn({}, 'a function that is only a door sends no traces')
  let draining = false
  const { pathPrefix } = config.server
  const parts = { clock, logger, metrics: UNMEASURED }
  const isDraining = () => draining
  const app = guardedApp(isDraining, {
    ...parts,
    callers: { admission: createDoorGuard('admission', config.callers.admission, parts) },
    ...(pathPrefix !== undefined && { pathPrefix }),
  })
  registerAdmissionRoutes(app, { ...doors, draining: isDraining }, parts)
  await app.ready()
  logger.info({ finalizer: config.finalizer }, 'ready')
  return {
    answer: (request) => answerRequest(app, request),
    async close() {
      draining = true
      await drain?.()
      await app.close()
    },
  }
}
