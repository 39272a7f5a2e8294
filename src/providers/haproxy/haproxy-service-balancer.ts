import { addressWish } from '../../domain/addresses/address-wish.ts'
import { assignAddresses } from '../../domain/addresses/assign-addresses.ts'
import { listenerClaims } from '../../domain/addresses/listener-claims.ts'
import { publishedStatus } from '../../domain/addresses/published-status.ts'
import { parseMultiClusterOptions } from '../../domain/balancer-annotations/parse-multi-cluster-options.ts'
import type { Finding } from '../../domain/finding.ts'
import { keepHeldServers } from '../../domain/listening/keep-held-servers.ts'
import { listenerSettings } from '../../domain/listening/listener-settings.ts'
import { planListeners } from '../../domain/listening/plan-listeners.ts'
import type { MultiClusterService } from '../../domain/multi-cluster-service.ts'
import { Terminal } from '../../provider/errors.ts'
import type { BalancerResult, MCSLoadBalancer, ProviderContext } from '../../provider/multicluster.ts'
import type { BalancerKeeper } from './balancer-keeper.ts'
import type { HaproxyOptions } from './haproxy-options.ts'
import type { ServedRecord, ServedService } from './served-record.ts'

/** MultiClusterService on layer 4. */
export function createServiceBalancer(keeper: BalancerKeeper, options: HaproxyOptions): MCSLoadBalancer {
  const ensure = async (service: MultiClusterService, context: ProviderContext): Promise<BalancerResult> => {
    const { record, changed } = await keeper.keep(context, (own, others) =>
      decideService(service, context, options, own, others),
    )
    return { status: publishedStatus(record.addresses), changed }
  }
  return {
    getMCSLoadBalancer: (_service, context) => keeper.get(context),
    ensureMCSLoadBalancer: ensure,
    updateMCSLoadBalancer: ensure,
    ensureMCSLoadBalancerDeleted: (_service, context) => keeper.remove(context),
    listMCSLoadBalancers: ({ clusterId }) => keeper.list(clusterId, 'MultiClusterService'),
    validate: (service) => parseMultiClusterOptions(service, 'MultiClusterService').findings,
  }
}

/** The record of a service, from what it asks for, what it has, and what others have. Pure. */
export function decideService(
  service: MultiClusterService,
  { identity, backends, fence, fingerprint }: Pick<ProviderContext, 'identity' | 'backends' | 'fence' | 'fingerprint'>,
  { addresses: pools }: Pick<HaproxyOptions, 'addresses'>,
  own: ServedRecord | undefined,
  others: readonly ServedRecord[],
): ServedService {
  const asked = parseMultiClusterOptions(service, 'MultiClusterService')
  refuse(asked.findings)
  const planned = planListeners(service, backends, listenerSettings(asked.options))
  refuse(planned.findings)
  const plan = keepHeldServers(planned.plan, own?.layer === 4 ? own.plan : undefined)
  const assignment = assignAddresses(
    addressWish(asked.options, listenerClaims(plan)),
    pools,
    own?.addresses,
    others.map((other) => ({ name: describeHolder(other), assigned: other.addresses })),
  )
  if (assignment.kind === 'conflict') throw new Terminal(assignment.message)
  return { layer: 4, identity, fence, fingerprint, addresses: assignment.assigned, plan }
}

function refuse(findings: readonly Finding[]): void {
  if (findings.length === 0) return
  throw new Terminal(findings.map(({ field, message }) => `${field}: ${message}`).join('; '))
}

function describeHolder({ identity: { kind, namespace, name } }: ServedRecord): string {
  return `${kind} ${namespace}/${name}`
}
