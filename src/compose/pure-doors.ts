import type { Doors } from '../adapters/http/doors.ts'
import type { Config } from '../config/config.ts'
import type { AdmissionRequest } from '../domain/admission-request.ts'
import type { Finding } from '../domain/finding.ts'
import { claimOnAdmission } from '../flow/claim-on-admission.ts'
import type { OwnershipRules } from '../flow/ownership-rules.ts'
import type { Logger } from '../ports/logger.ts'
import type { MultiClusterProvider } from '../provider/multicluster.ts'
import type { Provider } from '../provider/provider.ts'
import { cloudDoors } from './cloud-doors.ts'
import { servedCloud } from './served-cloud.ts'

export interface PureDoorParts {
  config: Config
  provider: Provider
  logger: Logger
}

/** The doors that ask nobody: what they need is in the review, in the configuration and in the provider's own rules. */
export function pureDoors({ config, provider, logger }: PureDoorParts): Pick<Doors, 'mutate' | 'validate'> {
  const cloud = servedCloud(config, provider)
  if (cloud !== undefined) return cloudDoors(cloud, config, logger)
  const rules = ownershipRules(config, provider)
  let findingsOf: ((request: AdmissionRequest) => Finding[]) | undefined
  return {
    mutate: (request) => claimOnAdmission(request, rules),
    async validate(request) {
      findingsOf ??= (await import('./validate-door.ts')).validateDoor(rules, provider)
      return { findings: findingsOf(request), warnings: [] }
    },
  }
}

function ownershipRules(
  { finalizer, ingressClass, multiClusterServices }: Config,
  provider: MultiClusterProvider,
): OwnershipRules {
  return {
    finalizer,
    classNames: ingressClass.names,
    defaultClassIsOurs: ingressClass.default,
    selector: multiClusterServices.selector,
    serves: {
      MultiClusterIngress: provider.loadBalancer !== undefined,
      MultiClusterService: provider.mcsLoadBalancer !== undefined,
    },
  }
}
