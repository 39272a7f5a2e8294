import type { PortBackend } from '../../src/domain/backends/backends.ts'
import { ANNOTATION_PREFIX } from '../../src/domain/balancer-annotations/parse-annotations.ts'
import type { MultiClusterService } from '../../src/domain/multi-cluster-service.ts'
import type { BalancerIdentity, ProviderContext } from '../../src/provider/multicluster.ts'
import { buildBackends, buildPort, type PoolsByCluster } from './build-backends.ts'
import { buildService } from './build-objects.ts'
import { silentLogger } from './silent-logger.ts'

/** Of every service, unless told. */
export const SERVICE_PORT = 18_080

export interface WantedService {
  name?: string
  uid?: string
  /** Without the prefix. */
  annotations?: Record<string, string>
  pools?: PoolsByCluster
  port?: Partial<PortBackend>
  fence?: string
  fingerprint?: string
  signal?: AbortSignal
}

/** A service of namespace `shop`, as the reconciler hands it to a provider. */
export function serviceCall({
  name = 'game',
  uid = `uid-${name}`,
  annotations = {},
  pools = {},
  port = {},
  fence = '1',
  fingerprint = 'of-this-call',
  signal = new AbortController().signal,
}: WantedService = {}): [MultiClusterService, ProviderContext] {
  const prefixed = Object.entries(annotations).map(([short, text]) => [ANNOTATION_PREFIX + short, text])
  const identity: BalancerIdentity = { clusterId: 'blue', kind: 'MultiClusterService', namespace: 'shop', name, uid }
  const backends = buildBackends({ [name]: [buildPort(pools, { port: SERVICE_PORT, ...port })] })
  return [
    buildService({ metadata: { name, uid, annotations: Object.fromEntries(prefixed) } }),
    { signal, logger: silentLogger, identity, fence, fingerprint, certificates: [], backends },
  ]
}
