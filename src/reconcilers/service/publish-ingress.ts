import { CatalogueError, isCatalogueError } from '../../domain/catalogue-error.ts'
import type { JsonValue } from '../../domain/kubernetes-object.ts'
import type { LoadBalancerIngress } from '../../domain/load-balancer-status.ts'
import type { Service } from '../../domain/service.ts'
import { sameIngress } from '../../domain/service-balancer/published-ingress.ts'
import { validateLoadBalancerStatus } from '../../domain/validation/validate-load-balancer-status.ts'
import type { ServicePass } from './service-pass.ts'
import { tellFailure } from './tell-service.ts'

/**
 * Writes the addresses of exactly this version of the Service, whole, and only where readers would see a difference
 * (R-SVC-13). Answers the Service as it is stored. That it is gone, or another version by now, is no failure (R-SVC-6):
 * it is for the caller to look again.
 */
export async function publishIngress(
  service: Service,
  ingress: LoadBalancerIngress[] | undefined,
  pass: ServicePass,
): Promise<Service | 'gone' | 'changed'> {
  if (ingress === undefined || sameIngress(service.status?.loadBalancer?.ingress, ingress)) return service
  const { store, key, signal } = pass
  const { uid = null, resourceVersion = null } = service.metadata
  const loadBalancer = { ingress: ingress.length === 0 ? null : (ingress as JsonValue) }
  const body: JsonValue = { metadata: { uid, resourceVersion }, status: { loadBalancer } }
  try {
    refuseUnstorable(ingress, pass)
    return await store.patch(key, { type: 'merge', body }, { signal, subresource: 'status' })
  } catch (error) {
    if (isCatalogueError(error, 'NotFound')) return 'gone'
    await tellFailure(service, 'failed to update load balancer status', error, pass)
    if (isCatalogueError(error, 'Conflict')) return 'changed'
    throw error
  }
}

/** An address that the API server refuses comes from the provider: that is said, and tried again with patience. */
function refuseUnstorable(ingress: LoadBalancerIngress[], { key }: ServicePass): void {
  const [finding] = validateLoadBalancerStatus({ loadBalancer: { ingress } })
  if (finding === undefined) return
  const message = `the provider reported an address that cannot be stored: ${finding.field}: ${finding.message}`
  throw new CatalogueError('ProviderFailed', message, { object: key, field: finding.field })
}
