import type { Cluster } from './cluster.ts'
import type { EndpointSlice } from './endpoint-slice.ts'
import type { Event } from './event.ts'
import type { IngressClass } from './ingress-class.ts'
import type { Lease } from './lease.ts'
import type { MultiClusterIngress } from './multi-cluster-ingress.ts'
import type { MultiClusterService } from './multi-cluster-service.ts'
import type { Node } from './node.ts'
import type { ClusterPropagationPolicy, PropagationPolicy } from './propagation-policy.ts'
import type { Remedy } from './remedy.ts'
import type { ResourceBinding } from './resource-binding.ts'
import type { Secret } from './secret.ts'
import type { Service } from './service.ts'
import type { ServiceExport } from './service-export.ts'
import type { WebhookConfiguration } from './webhook-configuration.ts'
import type { Work } from './work.ts'

/** The kinds we read or write, and their types. A new kind is one row here and one in `RESOURCES`. */
export interface ObjectOfKind {
  MultiClusterIngress: MultiClusterIngress
  MultiClusterService: MultiClusterService
  IngressClass: IngressClass
  Service: Service
  EndpointSlice: EndpointSlice
  Secret: Secret
  ResourceBinding: ResourceBinding
  Work: Work
  Cluster: Cluster
  Remedy: Remedy
  ServiceExport: ServiceExport
  PropagationPolicy: PropagationPolicy
  ClusterPropagationPolicy: ClusterPropagationPolicy
  Event: Event
  Lease: Lease
  Node: Node
  MutatingWebhookConfiguration: WebhookConfiguration
  ValidatingWebhookConfiguration: WebhookConfiguration
}

export type Kind = keyof ObjectOfKind

/** Where the API serves a kind. `group` is empty for the core group. */
export interface Resource {
  group: string
  version: string
  plural: string
  namespaced: boolean
}

export const RESOURCES: Readonly<Record<Kind, Resource>> = {
  MultiClusterIngress: {
    group: 'networking.karmada.io',
    version: 'v1alpha1',
    plural: 'multiclusteringresses',
    namespaced: true,
  },
  MultiClusterService: {
    group: 'networking.karmada.io',
    version: 'v1alpha1',
    plural: 'multiclusterservices',
    namespaced: true,
  },
  IngressClass: { group: 'networking.k8s.io', version: 'v1', plural: 'ingressclasses', namespaced: false },
  Service: { group: '', version: 'v1', plural: 'services', namespaced: true },
  EndpointSlice: { group: 'discovery.k8s.io', version: 'v1', plural: 'endpointslices', namespaced: true },
  Secret: { group: '', version: 'v1', plural: 'secrets', namespaced: true },
  ResourceBinding: { group: 'work.karmada.io', version: 'v1alpha2', plural: 'resourcebindings', namespaced: true },
  Work: { group: 'work.karmada.io', version: 'v1alpha1', plural: 'works', namespaced: true },
  Cluster: { group: 'cluster.karmada.io', version: 'v1alpha1', plural: 'clusters', namespaced: false },
  Remedy: { group: 'remedy.karmada.io', version: 'v1alpha1', plural: 'remedies', namespaced: false },
  ServiceExport: { group: 'multicluster.x-k8s.io', version: 'v1alpha1', plural: 'serviceexports', namespaced: true },
  PropagationPolicy: {
    group: 'policy.karmada.io',
    version: 'v1alpha1',
    plural: 'propagationpolicies',
    namespaced: true,
  },
  ClusterPropagationPolicy: {
    group: 'policy.karmada.io',
    version: 'v1alpha1',
    plural: 'clusterpropagationpolicies',
    namespaced: false,
  },
  Event: { group: '', version: 'v1', plural: 'events', namespaced: true },
  Lease: { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', namespaced: true },
  Node: { group: '', version: 'v1', plural: 'nodes', namespaced: false },
  MutatingWebhookConfiguration: {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    plural: 'mutatingwebhookconfigurations',
    namespaced: false,
  },
  ValidatingWebhookConfiguration: {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    plural: 'validatingwebhookconfigurations',
    namespaced: false,
  },
}

/** `group/version`, or `version` alone in the core group: the `apiVersion` of objects of this kind. */
export function apiVersionOf(kind: Kind): string {
  const { group, version } = RESOURCES[kind]
  return group === '' ? version : `${group}/${version}`
}

/** The kind we know under this group and name, whatever the version: reviews and events may name another one. */
export function kindOf(group: string, kind: string): Kind | undefined {
  return isKind(kind) && RESOURCES[kind].group === group ? kind : undefined
}

/** Whether it is the name of a kind we know, and not that of something every object inherits. */
export function isKind(name: string): name is Kind {
  return Object.hasOwn(RESOURCES, name)
}
