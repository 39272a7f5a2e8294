import type { IngressRule, MultiClusterIngress } from '../../src/domain/multi-cluster-ingress.ts'
import { buildIngress } from '../../test/support/build-objects.ts'
import { buildReview } from '../../test/support/build-review.ts'

/** The review of a new ingress of ours, as long as usual ones are: 5 KB. */
export function ingressReview(name = 'storefront'): string {
  const review = buildReview('CREATE', ingressOf5Kb(name))
  const userInfo = {
    username: 'somebody',
    groups: ['system:authenticated'],
    uid: '7f6b0c1e-7f0f-4d0e-9d55-0f4c7d1e2a3b',
  }
  const options = { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'kubectl-client-side-apply' }
  return JSON.stringify({ ...review, request: { ...review.request, userInfo, options } })
}

export function ingressOf5Kb(name: string): MultiClusterIngress {
  const hosts = Array.from({ length: 15 }, (_, index) => `shop-${index}.example.com`)
  const object = buildIngress({
    metadata: { name, labels: { app: 'shop', tier: 'front' } },
    spec: {
      ingressClassName: 'multicloud',
      defaultBackend: { service: { name: 'web', port: { number: 80 } } },
      rules: hosts.map(ruleOf),
      tls: [{ hosts, secretName: 'shop-tls' }],
    },
  })
  return { ...object, metadata: { ...object.metadata, ...stored(name) } }
}

function ruleOf(host: string): IngressRule {
  const paths = ['/', '/api/v1'].map((path) => ({
    path,
    pathType: 'Prefix',
    backend: { service: { name: 'web', port: { number: 80 } } },
  }))
  return { host, http: { paths } }
}

/** What the API server has put in before it asks. */
function stored(name: string): object {
  return {
    uid: `d2a9c1f0-30c8-4a4e-9a53-${name.length.toString(16).padStart(12, '0')}`,
    creationTimestamp: '2026-03-01T08:00:00Z',
    generation: 1,
    managedFields: [
      {
        manager: 'kubectl-client-side-apply',
        operation: 'Update',
        apiVersion: 'networking.karmada.io/v1alpha1',
        time: '2026-03-01T08:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:metadata': { 'f:labels': { '.': {}, 'f:app': {}, 'f:tier': {} } },
          'f:spec': {
            '.': {},
            'f:defaultBackend': { '.': {}, 'f:service': {} },
            'f:ingressClassName': {},
            'f:rules': {},
            'f:tls': {},
          },
        },
      },
    ],
  }
}
