import type { IngressClass } from './ingress-class.ts'
import { isDefaultClass } from './ingress-class.ts'
import type { LabelSelector } from './label-selector.ts'
import { selects } from './label-selector.ts'
import type { MultiClusterIngress } from './multi-cluster-ingress.ts'
import type { MultiClusterService } from './multi-cluster-service.ts'
import { wantsLoadBalancer } from './multi-cluster-service.ts'

/** Whose an object is, by what it asks for. "The API could not be asked" is not here: that is an error and a retry. */
export type Ownership =
  | { kind: 'ours' }
  | { kind: 'another'; reason: string }
  /** Nobody can say: what serves keeps serving. */
  | { kind: 'unresolved'; reason: string }

/**
 * | spec.ingressClassName | IngressClasses | ownership |
 * |---|---|---|
 * | a name | found, controller is ours | ours |
 * | a name | found, another controller | another |
 * | a name | not found | unresolved |
 * | "" | – | another: an explicit "no class" |
 * | absent | exactly one default | as that class says |
 * | absent | no default, or several | unresolved |
 */
export function ownershipByClass(
  ingress: MultiClusterIngress,
  classes: readonly IngressClass[],
  controller: string,
): Ownership {
  const name = ingress.spec?.ingressClassName
  if (name === '') return { kind: 'another', reason: 'spec.ingressClassName is empty: no class is wanted' }
  return name === undefined ? ownershipByDefault(classes, controller) : ownershipByName(name, classes, controller)
}

function ownershipByName(name: string, classes: readonly IngressClass[], controller: string): Ownership {
  const named = classes.find((candidate) => candidate.metadata.name === name)
  if (named === undefined) return { kind: 'unresolved', reason: `IngressClass "${name}" not found` }
  return ownershipOfClass(named, controller)
}

function ownershipByDefault(classes: readonly IngressClass[], controller: string): Ownership {
  const [first, ...more] = classes.filter(isDefaultClass)
  if (first === undefined) {
    return { kind: 'unresolved', reason: 'spec.ingressClassName is not set and no IngressClass is the default' }
  }
  if (more.length > 0) {
    const names = [first, ...more].map(({ metadata }) => metadata.name).sort()
    return { kind: 'unresolved', reason: `multiple default IngressClasses: ${names.join(', ')}` }
  }
  return ownershipOfClass(first, controller)
}

function ownershipOfClass(ingressClass: IngressClass, controller: string): Ownership {
  const { name } = ingressClass.metadata
  const named = ingressClass.spec?.controller ?? ''
  return named === controller
    ? { kind: 'ours' }
    : { kind: 'another', reason: `IngressClass "${name}" belongs to controller "${named}"` }
}

/** A MultiClusterService has no class: type and an optional selector decide. */
export function ownershipByType(service: MultiClusterService, selector: LabelSelector): Ownership {
  if (!wantsLoadBalancer(service)) return { kind: 'another', reason: 'spec.types does not contain LoadBalancer' }
  if (!selects(selector, service.metadata.labels)) {
    return { kind: 'another', reason: 'its labels do not match the selector of this provider' }
  }
  return { kind: 'ours' }
}
