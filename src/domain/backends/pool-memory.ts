import type { BackendEndpoint, Backends, PortBackend } from './backends.ts'

/**
 * What has to be remembered from one pass to the next, outside the process where passes may run anywhere: which ports and
 * pools served, by key, and since when nothing is known of them. Plain data; `withoutEndpoints` makes it small.
 */
export type PoolMemory = Readonly<Record<string, RememberedPool>>

export interface RememberedPool {
  /** Milliseconds since the epoch; absent while it serves. */
  missingSince?: number
  /** As last handed over; empty for a port, and in a memory that was made small. */
  endpoints: BackendEndpoint[]
}

/** Nothing served yet: the memory of an object that has no balancer. */
export const NOTHING_SERVED: PoolMemory = {}

/** `shop/web:`: with what the keys of all ports of a Service begin. */
export function serviceKey({ namespace, name }: { namespace: string; name: string }): string {
  return `${namespace}/${name}:`
}

/** `shop/web:80/TCP`; a port that exists by name only: `shop/web:http/TCP`. */
export function portKey(
  service: { namespace: string; name: string },
  port: Pick<PortBackend, 'port' | 'name' | 'protocol'>,
): string {
  return `${serviceKey(service)}${port.port ?? port.name}/${port.protocol}`
}

/** `shop/web:80/TCP@edge-a` */
export function poolKey(port: string, cluster: string): string {
  return `${port}@${cluster}`
}

/** The clusters whose pools of a port are remembered, by name. */
export function rememberedClusters(memory: PoolMemory, port: string): string[] {
  const prefix = poolKey(port, '')
  return Object.keys(memory)
    .filter((key) => key.startsWith(prefix))
    .map((key) => key.slice(prefix.length))
    .sort()
}

/** Small enough for an annotation; a provider is then told to keep its endpoints, and not which. */
export function withoutEndpoints(memory: PoolMemory): PoolMemory {
  return Object.fromEntries(Object.entries(memory).map(([key, pool]) => [key, { ...pool, endpoints: [] }]))
}

/** Whether any pool is held, so that the object has to be looked at again. */
export function isHolding({ services }: Backends): boolean {
  return services.some(({ ports }) =>
    ports.some(({ state, pools }) => [state, ...pools.map((pool) => pool.state)].includes('held')),
  )
}
