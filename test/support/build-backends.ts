import type { BackendEndpoint, BackendPool, Backends, PortBackend } from '../../src/domain/backends/backends.ts'

/** A ready endpoint `address:port`; with `!` at its end one that drains. */
function buildEndpoint(text: string): BackendEndpoint {
  const draining = text.endsWith('!')
  const [, address = '', port = ''] = /^(.*):(\d+)!?$/.exec(text) ?? []
  const family = address.includes(':') ? 'IPv6' : 'IPv4'
  const ready = !draining
  return { address, family, port: Number(port), ready, serving: true, terminating: draining, draining }
}

/** Endpoints by cluster, or the state of a pool without any. */
export type PoolsByCluster = Readonly<Record<string, readonly string[] | Exclude<BackendPool['state'], 'serving'>>>

/** A port of a Service as it is handed to a provider. */
export function buildPort(pools: PoolsByCluster, overrides: Partial<PortBackend> = {}): PortBackend {
  const listed = Object.entries(pools).map(
    ([cluster, given]): BackendPool =>
      typeof given === 'string'
        ? { cluster, state: given, endpoints: [] }
        : { cluster, state: 'serving', endpoints: given.map(buildEndpoint) },
  )
  const serves = listed.some(({ endpoints }) => endpoints.some(({ draining }) => !draining))
  return { port: 80, name: '', protocol: 'TCP', pools: listed, state: serves ? 'serving' : 'empty', ...overrides }
}

/** Services of namespace `shop`, by name. */
export function buildBackends(services: Readonly<Record<string, readonly PortBackend[]>>): Backends {
  return {
    services: Object.entries(services).map(([name, ports]) => ({ namespace: 'shop', name, ports: [...ports] })),
  }
}
