/**
 * What a provider sends traffic to. One entry for every Service that the object names and, in it, one for every port that
 * is asked for, also where nothing can be resolved: a route without a backend is still a route.
 *
 * Lists are sorted and without duplicates, so equal worlds give equal data. Nothing here moves with the clock.
 */
export interface Backends<State extends string = PoolState> {
  /** By namespace and name. */
  services: ServiceBackend<State>[]
}

/**
 * - `serving`: it has an endpoint that takes new traffic.
 * - `held`: nobody can say what is in it, and it served a moment ago: keep what you have. `endpoints` are the last known
 *   ones if they are remembered, else none.
 * - `empty`: nothing to send new traffic to; answer as for no healthy backend. Draining endpoints may still be listed.
 * - `blocked`: its cluster is under TrafficControl: as `empty`, by intent.
 */
export type PoolState = 'serving' | 'held' | 'empty' | 'blocked'

/** What resolving alone can say: `missing` is a pool that nothing is known of, to be held or emptied. */
export type ResolvedState = Exclude<PoolState, 'held'> | 'missing'

export interface ServiceBackend<State extends string = PoolState> {
  namespace: string
  name: string
  /** For an ExternalName Service, where the provider supports it: the DNS name to send to, instead of pools. */
  externalName?: string
  ports: PortBackend<State>[]
}

export interface PortBackend<State extends string = PoolState> {
  /** Of the Service. Absent only where the port is asked for by a name that no Service port has. */
  port?: number
  /** Of the Service port; empty where it has none. */
  name: string
  protocol: string
  appProtocol?: string
  /** One for every cluster that the Service is bound to, by name. */
  pools: BackendPool<State>[]
  /** Of all pools together. `held` without pools: keep everything you have for this port. */
  state: Exclude<State, 'blocked'>
}

export interface BackendPool<State extends string = PoolState> {
  cluster: string
  state: State
  endpoints: BackendEndpoint[]
}

/** A pod, reached directly. The same address and port appears once in a port, whichever clusters report it. */
export interface BackendEndpoint {
  address: string
  family: 'IPv4' | 'IPv6'
  port: number
  ready: boolean
  serving: boolean
  terminating: boolean
  /** Gets no new traffic and may finish what it has. Not set where no endpoint of the port is ready: then these serve. */
  draining: boolean
  /** In the member cluster. */
  nodeName?: string
  zone?: string
}
