import { NODE_METRICS } from '../node/node-metrics.ts'
import type { Reconciler } from '../reconciler.ts'
import { withLock } from '../with-lock.ts'
import { withTurn } from '../with-turn.ts'
import { applyRoutes } from './apply-routes.ts'
import { decideRoutes } from './decide-routes.ts'
import { gatherRoutes } from './gather-routes.ts'
import type { RouteDependencies, RoutePass, RouteSettings } from './route-pass.ts'

/** Keeps a route to the pods of each node. Its one key stands for all routes: they are always looked at as a whole. */
export function createRouteReconciler(settings: RouteSettings, dependencies: RouteDependencies): Reconciler {
  return {
    async reconcile(key, { reader, signal }) {
      const pass: RoutePass = { ...dependencies, settings, key, signal }
      dependencies.metrics.count(NODE_METRICS.routeSyncs.name)
      const decision = decideRoutes(await gatherRoutes(pass, reader), settings)
      if (decision.do === 'settled') return { kind: 'settled' }
      return withLock(pass.lock, key, signal, (held) => applyRoutes(decision.plan, withTurn(pass, held)))
    },
  }
}
