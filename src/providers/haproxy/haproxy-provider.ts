import { createHash } from 'node:crypto'
import type { Digest } from '../../ports/digest.ts'
import type { ProviderFactory } from '../../provider/registry.ts'
import { createBalancerKeeper } from './balancer-keeper.ts'
import { createIngressBalancer } from './haproxy-ingress-balancer.ts'
import { createHaproxyMaster } from './haproxy-master.ts'
import { readHaproxyOptions } from './haproxy-options.ts'
import { createHaproxyRuntime } from './haproxy-runtime.ts'
import { createServiceBalancer } from './haproxy-service-balancer.ts'

/**
 * Balancers on the HAProxy of this machine. It needs HAProxy's files and sockets, so it runs beside it:
 * `provider: { name: haproxy, options: { addresses: [198.51.100.10] } }`
 */
export const haproxyProviderFactory: ProviderFactory = (setup) => {
  const { logger, clock } = setup
  const options = readHaproxyOptions(setup)
  const runtime = createHaproxyRuntime(options.runtimeSocket)
  const master = createHaproxyMaster(options.masterSocket)
  const keeper = createBalancerKeeper({ options, runtime, master, logger }, sha256, clock)
  return {
    name: 'haproxy',
    loadBalancer: createIngressBalancer(keeper, options),
    mcsLoadBalancer: createServiceBalancer(keeper, options),
    consistencyWindowMs: 0,
    start: keeper.start,
  }
}

const sha256: Digest = (text) => createHash('sha256').update(text).digest('hex')
