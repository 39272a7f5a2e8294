/**
 * What a MultiClusterIngress or a MultiClusterService asks of its balancer beside its spec: the annotations under our
 * prefix, parsed and checked (`multi-cluster-annotations.ts`). An absent field was not asked for.
 */
export interface MultiClusterOptions {
  clusterWeights?: Record<string, number>
  backendProtocol?: 'http' | 'https' | 'h2c'
  redirectHttpToHttps?: boolean
  redirectStatus?: '301' | '302' | '307' | '308'
  rewriteTarget?: string
  requestHeaders?: Record<string, string>
  responseHeaders?: Record<string, string>
  requestBodyLimit?: number
  healthCheckProtocol?: 'tcp' | 'http' | 'https'
  healthCheckPort?: number
  healthCheckPath?: string
  healthCheckIntervalSeconds?: number
  healthCheckTimeoutSeconds?: number
  healthyThreshold?: number
  unhealthyThreshold?: number
  passiveFailures?: number
  passiveSeconds?: number
  connectTimeoutSeconds?: number
  responseTimeoutSeconds?: number
  idleTimeoutSeconds?: number
  affinity?: 'none' | 'source-ip' | 'cookie'
  affinitySeconds?: number
  algorithm?: 'round-robin' | 'least-connections' | 'source-ip'
  proxyProtocol?: 'none' | 'v1' | 'v2'
  acceptProxyProtocol?: boolean
  sourceRanges?: string[]
  addressPool?: string
  staticIps?: string[]
  hostname?: string
  ipFamilies?: ('IPv4' | 'IPv6')[]
}

export type MultiClusterKind = 'MultiClusterIngress' | 'MultiClusterService'
