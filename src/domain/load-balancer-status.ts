import { sameJson } from './canonical-json.ts'

/** `status.loadBalancer` of an ingress or a service; the order of entries is the provider's and is kept. */
export interface LoadBalancerStatus {
  ingress?: LoadBalancerIngress[]
}

export interface LoadBalancerIngress {
  ip?: string
  hostname?: string
  ipMode?: string
  ports?: { port: number; protocol?: string; error?: string }[]
}

/**
 * What can be stored: hostnames are DNS names, so lower case; and from the CRDs of Karmada v1.12 on an entry of `ports`
 * without `error` is refused, so such entries are left out (karmada.md §0.7).
 */
export function publishableStatus(status: LoadBalancerStatus): LoadBalancerStatus {
  return {
    ingress: (status.ingress ?? []).map(({ ports, hostname, ...entry }) => {
      const faulty = (ports ?? []).filter(({ error }) => error !== undefined && error !== '')
      return {
        ...entry,
        ...(hostname === undefined ? {} : { hostname: hostname.toLowerCase() }),
        ...(faulty.length === 0 ? {} : { ports: faulty }),
      }
    }),
  }
}

/** Equal for everybody who reads it: text forms of an IPv6 address, case of hostnames, and absent or empty do not count. */
export function sameLoadBalancerStatus(a: LoadBalancerStatus | undefined, b: LoadBalancerStatus | undefined): boolean {
  return isOneAddress(a, b) || JSON.stringify(a) === JSON.stringify(b) || sameJson(normalised(a), normalised(b))
}

/** As most are: a sweep compares each. */
function isOneAddress(a: LoadBalancerStatus | undefined, b: LoadBalancerStatus | undefined): boolean {
  const [one, ...more] = a?.ingress ?? []
  const [other, ...others] = b?.ingress ?? []
  if (one === undefined || other === undefined || more.length + others.length > 0) return false
  return one.ip !== undefined && one.ip === other.ip && isAddressAlone(one) && isAddressAlone(other)
}

function isAddressAlone({ hostname, ipMode, ports }: LoadBalancerIngress): boolean {
  return hostname === undefined && ipMode === undefined && ports === undefined
}

function normalised(status: LoadBalancerStatus | undefined): LoadBalancerIngress[] {
  return publishableStatus(status ?? {}).ingress?.map(normalisedEntry) ?? []
}

function normalisedEntry({ ip, hostname, ...rest }: LoadBalancerIngress): LoadBalancerIngress {
  return { ...rest, ...(ip ? { ip: normalisedAddress(ip) } : {}), ...(hostname ? { hostname } : {}) }
}

/** The URL parser knows the one text form of RFC 5952. */
function normalisedAddress(ip: string): string {
  const url = `http://[${ip}]`
  return URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : ip
}
