import { hasFinalizer } from '../finalizers.ts'
import { isBeingDeleted, type KubernetesObject } from '../kubernetes-object.ts'
import { type LabelSelector, selects } from '../label-selector.ts'
import { momentOf } from '../moment-of.ts'
import type { MultiClusterIngress } from '../multi-cluster-ingress.ts'
import type { MultiClusterService } from '../multi-cluster-service.ts'
import type { Node } from '../node.ts'
import { isUninitialized } from '../nodes/node-taints.ts'
import type { Service } from '../service.ts'
import { isServiceUnfinished, SERVICE_FINALIZER } from '../service-balancer/service-standing.ts'
import { isUnfinished } from '../unfinished.ts'
import type { UnfinishedObject } from './facts.ts'

export interface ObjectsInQuestion {
  ingresses: readonly MultiClusterIngress[]
  multiClusterServices: readonly MultiClusterService[]
  services: readonly Service[]
  nodes: readonly Node[]
}

export interface UnfinishedSettings {
  finalizer: string
  classNames: readonly string[]
  selector: LabelSelector
  loadBalancerClass: string | undefined
}

/** Those that are ours for certain, and not served or still held while leaving. */
export function unfinishedObjects(objects: ObjectsInQuestion, settings: UnfinishedSettings): UnfinishedObject[] {
  const { finalizer, classNames, selector, loadBalancerClass } = settings
  const isOurs = (object: KubernetesObject, byRule: boolean) => hasFinalizer(object, finalizer) || byRule
  return [
    ...objects.ingresses.filter(
      (each) => isUnfinished(each, finalizer) && isOurs(each, classNames.includes(each.spec?.ingressClassName ?? '')),
    ),
    ...objects.multiClusterServices.filter(
      (each) => isUnfinished(each, finalizer) && isOurs(each, selects(selector, each.metadata.labels)),
    ),
    ...objects.services.filter((each) => isServiceUnfinished(each, loadBalancerClass)),
    ...objects.nodes.filter((each) => !isBeingDeleted(each) && isUninitialized(each)),
  ].map((object) => describe(object, [finalizer, SERVICE_FINALIZER]))
}

function describe(object: KubernetesObject, finalizers: readonly string[]): UnfinishedObject {
  const { kind, metadata } = object
  const { namespace, name, creationTimestamp, deletionTimestamp } = metadata
  const isLeaving = isBeingDeleted(object) && finalizers.some((finalizer) => hasFinalizer(object, finalizer))
  return {
    name: `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`,
    state: isLeaving ? 'leaving' : 'unserved',
    since: momentOf(isLeaving ? deletionTimestamp : creationTimestamp),
  }
}
