import { compareTexts } from '../../domain/compare-texts.ts'
import type { PlannedUpstream, RouteOptions } from '../../domain/routing/route-plan.ts'
import type { Digest } from '../../ports/digest.ts'
import { matchedLength } from './matched-length.ts'
import { quoteArgument } from './quote-argument.ts'
import { CLOSE_WHEN_DOWN, renderHealthCheck, renderServers } from './render-backend-servers.ts'
import { NONE } from './render-route-maps.ts'
import type { RenderedBackend } from './rendered-configuration.ts'
import type { ServedIngress } from './served-record.ts'
import { upstreamName } from './upstream-name.ts'

/** One for every Service port that an ingress sends to, with what its annotations say. */
export function renderHttpBackends(record: ServedIngress, digest: Digest): RenderedBackend[] {
  return record.plan.upstreams.map((upstream) => renderHttpBackend(record, upstream, digest))
}

function renderHttpBackend(record: ServedIngress, upstream: PlannedUpstream, digest: Digest): RenderedBackend {
  const { options } = record.plan
  const name = upstreamName(record, upstream.key, digest)
  const namesServersInCookie = options.affinity === 'cookie'
  const check = renderChecks(options)
  return {
    header: `backend ${name} from wcp-http`,
    name,
    lines: [
      ...(options.affinity === 'source-ip' ? ['balance source', 'hash-type consistent'] : ['balance roundrobin']),
      ...(namesServersInCookie ? cookieLines(digest(`cookie ${name}`)) : []),
      `timeout connect ${options.connectTimeoutSeconds}s`,
      `timeout server ${options.responseTimeoutSeconds}s`,
      `timeout tunnel ${options.idleTimeoutSeconds}s`,
      ...check.backend,
      // Before anything is sent: what a second attempt could do twice is not attempted again.
      'http-request disable-l7-retry unless { method GET HEAD OPTIONS }',
      ...bodyLimitLines(options.requestBodyLimit),
      ...rewriteLines(record),
      ...headerLines('http-request', options.requestHeaders),
      ...headerLines('http-response', options.responseHeaders),
    ],
    servers: renderServers(upstream.servers),
    serverArguments: [
      ...PROTOCOL[upstream.protocol],
      // Its servers leave by maintenance, which must not cut what they have.
      ...check.server.filter((each) => !namesServersInCookie || each !== CLOSE_WHEN_DOWN),
    ],
    remembersClients: false,
    namesServersInCookie,
  }
}

const PROTOCOL: Readonly<Record<PlannedUpstream['protocol'], string[]>> = {
  http: [],
  https: ['ssl', 'verify none'],
  h2c: ['proto h2'],
}

/** The value is made of the server's address and the key: nobody learns an address from it. */
function cookieLines(key: string): string[] {
  return [`dynamic-cookie-key ${key.slice(0, 32)}`, 'cookie wcp-server insert indirect nocache dynamic httponly']
}

/**
 * Real requests take a server out only together with a check, which brings it back: without one that is asked for it is
 * a connection every `passiveSeconds`.
 */
function renderChecks({ healthCheck, passiveFailures, passiveSeconds }: RouteOptions) {
  const asked = renderHealthCheck(healthCheck)
  if (passiveFailures === 0) return asked
  const observed = ['observe layer4', `error-limit ${passiveFailures}`, 'on-error mark-down']
  if (healthCheck !== undefined) return { ...asked, server: [...asked.server, ...observed] }
  return { backend: [], server: ['check', `inter ${passiveSeconds}s`, 'rise 1', 'fall 3', ...observed] }
}

/**
 * Of a body without a length nobody knows how long it will be, so the length is asked for. `body_size` is the announced
 * one; `hdr_val` counts in 32 bits. HTTP/2 needs no word for a body without a length: it is one as soon as a byte comes.
 */
function bodyLimitLines(limit: number): string[] {
  if (limit === 0) return []
  const lengthless = '{ req.ver 2.0 } !{ req.fhdr(content-length) -m found } !{ req.fhdr(upgrade) -m found }'
  const refused = "http-request return status 411 content-type text/plain string 'a length is required'"
  return [
    `http-request deny deny_status 413 if { req.body_size gt ${limit} }`,
    `${refused} if { req.fhdr(transfer-encoding) -m found }`,
    `http-request wait-for-body time 10s at-least 1 if ${lengthless}`,
    `${refused} if ${lengthless} { req.body_len gt 0 }`,
  ]
}

/** What the path of the rule matched gives way; how much that is comes with the route. */
function rewriteLines({ plan: { routes, options } }: ServedIngress): string[] {
  const { rewriteTarget } = options
  if (rewriteTarget === undefined) return []
  const lengths = [...new Set(routes.map(({ match, path }) => matchedLength(match, path)))].sort((a, b) => a - b)
  const target = literal(rewriteTarget)
  const base = literal(rewriteTarget.replace(/\/$/, ''))
  const rest = lengths.map(
    (length) => `http-request set-var(txn.rest) path,bytes(${length}) if { var(txn.matched) -m str ${length} }`,
  )
  return [
    ...rest,
    `http-request set-path ${base}%[var(txn.rest)] if { var(txn.rest) -m found } { var(txn.rest) -m len gt 0 }`,
    `http-request set-path ${target} if !{ var(txn.matched) -m str ${NONE} } !{ var(txn.rest) -m len gt 0 }`,
  ]
}

function headerLines(rule: 'http-request' | 'http-response', headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers)
    .sort(([a], [b]) => compareTexts(a, b))
    .map(([name, value]) =>
      value === '' ? `${rule} del-header ${name}` : `${rule} set-header ${name} ${quoteArgument(literal(value))}`,
    )
}

/** As it stands, where a `%` would begin an expression. */
function literal(text: string): string {
  return text.replaceAll('%', '%%')
}
