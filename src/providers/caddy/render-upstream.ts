import { sameJson } from '../../domain/canonical-json.ts'
import { parseIpAddress } from '../../domain/ip-address.ts'
import type { PlannedServer, PlannedUpstream, RouteOptions } from '../../domain/routing/route-plan.ts'
import { Terminal } from '../../provider/errors.ts'
import { type CaddyHandler, type CaddyRoute, UPSTREAM_VARIABLE } from './caddy-configuration.ts'
import { literal } from './literal.ts'
import { repeatServers } from './repeat-servers.ts'

/**
 * Servers that are tried for one request, where some are gone and not yet known to be: with weights they are chosen by
 * chance, and half of them may be gone.
 */
const RETRIES = 25
const RETRY_INTERVAL = '10ms'

/**
 * The routes of a balancer that send to one Service port. One reverse proxy a port, so that health checks are made once
 * a server, not once a path.
 *
 * `served` are the routes of the balancer that Caddy has: while a pool is held and its servers are not known, theirs stay.
 */
export function renderUpstream(
  upstream: PlannedUpstream,
  options: RouteOptions,
  cookieName: string,
  served: readonly (CaddyRoute | null)[],
): CaddyRoute[] {
  const vars = { [UPSTREAM_VARIABLE]: [upstream.key] }
  const dials = dialsOf(upstream, served)
  if (dials.length === 0) return [{ match: [{ vars }], handle: [{ handler: 'static_response', status_code: 503 }] }]
  if (options.healthCheck?.protocol === 'https' && upstream.protocol !== 'https') {
    const remedy = 'set backend-protocol to https, or health-check-protocol to http'
    throw new Terminal(
      `${upstream.key}: Caddy asks pods by the protocol that they serve, ${upstream.protocol}: ${remedy}`,
    )
  }
  const handle = [...bodyLimit(options), reverseProxy(upstream, dials, options, cookieName)]
  return [...tooLarge(options, vars), { match: [{ vars }], handle }]
}

/** `10.0.0.1:8080`, as often as its weight asks for. */
function dialsOf({ key, state, servers }: PlannedUpstream, served: readonly (CaddyRoute | null)[]): string[] {
  const taking = servers.filter(({ weight }) => weight > 0)
  if (taking.length === 0) return state === 'held' ? servedDials(key, served) : []
  return repeatServers(taking.map((server) => ({ dial: dialOf(key, server), weight: server.weight })))
}

function dialOf(key: string, { address, port }: PlannedServer): string {
  const parsed = parseIpAddress(address)
  // Caddy takes anything for a dial address, a placeholder too, and fails only when it is used.
  if (parsed === undefined || !Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new Error(`${key}: an endpoint has the address ${JSON.stringify(`${address}:${port}`)}, which is none`)
  }
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}

function servedDials(key: string, served: readonly (CaddyRoute | null)[]): string[] {
  const match = [{ vars: { [UPSTREAM_VARIABLE]: [key] } }]
  const route = served.find((each) => sameJson(each?.match, match))
  const proxy = route?.handle?.find(({ handler }) => handler === 'reverse_proxy')
  const upstreams = Array.isArray(proxy?.['upstreams']) ? proxy['upstreams'] : []
  return upstreams.flatMap((each: { dial?: unknown } | null) => (typeof each?.dial === 'string' ? [each.dial] : []))
}

/** What says that it is too large is refused before a pod is asked. */
function tooLarge({ requestBodyLimit }: RouteOptions, vars: object): CaddyRoute[] {
  if (requestBodyLimit === 0) return []
  const header_regexp = { 'Content-Length': { pattern: numberAbove(requestBodyLimit) } }
  return [{ match: [{ vars, header_regexp }], handle: [{ handler: 'static_response', status_code: 413 }] }]
}

/** What does not say it is cut off; Caddy answers 502 then. */
function bodyLimit({ requestBodyLimit }: RouteOptions): CaddyHandler[] {
  return requestBodyLimit === 0 ? [] : [{ handler: 'request_body', max_size: requestBodyLimit }]
}

/** An expression for decimal numbers that are greater: of more digits, or with a greater one at the first that differs. */
function numberAbove(limit: number): string {
  const digits = [...String(limit)]
  const greater = digits.flatMap((digit, index) => {
    if (digit === '9') return []
    const rest = digits.length - index - 1
    return [`${digits.slice(0, index).join('')}[${Number(digit) + 1}-9]${rest === 0 ? '' : `[0-9]{${rest}}`}`]
  })
  return `^0*(${[`[1-9][0-9]{${digits.length},}`, ...greater].join('|')})$`
}

function reverseProxy(
  { protocol }: PlannedUpstream,
  dials: readonly string[],
  options: RouteOptions,
  cookieName: string,
): CaddyHandler {
  const headers = {
    ...headerOperations('request', options.requestHeaders),
    ...headerOperations('response', options.responseHeaders),
  }
  const health = healthChecks(options)
  return {
    handler: 'reverse_proxy',
    upstreams: dials.map((dial) => ({ dial })),
    transport: transport(protocol, options),
    load_balancing: {
      selection_policy: selectionPolicy(dials, options, cookieName),
      ...(new Set(dials).size > 1 ? retries(options) : {}),
    },
    ...(Object.keys(health).length === 0 ? {} : { health_checks: health }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
  }
}

/** Once more, and no oftener, after a server that took all its time: what is slow must not be asked many times over. */
function retries({ connectTimeoutSeconds, responseTimeoutSeconds }: RouteOptions): object {
  const longest = responseTimeoutSeconds + 2 * connectTimeoutSeconds
  return { retries: RETRIES, try_duration: `${longest}s`, try_interval: RETRY_INTERVAL }
}

function transport(
  protocol: PlannedUpstream['protocol'],
  { connectTimeoutSeconds, responseTimeoutSeconds, idleTimeoutSeconds }: RouteOptions,
): object {
  // A connection is silent, too, until the answer begins.
  const silence = `${Math.max(idleTimeoutSeconds, responseTimeoutSeconds)}s`
  return {
    protocol: 'http',
    dial_timeout: `${connectTimeoutSeconds}s`,
    response_header_timeout: `${responseTimeoutSeconds}s`,
    read_timeout: silence,
    write_timeout: silence,
    ...(protocol === 'https' ? { tls: { insecure_skip_verify: true } } : {}),
    ...(protocol === 'h2c' ? { versions: ['h2c', '2'] } : {}),
  }
}

/** In turn where all servers are alike; by chance where one is repeated, or its neighbour would get what it cannot take. */
function selectionPolicy(dials: readonly string[], { affinity }: RouteOptions, cookieName: string): object {
  if (affinity === 'source-ip') return { policy: 'ip_hash' }
  if (affinity === 'cookie') return { policy: 'cookie', name: cookieName }
  return { policy: new Set(dials).size === dials.length ? 'round_robin' : 'random' }
}

function healthChecks({ healthCheck, passiveFailures, passiveSeconds }: RouteOptions): Record<string, object> {
  return {
    ...(healthCheck === undefined || healthCheck.protocol === 'tcp'
      ? {}
      : {
          active: {
            uri: healthCheck.path,
            ...(healthCheck.port === undefined ? {} : { port: healthCheck.port }),
            interval: `${healthCheck.intervalSeconds}s`,
            timeout: `${healthCheck.timeoutSeconds}s`,
          },
        }),
    ...(passiveFailures === 0 ? {} : { passive: { max_fails: passiveFailures, fail_duration: `${passiveSeconds}s` } }),
  }
}

function headerOperations(direction: 'request' | 'response', headers: Readonly<Record<string, string>>): object {
  const entries = Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1))
  const removed = entries.filter(([, value]) => value === '').map(([name]) => literal(name))
  const set = entries.filter(([, value]) => value !== '').map(([name, value]) => [literal(name), [literal(value)]])
  if (entries.length === 0) return {}
  return {
    [direction]: {
      ...(set.length === 0 ? {} : { set: Object.fromEntries(set) }),
      ...(removed.length === 0 ? {} : { delete: removed }),
    },
  }
}
