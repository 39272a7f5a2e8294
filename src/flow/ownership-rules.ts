import type { AdmissionRequest } from '../domain/admission-request.ts'
import { kindOf } from '../domain/kinds.ts'
import type { LabelSelector } from '../domain/label-selector.ts'
import type { MultiClusterIngress } from '../domain/multi-cluster-ingress.ts'
import type { MultiClusterService } from '../domain/multi-cluster-service.ts'
import { ownershipByType } from '../domain/ownership.ts'
import type { Service } from '../domain/service.ts'
import { wantsBalancer } from '../domain/service-balancer/service-standing.ts'

/** What configuration alone can say of ownership: for answers that may not wait for a read. */
export interface OwnershipRules {
  finalizer: string
  /** IngressClass names known to be ours. */
  classNames: readonly string[]
  /** Whether one of them is the default class of the control plane. */
  defaultClassIsOurs: boolean
  /** Which MultiClusterServices are ours. */
  selector: LabelSelector
  /** Which of the two kinds the provider serves. */
  serves: { MultiClusterIngress: boolean; MultiClusterService: boolean }
  /** Where Services themselves are served: which class, undefined for those without one. */
  services?: { loadBalancerClass: string | undefined }
}

/** False when in doubt. */
export function isCertainlyOurs({ group, kind, object }: AdmissionRequest, rules: OwnershipRules): boolean {
  switch (kindOf(group, kind)) {
    case 'Service':
      return rules.services !== undefined && wantsBalancer(object as Service, rules.services.loadBalancerClass)
    case 'MultiClusterIngress':
      return rules.serves.MultiClusterIngress && isOfOurClass(object as MultiClusterIngress, rules)
    case 'MultiClusterService':
      return rules.serves.MultiClusterService && isOfOurType(object as MultiClusterService, rules)
    default:
      return false
  }
}

function isOfOurClass(ingress: MultiClusterIngress, { classNames, defaultClassIsOurs }: OwnershipRules): boolean {
  const name: unknown = ingress.spec?.ingressClassName
  return typeof name === 'string'
    ? classNames.includes(name)
    : defaultClassIsOurs && (name === undefined || name === null)
}

/** The review may arrive before the schema was checked: types can be anything. */
function isOfOurType(service: MultiClusterService, { selector }: OwnershipRules): boolean {
  return Array.isArray(service.spec?.types) && ownershipByType(service, selector).kind === 'ours'
}
