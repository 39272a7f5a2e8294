import { compareRoutes } from '../../domain/routing/compare-routes.ts'
import type { PlannedRoute } from '../../domain/routing/route-plan.ts'
import type { Digest } from '../../ports/digest.ts'
import { matchedLength } from './matched-length.ts'
import type { RenderedMap } from './rendered-configuration.ts'
import type { ServedIngress } from './served-record.ts'
import type { SharedAddress } from './shared-address.ts'
import { upstreamName } from './upstream-name.ts'

/** In the place of a host, for rules of any host; no host has such a name. */
export const ANY_HOST = '_any'

/** The key of what no path takes; paths begin with a slash, so it is none. */
export const DEFAULT_KEY = 'default'

/** In the place of a backend, and of what a rewrite takes away. */
export const NONE = 'none'

/**
 * Three maps an address. Values name what a request gets:
 *
 * | map | key | value |
 * |---|---|---|
 * | hosts | every host and wildcard that has a route: `shop.example.com`, `*.example.com` | itself |
 * | exact | host and path: `shop.example.com/cart`; `default` | `redirect:matched:backend` |
 * | prefix | host and path and a slash: `shop.example.com/cart/`, `_any/` | the same |
 *
 * `redirect` is the status for plain HTTP, or 0; `matched` is how much of the path a rewrite takes away, or `none`; so is the backend of
 * a route that leads nowhere.
 * A prefix of a path that ends in a slash, as both do, is one by elements, and HAProxy finds the longest.
 */
export function renderRouteMaps({ records, maps }: SharedAddress, digest: Digest): RenderedMap[] {
  const hosts = new Map<string, string>()
  const exact = new Map<string, string>()
  const prefix = new Map<string, string>()
  // The first that wants a key has it.
  const put = (map: Map<string, string>, key: string, value: string) => map.has(key) || map.set(key, value)
  for (const record of records) {
    for (const route of record.plan.routes.toSorted(compareRoutes)) {
      const host = route.host === '' ? ANY_HOST : route.host
      if (route.host !== '') put(hosts, host, host)
      const value = routeValue(record, route, digest)
      if (route.match === 'Exact') put(exact, `${host}${route.path}`, value)
      else put(prefix, `${host}${route.path === '/' ? '' : route.path}/`, value)
    }
    const { defaultUpstream } = record.plan
    if (defaultUpstream !== undefined)
      put(exact, DEFAULT_KEY, `0:${NONE}:${upstreamName(record, defaultUpstream, digest)}`)
  }
  return [
    { path: maps.hosts, entries: [...hosts] },
    { path: maps.exact, entries: [...exact] },
    { path: maps.prefix, entries: [...prefix] },
  ]
}

function routeValue(record: ServedIngress, { upstream, tls, path, match }: PlannedRoute, digest: Digest): string {
  const { tlsRedirect, rewriteTarget } = record.plan.options
  const redirect = tls ? tlsRedirect : 0
  const matched = rewriteTarget === undefined ? NONE : matchedLength(match, path)
  return `${redirect}:${matched}:${upstream === undefined ? NONE : upstreamName(record, upstream, digest)}`
}
