import type { JsonSchema } from './json-schema.ts'
import { loadBalancerStatusSchema, QUALIFIED_WORD } from './load-balancer-status-schema.ts'

const text: JsonSchema = { type: 'string' }
const texts: JsonSchema = { type: 'array', items: text }

const clusters: JsonSchema = {
  type: 'array',
  items: { type: 'object', properties: { name: text }, required: ['name'] },
}

const spec: JsonSchema = {
  type: 'object',
  properties: {
    types: texts,
    ports: {
      type: 'array',
      items: {
        type: 'object',
        properties: { name: text, port: { type: 'integer', format: 'int32' } },
        required: ['port'],
      },
    },
    providerClusters: clusters,
    consumerClusters: clusters,
    // The three that the two above took over from. Karmada stores them and looks at none.
    range: { type: 'object', properties: { clusterNames: texts } },
    serviceProvisionClusters: texts,
    serviceConsumptionClusters: texts,
  },
  required: ['types'],
}

const condition: JsonSchema = {
  type: 'object',
  properties: {
    type: QUALIFIED_WORD,
    status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
    reason: {
      type: 'string',
      minLength: 1,
      maxLength: 1024,
      pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
    },
    message: { type: 'string', maxLength: 32768 },
    lastTransitionTime: { type: 'string', format: 'date-time' },
    observedGeneration: { type: 'integer', format: 'int64', minimum: 0 },
  },
  required: ['lastTransitionTime', 'message', 'reason', 'status', 'type'],
}

const status: JsonSchema = {
  type: 'object',
  properties: {
    loadBalancer: loadBalancerStatusSchema({ ipMode: text }),
    conditions: {
      type: 'array',
      items: condition,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    },
  },
}

/** The `openAPIV3Schema` of multiclusterservices.networking.karmada.io, v1alpha1. */
export const multiClusterServiceSchema: JsonSchema = {
  type: 'object',
  properties: { apiVersion: text, kind: text, metadata: { type: 'object' }, spec, status },
  required: ['spec'],
}
