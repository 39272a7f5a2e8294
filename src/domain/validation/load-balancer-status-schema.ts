import type { JsonSchema } from './json-schema.ts'

/** An optional DNS prefix and a slash, then a word: `Ready`, `foo.example.com/CamelCase`. */
export const QUALIFIED_WORD: JsonSchema = {
  type: 'string',
  maxLength: 316,
  pattern:
    '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
}

/** Since Karmada v1.12 each entry requires its error, so an entry for a port without one cannot be stored. */
const ports: JsonSchema = {
  type: 'array',
  items: {
    type: 'object',
    properties: {
      error: QUALIFIED_WORD,
      port: { type: 'integer', format: 'int32' },
      protocol: { type: 'string' },
    },
    required: ['error', 'port', 'protocol'],
  },
  'x-kubernetes-list-type': 'atomic',
}

/** `status.loadBalancer`; the entries of a Service know more fields than those of an Ingress. */
export function loadBalancerStatusSchema(more: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return {
    type: 'object',
    properties: {
      ingress: {
        type: 'array',
        items: {
          type: 'object',
          properties: { hostname: { type: 'string' }, ip: { type: 'string' }, ...more, ports },
        },
        'x-kubernetes-list-type': 'atomic',
      },
    },
  }
}
