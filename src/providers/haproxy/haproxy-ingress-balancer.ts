import { addressWish } from '../../domain/addresses/address-wish.ts'
import { assignAddresses } from '../../domain/addresses/assign-addresses.ts'
import { publishedStatus } from '../../domain/addresses/published-status.ts'
import { routeClaims } from '../../domain/addresses/route-claims.ts'
import { parseMultiClusterOptions } from '../../domain/balancer-annotations/parse-multi-cluster-options.ts'
import type { MultiClusterIngress } from '../../domain/multi-cluster-ingress.ts'
import { keepHeldUpstreams } from '../../domain/routing/keep-held-upstreams.ts'
import { planIngressRoutes } from '../../domain/routing/plan-ingress-routes.ts'
import type { PlannedCertificate } from '../../domain/routing/route-plan.ts'
import { routeSettings } from '../../domain/routing/route-settings.ts'
import { validateRoutes } from '../../domain/routing/validate-routes.ts'
import { Terminal } from '../../provider/errors.ts'
import type { BalancerResult, LoadBalancer, ProviderContext } from '../../provider/multicluster.ts'
import type { BalancerKeeper } from './balancer-keeper.ts'
import { certificateFault } from './certificate-fault.ts'
import type { HaproxyOptions } from './haproxy-options.ts'
import type { ServedIngress, ServedRecord } from './served-record.ts'

/** MultiClusterIngress on layer 7. */
export function createIngressBalancer(keeper: BalancerKeeper, options: HaproxyOptions): LoadBalancer {
  const ensure = async (ingress: MultiClusterIngress, context: ProviderContext): Promise<BalancerResult> => {
    const { record, changed } = await keeper.keep(context, (own, others) =>
      decideIngress(ingress, context, options, own, others),
    )
    return { status: publishedStatus(record.addresses), changed }
  }
  return {
    getLoadBalancer: (_ingress, context) => keeper.get(context),
    ensureLoadBalancer: ensure,
    updateLoadBalancer: ensure,
    ensureLoadBalancerDeleted: (_ingress, context) => keeper.remove(context),
    listLoadBalancers: ({ clusterId }) => keeper.list(clusterId, 'MultiClusterIngress'),
    validate: validateRoutes,
  }
}

/** HAProxy would not say which Secret it is. The certificate of before is served till it is mended. */
function refuseCertificates(namespace: string, certificates: readonly PlannedCertificate[]): void {
  for (const certificate of certificates) {
    const fault = certificateFault(certificate)
    if (fault !== undefined) throw new Terminal(`secret ${namespace}/${certificate.secretName}: ${fault}`)
  }
}

/** The record of an ingress, from what it asks for, what it has, and what others have. Pure. */
function decideIngress(
  ingress: MultiClusterIngress,
  { identity, backends, certificates, fence, fingerprint }: ProviderContext,
  { addresses: pools }: Pick<HaproxyOptions, 'addresses'>,
  own: ServedRecord | undefined,
  others: readonly ServedRecord[],
): ServedIngress {
  const findings = validateRoutes(ingress)
  if (findings.length > 0) {
    throw new Terminal(findings.map(({ field, message }) => `${field}: ${message}`).join('; '))
  }
  const { options: asked } = parseMultiClusterOptions(ingress, 'MultiClusterIngress')
  const planned = planIngressRoutes(ingress, backends, certificates, routeSettings(asked))
  const { certificates: usable, ...plan } = keepHeldUpstreams(planned, own?.layer === 7 ? own.plan : undefined)
  refuseCertificates(identity.namespace, usable)
  const assignment = assignAddresses(
    addressWish(asked, routeClaims(planned)),
    pools,
    own?.addresses,
    others.map(({ identity: { kind, namespace, name }, addresses }) => ({
      name: `${kind} ${namespace}/${name}`,
      assigned: addresses,
    })),
  )
  if (assignment.kind === 'conflict') throw new Terminal(assignment.message)
  return { layer: 7, identity, fence, fingerprint, addresses: assignment.assigned, plan, certificates: usable }
}
