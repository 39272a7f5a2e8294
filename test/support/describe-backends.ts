import type { Backends } from '../../src/domain/backends/backends.ts'
import { portKey } from '../../src/domain/backends/pool-memory.ts'

/** Addresses that take new traffic, with port; or the state of a pool without any. */
export type PoolDescription = string[] | 'empty' | 'blocked' | 'held'

/** By `shop/web:80/TCP`, then by cluster. */
export function describeBackends({ services }: Backends): Record<string, Record<string, PoolDescription>> {
  const entries = services.flatMap((service) =>
    service.ports.map(({ pools, ...port }) => {
      const described = pools.map(({ cluster, state, endpoints }): [string, PoolDescription] => {
        const taking = endpoints.filter(({ draining }) => !draining).map(({ address, port }) => `${address}:${port}`)
        return [cluster, state === 'serving' ? taking : state]
      })
      return [portKey(service, port), Object.fromEntries(described)] as const
    }),
  )
  return Object.fromEntries(entries)
}
