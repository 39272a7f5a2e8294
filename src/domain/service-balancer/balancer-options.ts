/**
 * What a Service asks of its balancer beside its spec: the annotations under our prefix, parsed and checked
 * (`balancer-annotations.ts`). An absent field was not asked for; the provider's own default holds.
 */
export interface BalancerOptions {
  name?: string
  /** Of a balancer that exists and is to be used: ours to configure, never ours to delete. */
  id?: string
  protocol?: 'tcp' | 'http' | 'https'
  httpPorts?: number[]
  tlsPorts?: number[]
  tlsPassthrough?: boolean
  certificate?: string
  redirectHttpToHttps?: boolean
  proxyProtocol?: 'none' | 'v1' | 'v2'
  healthCheckProtocol?: 'tcp' | 'http' | 'https'
  healthCheckPort?: number
  healthCheckPath?: string
  healthCheckIntervalSeconds?: number
  healthCheckTimeoutSeconds?: number
  healthyThreshold?: number
  unhealthyThreshold?: number
  algorithm?: 'round-robin' | 'least-connections' | 'source-ip'
  idleTimeoutSeconds?: number
  /** Label selector over nodes; applied before the provider is called. */
  nodeSelector?: string
  internal?: boolean
  staticIp?: string
  /** Published in the place of addresses; applied after the provider has answered. */
  hostname?: string
  /** Applied after the provider has answered. */
  ipMode?: 'auto' | 'VIP' | 'Proxy'
  /** Services that name the same one share a balancer, as long as their ports differ. */
  sharedId?: string
  /** The balancer stays when the Service goes. */
  retainOnDelete?: boolean
  /** From now on nobody's: neither changed nor deleted. */
  disown?: boolean
}
