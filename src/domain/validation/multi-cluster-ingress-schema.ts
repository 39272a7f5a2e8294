import type { JsonSchema } from './json-schema.ts'
import { loadBalancerStatusSchema } from './load-balancer-status-schema.ts'

const text: JsonSchema = { type: 'string' }
const texts: JsonSchema = { type: 'array', items: text }
const atomicTexts: JsonSchema = { ...texts, 'x-kubernetes-list-type': 'atomic' }

const backend: JsonSchema = {
  type: 'object',
  properties: {
    service: {
      type: 'object',
      properties: {
        name: text,
        port: {
          type: 'object',
          properties: { name: text, number: { type: 'integer', format: 'int32' } },
          'x-kubernetes-map-type': 'atomic',
        },
      },
      required: ['name'],
    },
    resource: {
      type: 'object',
      properties: { apiGroup: text, kind: text, name: text },
      required: ['kind', 'name'],
      'x-kubernetes-map-type': 'atomic',
    },
  },
}

const path: JsonSchema = {
  type: 'object',
  properties: { path: text, pathType: text, backend },
  required: ['backend', 'pathType'],
}

const rule: JsonSchema = {
  type: 'object',
  properties: {
    host: text,
    http: {
      type: 'object',
      properties: { paths: { type: 'array', items: path, 'x-kubernetes-list-type': 'atomic' } },
      required: ['paths'],
    },
  },
}

const tls: JsonSchema = { type: 'object', properties: { hosts: atomicTexts, secretName: text } }

const spec: JsonSchema = {
  type: 'object',
  properties: {
    ingressClassName: text,
    defaultBackend: backend,
    rules: { type: 'array', items: rule, 'x-kubernetes-list-type': 'atomic' },
    tls: { type: 'array', items: tls, 'x-kubernetes-list-type': 'atomic' },
  },
}

const status: JsonSchema = {
  type: 'object',
  properties: {
    loadBalancer: loadBalancerStatusSchema({}),
    serviceLocations: {
      type: 'array',
      items: { type: 'object', properties: { name: text, clusters: texts }, required: ['name'] },
    },
    trafficBlockClusters: texts,
  },
}

/** The `openAPIV3Schema` of multiclusteringresses.networking.karmada.io, v1alpha1. It requires no field at the top. */
export const multiClusterIngressSchema: JsonSchema = {
  type: 'object',
  properties: { apiVersion: text, kind: text, metadata: { type: 'object' }, spec, status },
}
