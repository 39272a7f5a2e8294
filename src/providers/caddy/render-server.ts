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
  ROUTE_VARIABLE,
  UPSTREAM_VARIABLE,
} from './caddy-configuration.ts'
import type { CaddyRecord } from './caddy-record.ts'
import { decodedPath } from './decoded-path.ts'
import { escapeExpression } from './escape-expression.ts'
import { hostSpellings } from './host-spellings.ts'

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
 * One server for the two ports of an address: routes that tell by host and path whose a request is, one route for each
 * balancer, and answers for what nobody wants (404), or wants and has nothing to send to (503).
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
      ...dispatch(balancers),
      ...balancers.map(({ route }) => route),
      { match: [NOBODY], handle: [{ handler: 'static_response', status_code: 404 }] },
      { handle: [{ handler: 'static_response', status_code: 503 }] },
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
  /** Among the routes of its owner. */
  index: number
}

/** With its path as it is compared, which says also which of two is the longer. */
function ownedRoute(owner: CaddyRecord, route: PlannedRoute, index: number): OwnedRoute {
  return { ...route, path: decodedPath(route.path), owner, index }
}

const VARIABLES = [BALANCER_VARIABLE, UPSTREAM_VARIABLE, ROUTE_VARIABLE] as const
/** What a table of paths says of a request, until it is put into variables. */
const placeholder = (variable: string) => `{${variable}}`
const NOBODY = { vars: { [BALANCER_VARIABLE]: [''] } }
/** The name of the expression that takes in the path. */
const PATH = 'path'

/**
 * The most specific host decides, then the path, over all balancers; what no path of that host takes goes to the default
 * of the first balancer that has one. As `matchRoute` of the domain says it.
 *
 * A host is one route with a table of its paths, not a route for each path: Caddy takes several times as long to load
 * those.
 */
function dispatch(balancers: readonly ServedBalancer[]): CaddyRoute[] {
  const routes = balancers
    .flatMap(({ record }) => record.routes.map((route, index) => ownedRoute(record, route, index)))
    .sort(compareRoutes)
  const hosts = [...Map.groupBy(routes, ({ host }) => host)].map(
    ([host, ofHost]): CaddyRoute => ({
      group: `${OURS}.host`,
      ...(host === '' ? {} : { match: [{ host: hostSpellings(host) }] }),
      handle: [pathTable(ofHost)],
    }),
  )
  const taken: CaddyRoute = {
    handle: [
      { handler: 'vars', ...Object.fromEntries(VARIABLES.map((variable) => [variable, placeholder(variable)])) },
    ],
  }
  const fallback = balancers.find(({ record }) => record.defaultUpstream !== undefined)?.record
  return [
    takePath(),
    { handle: [{ handler: 'subroute', routes: hosts }] },
    taken,
    ...(fallback === undefined ? [] : [defaultRoute(fallback)]),
  ]
}

/**
 * Paths are held against the path of the request as Caddy cleans it for an expression: decoded, without `//`, `/./` and
 * `/../`, so that nobody gets past a path by writing it in another way. Caddy's path matcher would ignore case.
 */
function takePath(): CaddyRoute {
  return { match: [{ path_regexp: { name: PATH, pattern: '(?s)^.*$' } }] }
}

function pathTable(routes: readonly OwnedRoute[]): CaddyHandler {
  // Of equal paths the first has it; Caddy refuses a table with both.
  const byPattern = new Map(routes.toReversed().map((route) => [patternOf(route), route]))
  const inOrder = routes.filter((route) => byPattern.get(patternOf(route)) === route)
  return {
    handler: 'map',
    source: `{http.regexp.${PATH}.0}`,
    destinations: VARIABLES.map(placeholder),
    defaults: VARIABLES.map(() => ''),
    mappings: inOrder.map((route) => ({
      input_regexp: patternOf(route),
      outputs: [
        balancerId(route.owner.identity),
        route.upstream ?? '',
        route.owner.rewriteTarget === undefined ? '' : String(route.index),
      ],
    })),
  }
}

function defaultRoute({ identity, defaultUpstream = '' }: CaddyRecord): CaddyRoute {
  const variables = { [BALANCER_VARIABLE]: balancerId(identity), [UPSTREAM_VARIABLE]: defaultUpstream }
  return { match: [NOBODY], handle: [{ handler: 'vars', ...variables }] }
}

function patternOf({ match, path }: PlannedRoute): string {
  const text = escapeExpression(path)
  if (match === 'Exact') return `^${text}$`
  return path === '/' ? '^/' : `^${text}(/|$)`
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
