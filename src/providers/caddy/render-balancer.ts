import { createHash } from 'node:crypto'
import { canonicalJson } from '../../domain/canonical-json.ts'
import type { PlannedRoute, RoutePlan } from '../../domain/routing/route-plan.ts'
import { balancerId } from './balancer-id.ts'
import { BALANCER_VARIABLE, type CaddyHandler, type CaddyRoute, ROUTE_VARIABLE } from './caddy-configuration.ts'
import { type CaddyRecord, recordHandler, recordOf, subroutes } from './caddy-record.ts'
import { decodedPath } from './decoded-path.ts'
import { escapeExpression } from './escape-expression.ts'
import { hostSpellings } from './host-spellings.ts'
import { literal } from './literal.ts'
import { renderUpstream } from './render-upstream.ts'

/** What a balancer is rendered from, beside its plan. */
export interface BalancerSettings {
  httpsPort: number
  /** Stands for all settings of the provider; another one makes every record outdated. */
  revision: string
}

/**
 * The one route of a balancer: what is sent where, and its record. Which requests come here is said by the dispatching
 * route of the address (`render-server.ts`), by setting variables: hosts can belong to several balancers.
 *
 * `served` is the route that Caddy has.
 */
export function renderBalancer(
  record: Omit<CaddyRecord, 'digest'>,
  { upstreams, options }: Pick<RoutePlan, 'upstreams' | 'options'>,
  settings: BalancerSettings,
  served: CaddyRoute | undefined,
): CaddyRoute {
  const id = balancerId(record.identity)
  const cookieName = `lb-${digestOf(id).slice(0, 8)}`
  const route = (digest: string): CaddyRoute => ({
    '@id': id,
    match: [{ vars: { [BALANCER_VARIABLE]: [id] } }],
    handle: [
      recordHandler({ ...record, digest }),
      {
        handler: 'subroute',
        routes: [
          ...tlsRedirect(options.tlsRedirect, record.certificates, settings.httpsPort),
          ...rewriteRoutes(record),
          ...upstreams.flatMap((each) => renderUpstream(each, options, cookieName, subroutes(served))),
        ],
      },
    ],
  })
  return route(digestOfRoute(route(''), settings.revision))
}

/** Whether a balancer's route is as it was rendered, by the settings that hold now: nobody edited it by hand. */
export function isAsRendered(route: CaddyRoute, { revision }: Pick<BalancerSettings, 'revision'>): boolean {
  const record = recordOf(route)
  if (record === undefined) return false
  const handle = route.handle?.map((each) =>
    recordOf({ handle: [each] }) === record ? recordHandler({ ...record, digest: '' }) : each,
  )
  return record.digest === digestOfRoute({ ...route, ...(handle && { handle }) }, revision)
}

function digestOfRoute(route: CaddyRoute, revision: string): string {
  return digestOf(`${revision}\n${canonicalJson(route)}`)
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/**
 * On the port for plain HTTP alone, for hosts with a certificate, by whatever rule or default backend they are served; the
 * path is the one that was asked for, whatever it is rewritten to.
 */
function tlsRedirect(status: number, certificates: CaddyRecord['certificates'], httpsPort: number): CaddyRoute[] {
  if (status === 0 || certificates.length === 0) return []
  const port = httpsPort === 443 ? '' : `:${httpsPort}`
  const location = `https://{http.request.host}${port}{http.request.orig_uri}`
  const isForAll = certificates.some(({ hosts }) => hosts.length === 0)
  const hosts = [...new Set(certificates.flatMap((each) => each.hosts))].sort()
  return [
    {
      match: [{ protocol: 'http', ...(isForAll ? {} : { host: hosts.flatMap(hostSpellings) }) }],
      handle: [{ handler: 'static_response', status_code: status, headers: { Location: [location] } }],
    },
  ]
}

/** Each path has one of its own: what is replaced is what the path matched. */
function rewriteRoutes({ routes, rewriteTarget }: Pick<CaddyRecord, 'routes' | 'rewriteTarget'>): CaddyRoute[] {
  if (rewriteTarget === undefined) return []
  return [
    refuseDotSegments(),
    ...routes.map((route, index) => ({
      match: [{ vars: { [ROUTE_VARIABLE]: [String(index)] } }],
      handle: [rewriteHandler(route, rewriteTarget)],
    })),
  ]
}

/** `/../` behind the target would lead out of it, as the pod understands the path. No client means it: they resolve it. */
function refuseDotSegments(): CaddyRoute {
  const vars_regexp = { '{http.request.uri.path}': { pattern: '(^|/)[.]{1,2}(/|$)' } }
  const isNotRewritten = { vars: { [ROUTE_VARIABLE]: [''] } }
  return {
    match: [{ vars_regexp, not: [isNotRewritten] }],
    handle: [{ handler: 'static_response', status_code: 400 }],
  }
}

/** Of the path as it came in the request: slashes may be doubled there, and anything may be written as `%XX`. */
function rewriteHandler({ match, path }: PlannedRoute, target: string): CaddyHandler {
  const text = [...Buffer.from(decodedPath(path))].map(writtenAnyway).join('')
  const base = literal(target).replaceAll('$', '$$$$')
  const below = base.replace(/\/$/, '')
  const replacement =
    match === 'Exact'
      ? { find: `^${text}$`, replace: base }
      : path === '/'
        ? { find: `^${text}`, replace: `${below}/` }
        : { find: `^${text}(${SLASH}|$)`, replace: `${below}$1` }
  return { handler: 'rewrite', path_regexp: [replacement] }
}

const SLASH = '(?:/|%2[Ff])'

function writtenAnyway(byte: number): string {
  const text = String.fromCharCode(byte)
  if (text === '/') return `${SLASH}+`
  const encoded = `%(?i:${byte.toString(16).padStart(2, '0')})`
  return byte < 0x80 && text !== '%' ? `(?:${escapeExpression(text)}|${encoded})` : encoded
}
