import { compareRoutes } from '../../domain/routing/compare-routes.ts'
import type { PlannedRoute } from '../../domain/routing/route-plan.ts'
import { balancerId } from './balancer-id.ts'
import {
  BALANCER_VARIABLE,
  type CaddyConnectionPolicy,
  type CaddyHandler,
  type CaddyRoute,
  type CaddyServer,
  OURS,
  TLS_VARIABLE,
  UPSTREAM_VARIABLE,
} from './caddy-configuration.ts'
import type { CaddyRecord } from './caddy-record.ts'
import { literal } from './literal.ts'

/** What listens on addresses that the same balancers share. */
export interface SharedAddresses {
  /** What to bind: `192.0.2.1`, `2001:db8::1`, `*`, `::`. */
  listen: readonly string[]
  balancers: readonly ServedBalancer[]
}

/** In the order in which they come first where two want the same. */
export interface ServedBalancer {
  record: CaddyRecord
  route: CaddyRoute
}

export interface ServerSettings {
  httpPort: number
  httpsPort: number
  /** Of the certificate for hosts that have none. */
  defaultCertificateTag?: string
}

/**
 * One server for the two ports of an address: a route that tells by host and path whose a request is, one route for each
 * balancer, and an answer for what nobody wants.
 *
 * The port for HTTPS is opened only where there is a certificate: Caddy would speak plain HTTP on it.
 */
export function renderServer({ listen, balancers }: SharedAddresses, settings: ServerSettings): CaddyServer {
  const policies = connectionPolicies(balancers, settings.defaultCertificateTag)
  const ports = policies.length === 0 ? [settings.httpPort] : [settings.httpPort, settings.httpsPort]
  return {
    listen: listen.flatMap((address) => ports.map((port) => listenAddress(address, port))),
    automatic_https: { disable: true },
    // Without HTTP/3: its port would be one more that can be taken, and one more to open.
    protocols: ['h1', 'h2'],
    routes: [
      { handle: [{ handler: 'subroute', routes: dispatch(balancers) }] },
      ...balancers.map(({ route }) => route),
      { handle: [{ handler: 'static_response', status_code: 404 }] },
    ],
    ...(policies.length === 0 ? {} : { tls_connection_policies: policies }),
  }
}

/** Go's `tcp` takes both families with either of the two that bind everything. */
function listenAddress(listen: string, port: number): string {
  if (listen === '*') return `tcp4/0.0.0.0:${port}`
  if (listen === '::') return `tcp6/[::]:${port}`
  return listen.includes(':') ? `[${listen}]:${port}` : `${listen}:${port}`
}

interface OwnedRoute extends PlannedRoute {
  owner: CaddyRecord
}

/**
 * The most specific host decides, then the path, over all balancers; what no path of that host takes goes to the default
 * of the first balancer that has one. As `matchRoute` of the domain says it.
 */
function dispatch(balancers: readonly ServedBalancer[]): CaddyRoute[] {
  const routes = balancers
    .flatMap(({ record }) => record.routes.map((route): OwnedRoute => ({ ...route, owner: record })))
    .sort(compareRoutes)
  const byHost = Map.groupBy(routes, ({ host }) => host)
  const hosts = [...byHost].map(
    ([host, ofHost]): CaddyRoute => ({
      group: `${OURS}.host`,
      ...(host === '' ? {} : { match: [{ host: [host] }] }),
      handle: [{ handler: 'subroute', routes: ofHost.map(pathRoute) }],
    }),
  )
  const fallback = balancers.find(({ record }) => record.defaultUpstream !== undefined)?.record
  return fallback === undefined ? hosts : [...hosts, defaultRoute(fallback)]
}

const TAKEN = `${OURS}.route`

function pathRoute({ owner, match, path, upstream, tls }: OwnedRoute): CaddyRoute {
  const rewrite = owner.rewriteTarget === undefined ? [] : [rewriteHandler(match, path, owner.rewriteTarget)]
  return {
    group: TAKEN,
    match: [{ path_regexp: { pattern: pathPattern(match, path) } }],
    handle: [variables(owner, upstream, tls), ...rewrite],
  }
}

function defaultRoute(owner: CaddyRecord): CaddyRoute {
  return { group: TAKEN, handle: [variables(owner, owner.defaultUpstream, false)] }
}

/** What a balancer's route is found by. Without upstream it answers 503. */
function variables(owner: CaddyRecord, upstream: string | undefined, tls: boolean): CaddyHandler {
  return {
    handler: 'vars',
    [BALANCER_VARIABLE]: balancerId(owner.identity),
    ...(upstream === undefined ? {} : { [UPSTREAM_VARIABLE]: upstream }),
    ...(tls ? { [TLS_VARIABLE]: 'yes' } : {}),
  }
}

/**
 * Caddy's own path matcher ignores case, so an expression it is. It is held against the path of the request as Caddy
 * cleans it: decoded, without `//`, `/./` and `/../`, so that nobody gets past a path by writing it in another way.
 */
function pathPattern(match: PlannedRoute['match'], path: string): string {
  const text = escapeExpression(decodedPath(path))
  if (match === 'Exact') return `^${text}$`
  return path === '/' ? '^/' : `^${text}(/|$)`
}

/** The path as it came in the request, in which a slash may be doubled. */
function rewriteHandler(match: PlannedRoute['match'], path: string, target: string): CaddyHandler {
  const text = escapeExpression(path).replaceAll('/', '/+')
  const [find, end] = match === 'Exact' ? [`^${text}$`, ''] : path === '/' ? ['^/+', '/'] : [`^${text}(/|$)`, '$1']
  const base = literal(target).replaceAll('$', '$$$$')
  const replace = end === '' ? base : `${base.replace(/\/$/, '')}${end}`
  return { handler: 'rewrite', path_regexp: [{ find, replace }] }
}

function decodedPath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

function escapeExpression(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

/** By name: hosts, then wildcard hosts, then any; a name is served with the certificate of the first balancer that has one. */
function connectionPolicies(
  balancers: readonly ServedBalancer[],
  defaultTag: string | undefined,
): CaddyConnectionPolicy[] {
  const tagOf = new Map<string, string>()
  for (const { record } of balancers) {
    for (const { hosts, tag } of record.certificates) {
      for (const host of hosts.length === 0 ? [''] : hosts) if (!tagOf.has(host)) tagOf.set(host, tag)
    }
  }
  if (defaultTag !== undefined && !tagOf.has('')) tagOf.set('', defaultTag)
  const byRank = [...tagOf].sort(([a], [b]) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1))
  return [...Map.groupBy(byRank, ([host, tag]) => `${rankOf(host)} ${tag}`).values()].map((group) => {
    const hosts = group.map(([host]) => host)
    const [[, tag] = ['', '']] = group
    return { ...(hosts[0] === '' ? {} : { match: { sni: hosts } }), certificate_selection: { any_tag: [tag] } }
  })
}

function rankOf(host: string): number {
  if (host === '') return 2
  return host.startsWith('*.') ? 1 : 0
}
