import { createSystemClock } from '../../src/adapters/system/system-clock.ts'
import { haproxyProviderFactory } from '../../src/providers/haproxy/haproxy-provider.ts'
import { serviceCall } from './haproxy-calls.ts'
import { silentLogger } from './silent-logger.ts'

// Makes, changes and removes a balancer for ever, in a process of its own that is killed at some moment.
const [text = ''] = process.argv.slice(2)
const { options, endpoints } = JSON.parse(text) as { options: Record<string, unknown>; endpoints: string[] }
const fault = (field: string, message: string) => {
  throw new Error(`${field}: ${message}`)
}
const { mcsLoadBalancer } = haproxyProviderFactory({
  options,
  fault,
  logger: silentLogger,
  clock: createSystemClock(),
})
process.once('disconnect', () => process.exit(1))
process.send?.('started')
for (let round = 0; ; round += 1) {
  const pools = { member1: endpoints.slice(round % 2) }
  const wanted = { pools, annotations: { 'idle-timeout': `${60 + (round % 3)}` }, fingerprint: `${round}` }
  try {
    await mcsLoadBalancer?.ensureMCSLoadBalancer(...serviceCall(wanted))
    await mcsLoadBalancer?.updateMCSLoadBalancer(...serviceCall({ ...wanted, pools: { member1: endpoints } }))
    if (round % 3 === 2) await mcsLoadBalancer?.ensureMCSLoadBalancerDeleted(undefined, serviceCall()[1])
  } catch {
    // HAProxy may be killed as well; whoever comes next looks at what is left.
  }
}
