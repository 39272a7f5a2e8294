import type { Doors } from '../adapters/http/doors.ts'
import type { Config } from '../config/config.ts'
import { SERVICE_FINALIZER } from '../domain/service-balancer/service-standing.ts'
import { claimOnAdmission } from '../flow/claim-on-admission.ts'
import type { OwnershipRules } from '../flow/ownership-rules.ts'
import { validateServiceOnAdmission } from '../flow/validate-service-on-admission.ts'
import type { Logger } from '../ports/logger.ts'
import type { CloudProvider } from '../provider/cloud.ts'
import { balancerAbilities } from './balancer-abilities.ts'
import { controllerStates } from './cloud-controllers.ts'

/** The pure doors in front of one cluster's cloud: Services are claimed when they are made, and checked. */
export function cloudDoors(cloud: CloudProvider, config: Config, logger: Logger): Pick<Doors, 'mutate' | 'validate'> {
  const runs = controllerStates(cloud, config)['service-lb-controller'].runs
  const loadBalancer = runs ? cloud.loadBalancer() : undefined
  if (loadBalancer === undefined) return { mutate: () => [], validate: () => ({ findings: [], warnings: [] }) }
  const { loadBalancerClass } = config.cloud
  const checks = { loadBalancer, abilities: balancerAbilities(loadBalancer), loadBalancerClass, logger }
  const rules: OwnershipRules = {
    finalizer: SERVICE_FINALIZER,
    classNames: [],
    defaultClassIsOurs: false,
    selector: {},
    serves: { MultiClusterIngress: false, MultiClusterService: false },
    services: { loadBalancerClass },
  }
  return {
    // Only at creation: a finalizer that went from a Service that exists is put back by the reconciler.
    mutate: (request) => (request.operation === 'CREATE' ? claimOnAdmission(request, rules) : []),
    validate: (request) => ({ findings: validateServiceOnAdmission(request, checks), warnings: [] }),
  }
}
