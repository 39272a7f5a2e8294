import { isCatalogueError, type Retry } from '../../domain/catalogue-error.ts'
import type { JsonValue } from '../../domain/kubernetes-object.ts'
import type { Node } from '../../domain/node.ts'
import { isNetworkConditionSaid, type RoutesState, withNetworkCondition } from '../../domain/nodes/network-condition.ts'
import { isThere, type MissingRoute, type RoutePlan } from '../../domain/nodes/plan-routes.ts'
import type { Route } from '../../domain/nodes/route.ts'
import { keyOf } from '../../domain/object-key.ts'
import type { Outcome } from '../../domain/outcome.ts'
import { askCloud } from '../ask-cloud.ts'
import { plainMessage } from '../service/tell-service.ts'
import { untold } from './decide-routes.ts'
import { listRoutes } from './gather-routes.ts'
import type { RoutePass } from './route-pass.ts'

interface Failure {
  missing: MissingRoute
  error: unknown
}

/**
 * delete → create → conditions; the lock is held. Every step is taken for every node, whatever became of another, and the
 * most hopeful error is thrown at the end: the key comes back by it.
 */
export async function applyRoutes(plan: RoutePlan, pass: RoutePass): Promise<Outcome> {
  const errors: unknown[] = []
  await forEach(plan.surplus, pass, (route) => deleteRoute(route, pass).catch((error) => void errors.push(error)))
  const failures = await createRoutes(plan.missing, pass)
  errors.push(...failures.map(({ error }) => error))
  const toTell = untold(
    plan,
    failures.map(({ missing }) => missing),
  )
  await forEach(toTell, pass, ({ node, state }) => tell(node, state, pass).catch((error) => void errors.push(error)))
  if (errors.length > 0) throw mostHopeful(errors)
  return { kind: 'settled' }
}

/** Handed over as it was listed: a blackhole is deleted by its next hop (C-117). */
async function deleteRoute(route: Route, pass: RoutePass): Promise<void> {
  const { routes, settings, logger } = pass
  try {
    await askCloud(pass, (context) => routes.deleteRoute(settings.clusterName, route, context))
  } catch (error) {
    logger.warn({ destination: route.destinationCIDR, error: String(error) }, 'route not deleted')
    throw error
  }
}

/** A create that failed and whose route exists all the same did not fail (C-121). */
async function createRoutes(missing: readonly MissingRoute[], pass: RoutePass): Promise<Failure[]> {
  const failures: Failure[] = []
  await forEach(missing, pass, async (route) => {
    await createRoute(route, pass).catch((error: unknown) => void failures.push({ missing: route, error }))
  })
  if (failures.length === 0) return []
  const routes = await listRoutes(pass).catch(() => [])
  const real = failures.filter((failure) => !isThere(failure.missing, routes))
  for (const failure of real) await tellFailure(failure, pass)
  return real
}

async function createRoute({ node, cidr }: MissingRoute, pass: RoutePass): Promise<void> {
  const { routes, settings } = pass
  const route = {
    targetNode: node.metadata.name,
    targetNodeAddresses: node.status?.addresses ?? [],
    destinationCIDR: cidr,
  }
  await askCloud(pass, (context) => routes.createRoute(settings.clusterName, hintOf(node), route, context))
}

/** Work in progress is no failure; anything else the node's owner is told, without a clock in it. */
async function tellFailure({ missing: { node, cidr }, error }: Failure, pass: RoutePass): Promise<void> {
  if (isCatalogueError(error, 'ProviderRetryAfter')) return
  const message = `Could not create route ${hintOf(node)} ${cidr} for node ${node.metadata.name}: ${plainMessage(error)}`
  await pass.recorder.record(node, { type: 'Warning', reason: 'FailedToCreateRoute', message }, pass.signal)
}

async function tell(node: Node, state: RoutesState, pass: RoutePass): Promise<void> {
  try {
    await writeCondition(node, state, pass)
  } catch (error) {
    // It went; its routes go with the next pass.
    if (isCatalogueError(error, 'NotFound')) return
    if (!isCatalogueError(error, 'Conflict')) throw error
    await tellAgain(node, state, pass)
  }
}

/** Kubelets write to the same status: once more from a fresh read, before all routes are looked at again. */
async function tellAgain(node: Node, state: RoutesState, pass: RoutePass): Promise<void> {
  const current = await pass.store.get(nodeKey(node), { signal: pass.signal })
  if (current === undefined || current.metadata.uid !== node.metadata.uid) return
  if (!isNetworkConditionSaid(current, state)) await writeCondition(current, state, pass)
}

/** A merge patch of exactly this version; conditions of others stay as they were read. */
async function writeCondition(node: Node, state: RoutesState, { store, signal, clock }: RoutePass): Promise<void> {
  const { uid = '', resourceVersion = '' } = node.metadata
  const conditions = withNetworkCondition(node, state, clock.now()) as unknown as JsonValue
  const body = { metadata: { uid, resourceVersion }, status: { conditions } }
  await store.patch(nodeKey(node), { type: 'merge', body }, { signal, subresource: 'status' })
}

function nodeKey(node: Node) {
  return { ...keyOf('Node', node), kind: 'Node' as const }
}

function hintOf({ metadata }: Node): string {
  return metadata.uid ?? ''
}

/** What says when to come back, before what may be tried again at all, before what may not. */
function mostHopeful(errors: readonly unknown[]): unknown {
  const by = (retry: Retry) => errors.find((error) => isCatalogueError(error) && error.retry === retry)
  return by('after') ?? by('backoff') ?? errors[0]
}

/** Each item once, a few at a time; stops taking new ones when the signal aborts. */
async function forEach<T>(items: readonly T[], pass: RoutePass, action: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values()
  const worker = async () => {
    for (const item of rest) {
      pass.signal.throwIfAborted()
      await action(item)
    }
  }
  await Promise.all(Array.from({ length: pass.settings.concurrency }, worker))
}
