import { quoteArgument } from './quote-argument.ts'
import { renderBind } from './render-listeners.ts'
import { ANY_HOST, DEFAULT_KEY, NONE } from './render-route-maps.ts'
import type { RenderedFrontend } from './rendered-configuration.ts'
import type { SharedAddress } from './shared-address.ts'

/**
 * Plain HTTP, and HTTPS where an object claims its port. `defaultCertificate` is shown to clients that ask for a name
 * that no certificate is for, or for none; without it they are refused.
 */
export function renderHttpFrontends(shared: SharedAddress, defaultCertificate: string | undefined): RenderedFrontend[] {
  const { address, records, name, certificateList } = shared
  const secure = records.some(({ addresses, certificates }) => certificates.length > 0 && claims(addresses.claims, 443))
  const list = [
    'ssl',
    ...(defaultCertificate === undefined ? ['strict-sni'] : [`crt ${quoteArgument(defaultCertificate)}`]),
    `crt-list ${quoteArgument(certificateList)}`,
    'alpn h2,http/1.1',
    'ssl-min-ver TLSv1.2',
  ]
  return [
    {
      header: `frontend wcp_http_${name} from wcp-http`,
      lines: [renderBind(address, 80, []), ...commonLines(shared, 'http'), ...redirectLines, ...leaveLines],
    },
    ...(secure
      ? [
          {
            header: `frontend wcp_https_${name} from wcp-http`,
            lines: [renderBind(address, 443, list), ...commonLines(shared, 'https'), ...leaveLines],
          },
        ]
      : []),
  ]
}

function claims(all: SharedAddress['records'][number]['addresses']['claims'], port: number): boolean {
  return all.some((claim) => claim.port === port)
}

/**
 * The most specific host that has a route decides: itself, then its wildcard, then any host. Of its routes the exact one,
 * else the longest prefix, else the default.
 */
function commonLines({ records, maps }: SharedAddress, scheme: 'http' | 'https'): string[] {
  const [hosts, exact, prefix] = [maps.hosts, maps.exact, maps.prefix]
  // Silence that any object on this address allows is allowed here; behind it each has its own.
  const idle = Math.max(...records.map(({ plan }) => plan.options.idleTimeoutSeconds))
  return [
    `timeout client ${idle}s`,
    `timeout http-keep-alive ${idle}s`,
    'http-request set-var(txn.host) req.fhdr(host),host_only,rtrim(.),lower',
    'http-request set-var(txn.path) path',
    `http-request set-var(txn.site) var(txn.host),map_str(${hosts})`,
    `http-request set-var(txn.site) var(txn.host),regsub('^[^.]*','*'),map_str(${hosts},${ANY_HOST}) ${unlessFound('site')}`,
    // A request without host.
    `http-request set-var(txn.site) str(${ANY_HOST}) ${unlessFound('site')}`,
    `http-request set-var(txn.route) var(txn.site),concat(,txn.path),map_str(${exact})`,
    `http-request set-var(txn.route) var(txn.site),concat(,txn.path,/),map_beg(${prefix}) ${unlessFound('route')}`,
    `http-request set-var(txn.route) str(${DEFAULT_KEY}),map_str(${exact}) ${unlessFound('route')}`,
    `http-request return status 404 content-type text/plain string 'no route for this host and path' ${unlessFound('route')}`,
    'http-request set-var(txn.backend) var(txn.route),field(3,:)',
    'http-request set-var(txn.matched) var(txn.route),field(2,:)',
    // What a client says of itself. A pod may take an underscore for a hyphen.
    'http-request del-header ^(forwarded|x[-_]real[-_]ip|x[-_]forwarded[-_].*)$ -m reg',
    'http-request set-header X-Forwarded-For %[src]',
    `http-request set-header X-Forwarded-Proto ${scheme}`,
    'http-request set-header X-Forwarded-Host %[req.fhdr(host)]',
    // A pod that agreed would take further requests past all of this.
    'http-request del-header Upgrade if { req.fhdr(upgrade) -i -m sub h2c }',
  ]
}

function unlessFound(variable: string): string {
  return `if !{ var(txn.${variable}) -m found }`
}

const redirectLines = [301, 302, 307, 308].map(
  (status) =>
    `http-request redirect location https://%[var(txn.host)]%[pathq] code ${status} if { var(txn.route),field(1,:) -m str ${status} }`,
)

const leaveLines = [
  `http-request return status 503 content-type text/plain string 'no backend for this route' if { var(txn.backend) -m str ${NONE} }`,
  'use_backend %[var(txn.backend)]',
]
