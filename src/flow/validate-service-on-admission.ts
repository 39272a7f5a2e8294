import type { AdmissionRequest } from '../domain/admission-request.ts'
import type { Finding } from '../domain/finding.ts'
import { kindOf } from '../domain/kinds.ts'
import type { Service } from '../domain/service.ts'
import { needsUpdate } from '../domain/service-balancer/balancer-input.ts'
import { type BalancerAbilities, balancerFaults } from '../domain/service-balancer/balancer-request.ts'
import { parseBalancerOptions } from '../domain/service-balancer/parse-balancer-options.ts'
import { wantsBalancer } from '../domain/service-balancer/service-standing.ts'
import type { Logger } from '../ports/logger.ts'
import type { CloudLoadBalancer } from '../provider/cloud.ts'

export interface ServiceChecks {
  loadBalancer: Pick<CloudLoadBalancer, 'validate'>
  abilities: BalancerAbilities
  loadBalancerClass: string | undefined
  logger: Logger
}

/**
 * The validating review of a Service: the annotations, what this provider cannot do, and the provider's own word; the
 * first that finds something answers. Only for Services that want a balancer from us, only when what one is made from
 * changed, and never in deletion. A provider that throws has found nothing: the reconciler tells what is wrong.
 */
export function validateServiceOnAdmission(request: AdmissionRequest, checks: ServiceChecks): Finding[] {
  const service = serviceToCheck(request, checks.loadBalancerClass)
  if (service === undefined) return []
  try {
    const faults = balancerFaults(service, checks.abilities)
    return faults.length > 0 ? faults : providerFindings(service, checks)
  } catch (error) {
    checks.logger.warn({ error: String(error) }, 'a Service could not be checked and was let through')
    return []
  }
}

function serviceToCheck(request: AdmissionRequest, ours: string | undefined): Service | undefined {
  const { operation, subResource, group, kind } = request
  if (kindOf(group, kind) !== 'Service' || subResource !== '') return undefined
  if (operation !== 'CREATE' && operation !== 'UPDATE') return undefined
  const service = request.object as Service | undefined
  const before = request.oldObject as Service | undefined
  const leaves = [service, before].some((object) => object?.metadata.deletionTimestamp !== undefined)
  if (service === undefined || leaves || !wantsBalancer(service, ours)) return undefined
  return before === undefined || needsUpdate(before, service, ours) ? service : undefined
}

function providerFindings(service: Service, { loadBalancer }: ServiceChecks): Finding[] {
  return loadBalancer.validate?.(service, parseBalancerOptions(service).options) ?? []
}
