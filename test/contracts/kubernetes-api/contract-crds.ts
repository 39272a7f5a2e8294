/** The group the contract works in. */
export const GROUP = 'contract.test'

const text = { type: 'string' }
const whole = { type: 'integer' }

const widgetSpec = {
  type: 'object',
  required: ['title'],
  properties: {
    title: { ...text, minLength: 1, maxLength: 20, pattern: '^[a-z]' },
    size: { ...whole, minimum: 0, maximum: 100, default: 1 },
    color: { ...text, enum: ['red', 'green', 'blue'] },
    nothing: { ...text, nullable: true },
    options: {
      type: 'object',
      properties: { enabled: { type: 'boolean', default: true }, level: whole },
    },
    tags: { type: 'array', maxItems: 3, items: text },
    labels: { type: 'object', additionalProperties: text },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    amount: { 'x-kubernetes-int-or-string': true },
    ports: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['port'],
      items: { type: 'object', required: ['port'], properties: { port: whole, name: text } },
    },
  },
}

const widgetStatus = {
  type: 'object',
  properties: {
    phase: text,
    conditions: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
      items: {
        type: 'object',
        required: ['type', 'status'],
        properties: {
          type: text,
          status: { ...text, enum: ['True', 'False', 'Unknown'] },
          reason: text,
          message: text,
        },
      },
    },
  },
}

function definition(kind: string, version: Record<string, unknown>, more: Record<string, unknown> = {}) {
  const singular = kind.toLowerCase()
  const versions = [{ name: 'v1', served: true, storage: true, ...version }]
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${singular}s.${GROUP}` },
    spec: {
      group: GROUP,
      names: { kind, listKind: `${kind}List`, plural: `${singular}s`, singular },
      scope: 'Namespaced',
      versions,
      ...more,
    },
  }
}

function schemaOf(properties: Record<string, unknown>) {
  return { openAPIV3Schema: { type: 'object', properties } }
}

const widgetVersion = {
  schema: schemaOf({ spec: widgetSpec, status: widgetStatus }),
  subresources: { status: {} },
  selectableFields: [{ jsonPath: '.spec.color' }],
  additionalPrinterColumns: [
    { name: 'Title', type: 'string', jsonPath: '.spec.title' },
    { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
}

const gearVersion = {
  schema: schemaOf({ spec: { type: 'object', properties: { size: whole } } }),
  subresources: { status: {} },
}

/** Kinds made for the checks: everything a schema can say that we rely on, and what a kind can do without. */
export const contractCrds = [
  definition('Widget', widgetVersion),
  // No status subresource.
  definition('Gizmo', {
    schema: schemaOf({
      spec: { type: 'object', properties: { size: whole } },
      status: { type: 'object', properties: { phase: text } },
    }),
  }),
  definition('Globe', gearVersion, { scope: 'Cluster' }),
  // Two versions, one of them stored.
  definition('Gear', gearVersion, {
    versions: [
      { name: 'v1', served: true, storage: true, ...gearVersion },
      { name: 'v1beta1', served: true, storage: false, ...gearVersion },
    ],
  }),
  // A rule in CEL.
  definition('Rule', {
    schema: schemaOf({
      spec: {
        type: 'object',
        properties: { size: whole },
        'x-kubernetes-validations': [{ rule: '!has(self.size) || self.size != 13', message: 'not 13' }],
      },
    }),
  }),
]
