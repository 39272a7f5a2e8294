import type { PlannedHealthCheck, PlannedServer } from '../../domain/routing/route-plan.ts'
import { isIpAddress } from '../../domain/validation/is-ip-address.ts'
import { nameWord } from './proxy-name.ts'
import { quoteArgument } from './quote-argument.ts'
import type { RenderedServer } from './rendered-configuration.ts'

/** Servers of a plan under names that stand for address and port. Throws for what is no address or no port. */
export function renderServers(servers: readonly PlannedServer[]): RenderedServer[] {
  return servers
    .map(({ address, port, cluster, weight }) => {
      if (!isIpAddress(address)) throw new TypeError(`${JSON.stringify(address)} is no IP address`)
      const whole = (value: number, most: number) => Number.isInteger(value) && value >= 0 && value <= most
      if (!whole(port, 65_535) || !whole(weight, 256)) throw new TypeError(`${address}: port ${port}, weight ${weight}`)
      return { name: `${nameWord(cluster)}_${address}_${port}`, address, port, weight }
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** `10.1.0.7:80`, `[fd00::7]:80` */
export function hostAndPort({ address, port }: { address: string; port: number }): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}

/** Connections to a server that answers no more would otherwise hang until they are idle for too long. */
export const CLOSE_WHEN_DOWN = 'on-marked-down shutdown-sessions'

/** What a health check adds to each server, and to its backend. */
export function renderHealthCheck(check: PlannedHealthCheck | undefined): { server: string[]; backend: string[] } {
  if (check === undefined) return { server: [], backend: [] }
  const { protocol, path, port, intervalSeconds, timeoutSeconds, healthyThreshold, unhealthyThreshold } = check
  return {
    server: [
      'check',
      `inter ${intervalSeconds}s`,
      `rise ${healthyThreshold}`,
      `fall ${unhealthyThreshold}`,
      ...(port === undefined ? [] : [`port ${port}`]),
      ...(protocol === 'https' ? ['check-ssl', 'verify none'] : []),
      CLOSE_WHEN_DOWN,
    ],
    backend: [
      `timeout check ${timeoutSeconds}s`,
      ...(protocol === 'tcp'
        ? []
        : [
            'option httpchk',
            `http-check send meth GET uri ${quoteArgument(path)} ver HTTP/1.1 hdr Host localhost`,
            'http-check expect status 200-399',
          ]),
    ],
  }
}
