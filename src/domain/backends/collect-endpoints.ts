import { type Cidr, isSpecialAddress, isWithin } from '../cidr.ts'
import { readinessOf } from '../endpoint-readiness.ts'
import type { EndpointSlice, SliceEndpoint } from '../endpoint-slice.ts'
import { parseIpAddress } from '../ip-address.ts'
import type { ServicePort } from '../service.ts'
import type { BackendEndpoint } from './backends.ts'

/** Before it is known whether anything of the port is ready. */
export type FoundEndpoint = Omit<BackendEndpoint, 'draining'>

export interface FoundEndpoints {
  /** That are ready, or serve while they terminate. */
  endpoints: FoundEndpoint[]
  /** Whether some were left out because of their address. */
  refused: boolean
}

/**
 * The endpoints of one Service port in one cluster. A slice port belongs to the Service port of the same name and
 * protocol; numbers and target ports say nothing, since each pod may have its own.
 */
export function collectEndpoints(
  slices: readonly EndpointSlice[],
  { name = '', protocol = 'TCP' }: ServicePort,
  networks: readonly Cidr[] | undefined,
): FoundEndpoints {
  const found = new Map<string, FoundEndpoint>()
  let refused = false
  for (const slice of slices) {
    const port = slice.ports?.find((own) => (own.name ?? '') === name && (own.protocol ?? 'TCP') === protocol)?.port
    if (port === undefined) continue
    for (const endpoint of slice.endpoints ?? []) {
      const use = useOf(slice, endpoint, port, networks)
      if (use === 'refused') refused = true
      else if (use !== undefined) keepReadier(found, use)
    }
  }
  return { endpoints: [...found.values()].sort(byAddress), refused }
}

function useOf(
  { addressType }: EndpointSlice,
  { addresses, conditions, nodeName, zone }: SliceEndpoint,
  port: number,
  networks: readonly Cidr[] | undefined,
): FoundEndpoint | 'refused' | undefined {
  const readiness = readinessOf(conditions)
  if (!readiness.ready && !(readiness.serving && readiness.terminating)) return undefined
  const [address = ''] = addresses ?? []
  const parsed = parseIpAddress(address)
  if (parsed === undefined || parsed.family !== addressType || isSpecialAddress(parsed)) return 'refused'
  if (networks !== undefined && !isWithin(parsed, networks)) return 'refused'
  return {
    address,
    family: parsed.family,
    port,
    ...readiness,
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(zone === undefined ? {} : { zone }),
  }
}

/** While pods move between slices an endpoint can be in two of them. */
function keepReadier(found: Map<string, FoundEndpoint>, endpoint: FoundEndpoint): void {
  const identity = endpointIdentity(endpoint)
  if (found.get(identity)?.ready !== true) found.set(identity, endpoint)
}

export function endpointIdentity({ address, port }: FoundEndpoint): string {
  return `${parseIpAddress(address)?.value} ${port}`
}

function byAddress(a: FoundEndpoint, b: FoundEndpoint): number {
  return sortKey(a) < sortKey(b) ? -1 : 1
}

function sortKey({ family, address, port }: FoundEndpoint): string {
  return `${family} ${address} ${port}`
}
