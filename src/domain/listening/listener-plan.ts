import type { PlannedHealthCheck, PlannedServer } from '../routing/route-plan.ts'

/**
 * What a layer 4 balancer does for one MultiClusterService, in nobody's configuration language. A provider renders it and
 * decides nothing. Lists are sorted and without duplicates, so equal worlds give equal plans.
 */
export interface ListenerPlan {
  /** By port. TCP only: what asks for another protocol is refused before there is a plan. */
  listeners: PlannedListener[]
  options: ListenerOptions
}

export interface PlannedListener {
  /** Of the Service, and of the address. */
  port: number
  name: string
  /** As for `PlannedUpstream`; without servers connections are closed. */
  state: 'serving' | 'held' | 'empty'
  servers: PlannedServer[]
}

/** From annotations (`listener-settings.ts`), with all defaults filled in. */
export interface ListenerOptions {
  /** Networks that may connect; empty for all. */
  sourceRanges: string[]
  /** Towards pods. */
  proxyProtocol: 'none' | 'v1' | 'v2'
  /** Whether clients come with a PROXY header themselves. */
  acceptProxyProtocol: boolean
  algorithm: 'round-robin' | 'least-connections' | 'source-ip'
  /** `source-ip`: a client stays with its server for `affinitySeconds` after its last connection. */
  affinity: 'none' | 'source-ip'
  affinitySeconds: number
  healthCheck?: PlannedHealthCheck
  connectTimeoutSeconds: number
  /** Silence, on either side, after which a connection is closed. */
  idleTimeoutSeconds: number
}
