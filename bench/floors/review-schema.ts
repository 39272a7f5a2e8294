import { multiClusterIngressSchema } from '../../src/domain/validation/multi-cluster-ingress-schema.ts'

const text = { type: 'string' }

/** What a review of an ingress must be. */
export const reviewSchema = {
  type: 'object',
  required: ['apiVersion', 'kind', 'request'],
  properties: {
    apiVersion: { const: 'admission.k8s.io/v1' },
    kind: { const: 'AdmissionReview' },
    request: {
      type: 'object',
      required: ['uid', 'kind', 'operation'],
      properties: {
        uid: text,
        kind: { type: 'object', required: ['kind'], properties: { group: text, version: text, kind: text } },
        namespace: text,
        name: text,
        operation: { enum: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] },
        userInfo: { type: 'object', properties: { username: text, groups: { type: 'array', items: text } } },
        object: multiClusterIngressSchema,
        dryRun: { type: 'boolean' },
      },
    },
  },
}
