import type { KubernetesObject } from '../../domain/kubernetes-object.ts'
import type { MultiClusterIngress } from '../../domain/multi-cluster-ingress.ts'
import type { MultiClusterService } from '../../domain/multi-cluster-service.ts'
import type { Node } from '../../domain/node.ts'
import { ROUTES_KEY } from '../../domain/nodes/node-keys.ts'
import { isUnsettledNode } from '../../domain/nodes/unsettled-node.ts'
import type { ObjectKey } from '../../domain/object-key.ts'
import { CRD_POLICY_KEY } from '../../domain/propagation/crd-propagation-desired.ts'
import type { OurMarks } from '../../domain/relevance.ts'
import type { Service } from '../../domain/service.ts'
import { isServiceUnfinished } from '../../domain/service-balancer/service-standing.ts'
import type { ServiceExport } from '../../domain/service-export.ts'
import type { SweepScope } from '../../domain/sweep-report.ts'
import { isUnfinished } from '../../domain/unfinished.ts'

/** Kinds that are listed and reconciled, in this order: nodes before the Services that they serve. */
export const SWEPT_KINDS = ['MultiClusterIngress', 'MultiClusterService', 'ServiceExport', 'Node', 'Service'] as const
export type SweptKind = (typeof SWEPT_KINDS)[number]
export type SweptObject = MultiClusterIngress | MultiClusterService | ServiceExport | Node | Service

/** What a scope goes through: the objects of kinds, page by page, and then keys of what there is one of. */
interface ScopePlan {
  kinds: readonly SweptKind[]
  once: readonly ObjectKey[]
  /** Only objects that carry no sign of being finished. */
  unfinished: boolean
}

export const SCOPE_PLANS: Readonly<Record<SweepScope, ScopePlan>> = {
  all: { kinds: SWEPT_KINDS, once: [CRD_POLICY_KEY, ROUTES_KEY], unfinished: false },
  pending: { kinds: SWEPT_KINDS, once: [], unfinished: true },
  services: { kinds: ['Service'], once: [], unfinished: false },
  nodes: { kinds: ['Node'], once: [], unfinished: false },
  'pending-nodes': { kinds: ['Node'], once: [], unfinished: true },
  routes: { kinds: [], once: [ROUTES_KEY], unfinished: false },
}

/** Kinds of a control plane over clusters, with what is around them. */
export function isOverClusters(kind: SweptKind): boolean {
  return kind !== 'Node' && kind !== 'Service'
}

export function isDue(kind: SweptKind, object: SweptObject, scope: SweepScope, marks: OurMarks): boolean {
  return !SCOPE_PLANS[scope].unfinished || isUnfinishedObject(kind, object, marks)
}

function isUnfinishedObject(kind: SweptKind, object: KubernetesObject, { finalizer, services }: OurMarks): boolean {
  switch (kind) {
    case 'Node':
      return isUnsettledNode(object as Node)
    case 'Service':
      return isServiceUnfinished(object as Service, services?.loadBalancerClass)
    case 'ServiceExport':
      return false
    default:
      return isUnfinished(object as MultiClusterIngress | MultiClusterService, finalizer)
  }
}
