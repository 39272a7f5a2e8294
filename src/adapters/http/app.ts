import type { FastifyInstance } from 'fastify'
import { registerAdmissionRoutes } from './admission-routes.ts'
import type { DoorOptions } from './door-options.ts'
import type { Doors } from './doors.ts'
import { registerEventRoutes } from './event-routes.ts'
import { guardedApp } from './guarded-app.ts'
import { registerOperationsRoutes } from './operations-routes.ts'
import { registerSweepRoute } from './sweep-route.ts'

/** Opens the doors as an app: routes are registered, nothing listens. */
export function buildApp(doors: Doors, options: DoorOptions): FastifyInstance {
  const app = guardedApp(doors.draining, options)
  registerAdmissionRoutes(app, doors, options)
  registerEventRoutes(app, doors, options)
  registerSweepRoute(app, doors, options)
  registerOperationsRoutes(app, doors, options)
  return app
}
