import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import type { MultiClusterIngress } from '../../src/domain/multi-cluster-ingress.ts'

/** What the API server sends of a MultiClusterIngress. */
export function buildReview(operation: 'CREATE' | 'UPDATE', object: MultiClusterIngress, oldObject?: KubernetesObject) {
  const { namespace, name } = object.metadata
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: `review-of-${name}`,
      kind: { group: 'networking.karmada.io', version: 'v1alpha1', kind: 'MultiClusterIngress' },
      resource: { group: 'networking.karmada.io', version: 'v1alpha1', resource: 'multiclusteringresses' },
      namespace,
      name,
      operation,
      userInfo: { username: 'somebody' },
      object,
      oldObject: oldObject ?? null,
      dryRun: false,
      options: null,
    },
  }
}
