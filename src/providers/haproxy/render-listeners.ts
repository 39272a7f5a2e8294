import type { PoolAddress } from '../../domain/addresses/address-pool.ts'
import { parseCidr } from '../../domain/cidr.ts'
import type { ListenerOptions, PlannedListener } from '../../domain/listening/listener-plan.ts'
import type { Digest } from '../../ports/digest.ts'
import { proxyName } from './proxy-name.ts'
import { hostAndPort, renderHealthCheck, renderServers } from './render-backend-servers.ts'
import type { RenderedBackend, RenderedFrontend, RenderedPart } from './rendered-configuration.ts'
import type { ServedService } from './served-record.ts'

/** Layer 4: a frontend and a backend for every port of every service. */
export function renderListeners(records: readonly ServedService[], digest: Digest): RenderedPart {
  return {
    sections: records.flatMap(({ identity, addresses, plan }) =>
      plan.listeners.flatMap((listener) => {
        const name = `${proxyName(identity, digest)}_${listener.port}`
        return [
          renderFrontend(name, listener.port, addresses.addresses, plan.options),
          renderBackend(name, listener, plan.options),
        ]
      }),
    ),
  }
}

function renderFrontend(
  name: string,
  port: number,
  addresses: readonly PoolAddress[],
  { sourceRanges, acceptProxyProtocol, idleTimeoutSeconds }: ListenerOptions,
): RenderedFrontend {
  return {
    header: `frontend ${name} from wcp-tcp`,
    lines: [
      ...addresses.map((address) => renderBind(address, port, acceptProxyProtocol ? ['accept-proxy'] : [])),
      `timeout client ${idleTimeoutSeconds}s`,
      ...renderSourceRanges(sourceRanges, acceptProxyProtocol),
      `default_backend ${name}`,
    ],
  }
}

/** `v6only`: an address of one family must not take the port of the other. */
export function renderBind({ listen, family }: PoolAddress, port: number, more: readonly string[]): string {
  const address = listen === '*' ? `*:${port}` : hostAndPort({ address: listen, port })
  return ['bind', address, ...(family === 'IPv6' ? ['v6only'] : []), ...more].join(' ')
}

/** HAProxy takes 64 words a line. */
const RANGES_A_LINE = 20

/** Asked as early as the client's address is known: behind a PROXY header that is when it was read. */
function renderSourceRanges(ranges: readonly string[], afterProxyHeader: boolean): string[] {
  if (ranges.length === 0) return []
  for (const range of ranges) {
    if (parseCidr(range) === undefined) throw new TypeError(`${JSON.stringify(range)} is no network`)
  }
  const lines = Array.from({ length: Math.ceil(ranges.length / RANGES_A_LINE) }, (_, line) =>
    ranges.slice(line * RANGES_A_LINE, (line + 1) * RANGES_A_LINE),
  )
  return [
    ...lines.map((some) => `acl allowed src ${some.join(' ')}`),
    `tcp-request ${afterProxyHeader ? 'session' : 'connection'} reject unless allowed`,
  ]
}

function renderBackend(name: string, listener: PlannedListener, options: ListenerOptions): RenderedBackend {
  const check = renderHealthCheck(options.healthCheck)
  const remembersClients = options.affinity === 'source-ip'
  return {
    header: `backend ${name} from wcp-tcp`,
    name,
    lines: [
      ...BALANCE[options.algorithm],
      `timeout connect ${options.connectTimeoutSeconds}s`,
      `timeout server ${options.idleTimeoutSeconds}s`,
      ...check.backend,
      ...(remembersClients
        ? [`stick-table type ipv6 size 200k expire ${options.affinitySeconds}s peers wcp`, 'stick on src']
        : []),
    ],
    servers: renderServers(listener.servers),
    serverArguments: [...PROXY_PROTOCOL[options.proxyProtocol](check.server.length > 0), ...check.server],
    remembersClients,
    namesServersInCookie: false,
  }
}

/** Consistent hashing, as a server can be added only where the algorithm is dynamic. */
const BALANCE: Readonly<Record<ListenerOptions['algorithm'], string[]>> = {
  'round-robin': ['balance roundrobin'],
  'least-connections': ['balance leastconn'],
  'source-ip': ['balance source', 'hash-type consistent'],
}

type ProxyProtocolArguments = (checked: boolean) => string[]

const PROXY_PROTOCOL: Readonly<Record<ListenerOptions['proxyProtocol'], ProxyProtocolArguments>> = {
  none: () => [],
  v1: (checked) => ['send-proxy', ...(checked ? ['check-send-proxy'] : [])],
  v2: (checked) => ['send-proxy-v2', ...(checked ? ['check-send-proxy'] : [])],
}
