import type { StructuralSchema } from './structural-schema.ts'

type Extra = Omit<StructuralSchema, 'type'>

/** Short forms, so that a schema reads like the object it describes. */
export function text(description?: string, extra: Extra = {}): StructuralSchema {
  return { type: 'string', ...described(description), ...extra }
}

export function oneOfTexts(values: string[], description?: string, extra: Extra = {}): StructuralSchema {
  return { type: 'string', ...described(description), enum: values, ...extra }
}

export function integer(format: 'int32' | 'int64', description?: string, extra: Extra = {}): StructuralSchema {
  return { type: 'integer', format, ...described(description), ...extra }
}

export function flag(description?: string, extra: Extra = {}): StructuralSchema {
  return { type: 'boolean', ...described(description), ...extra }
}

export function timestamp(description?: string): StructuralSchema {
  return { type: 'string', format: 'date-time', ...described(description) }
}

export function list(items: StructuralSchema, description?: string, extra: Extra = {}): StructuralSchema {
  return { type: 'array', ...described(description), items, ...extra }
}

export function atomicList(items: StructuralSchema, description?: string, extra: Extra = {}): StructuralSchema {
  return list(items, description, { 'x-kubernetes-list-type': 'atomic', ...extra })
}

export function keyedList(
  keys: string[],
  items: StructuralSchema,
  description?: string,
  extra: Extra = {},
): StructuralSchema {
  return list(items, description, {
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': keys,
    ...extra,
  })
}

export function mapOf(values: StructuralSchema, description?: string, extra: Extra = {}): StructuralSchema {
  return { type: 'object', ...described(description), additionalProperties: values, ...extra }
}

/** An object. Names that end in `!` are required: `{ 'name!': text() }`. */
export function object(
  fields: { [name: string]: StructuralSchema },
  description?: string,
  extra: Extra = {},
): StructuralSchema {
  const properties: { [name: string]: StructuralSchema } = {}
  const required: string[] = []
  for (const [name, schema] of Object.entries(fields)) {
    const plain = name.endsWith('!') ? name.slice(0, -1) : name
    properties[plain] = schema
    if (plain !== name) required.push(plain)
  }
  return {
    type: 'object',
    ...described(description),
    properties,
    ...(required.length > 0 ? { required } : {}),
    ...extra,
  }
}

/** Any content, kept as it is. */
export function anything(description?: string): StructuralSchema {
  return { type: 'object', ...described(description), 'x-kubernetes-preserve-unknown-fields': true }
}

/** The root of a kind: the three fields every object has, and its own. */
export function kindSchema(
  fields: { [name: string]: StructuralSchema },
  description: string,
  extra: Extra = {},
): StructuralSchema {
  return object(
    {
      apiVersion: text('Group and version of the API in which this object is written.'),
      kind: text('The name of the type of this object.'),
      metadata: { type: 'object' },
      ...fields,
    },
    description,
    extra,
  )
}

function described(description: string | undefined): Extra {
  return description === undefined ? {} : { description }
}
