import { isDeepStrictEqual } from 'node:util'

/** A schema of JSON Schema, of which `interpretSchema` knows the keywords below. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** As ajv tells it. */
export interface SchemaFault {
  /** A JSON pointer; empty for the whole value. */
  instancePath: string
  keyword: string
  params: Record<string, unknown>
  message: string
}

export interface Interpretation {
  /** Finds what `$ref` names. */
  resolve?: (reference: string) => JsonSchema
  /** Sets `default` where a property is absent, in the value itself. */
  setsDefaults?: boolean
}

/**
 * All that is wrong with a value, in ajv's words and order; a test compares the two. Ajv itself compiles schemas, which costs
 * a cold start more than all our schemas are worth, and what it compiles of ours is larger than this by a hundred kilobytes.
 */
export function interpretSchema(schema: JsonSchema, value: unknown, options: Interpretation = {}): SchemaFault[] {
  return faultsAt('', schema, value, options)
}

function faultsAt(path: string, schema: JsonSchema, value: unknown, options: Interpretation): SchemaFault[] {
  const { $ref, type } = schema
  if (typeof $ref === 'string') {
    if (options.resolve === undefined) throw new TypeError(`nobody resolves ${$ref}`)
    return faultsAt(path, options.resolve($ref), value, options)
  }
  const fault = (keyword: string, params: SchemaFault['params'], message: string): SchemaFault => ({
    instancePath: path,
    keyword,
    params,
    message,
  })
  const found: SchemaFault[] = []
  if (typeof type === 'string' && !isOfType(type, value)) {
    found.push(fault('type', { type }, `must be ${type}`))
    // What is no integer is a number all the same, and may be too large for one as well.
    if (type !== 'integer' || !isOfType('number', value)) return found
  }
  const rules = {
    path,
    schema,
    options,
    found,
    tell: (...told: Parameters<typeof fault>) => found.push(fault(...told)),
  }
  if (typeof value === 'number') numberFaults(value, rules)
  if (typeof value === 'string') textFaults(value, rules)
  choiceFaults(value, rules)
  if (Array.isArray(value)) listFaults(value, rules)
  if (isOfType('object', value)) objectFaults(value as Record<string, unknown>, rules)
  return found
}

interface Rules {
  path: string
  schema: JsonSchema
  options: Interpretation
  found: SchemaFault[]
  tell(keyword: string, params: SchemaFault['params'], message: string): void
}

function isOfType(type: string, value: unknown): boolean {
  switch (type) {
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    case 'array':
      return Array.isArray(value)
    case 'null':
      return value === null
    case 'integer':
      return Number.isInteger(value)
    case 'number':
      return Number.isFinite(value)
    case 'string':
    case 'boolean':
      return typeof value === type
    default:
      throw new TypeError(`no type of JSON: ${type}`)
  }
}

const COMPARISONS = [
  ['maximum', '<=', (value: number, limit: number) => value <= limit],
  ['minimum', '>=', (value: number, limit: number) => value >= limit],
  ['exclusiveMinimum', '>', (value: number, limit: number) => value > limit],
] as const

function numberFaults(value: number, { schema, tell }: Rules): void {
  for (const [keyword, comparison, holds] of COMPARISONS) {
    const limit = schema[keyword]
    if (typeof limit === 'number' && !holds(value, limit)) {
      tell(keyword, { comparison, limit }, `must be ${comparison} ${limit}`)
    }
  }
}

function textFaults(value: string, { schema, tell }: Rules): void {
  const { maxLength, minLength, pattern } = schema
  const tooLong = typeof maxLength === 'number' && value.length > maxLength && [...value].length > maxLength
  if (tooLong) tell('maxLength', { limit: maxLength }, `must NOT have more than ${maxLength} characters`)
  if (typeof minLength === 'number' && [...value].length < minLength) {
    tell('minLength', { limit: minLength }, `must NOT have fewer than ${minLength} characters`)
  }
  if (typeof pattern === 'string' && !new RegExp(pattern, 'u').test(value)) {
    tell('pattern', { pattern }, `must match pattern "${pattern}"`)
  }
}

function choiceFaults(value: unknown, { path, schema, options, found, tell }: Rules): void {
  const { enum: allowedValues, anyOf } = schema
  if (Object.hasOwn(schema, 'const') && value !== schema['const']) {
    tell('const', { allowedValue: schema['const'] }, 'must be equal to constant')
  }
  if (Array.isArray(allowedValues) && !allowedValues.includes(value)) {
    tell('enum', { allowedValues }, 'must be equal to one of the allowed values')
  }
  if (!Array.isArray(anyOf)) return
  const branches = anyOf.map((branch: JsonSchema) => faultsAt(path, branch, value, { ...options, setsDefaults: false }))
  if (branches.some((faults) => faults.length === 0)) return
  found.push(...branches.flat())
  tell('anyOf', {}, 'must match a schema in anyOf')
}

/** Of what a schema holds, which is JSON. */
function copied(value: unknown): unknown {
  return typeof value === 'object' ? JSON.parse(JSON.stringify(value)) : value
}

function listFaults(value: unknown[], { path, schema, options, found, tell }: Rules): void {
  const { maxItems, minItems, uniqueItems, items } = schema
  if (typeof maxItems === 'number' && value.length > maxItems) {
    tell('maxItems', { limit: maxItems }, `must NOT have more than ${maxItems} items`)
  }
  if (typeof minItems === 'number' && value.length < minItems) {
    tell('minItems', { limit: minItems }, `must NOT have fewer than ${minItems} items`)
  }
  if (items !== undefined) {
    value.forEach((item, index) => {
      found.push(...faultsAt(`${path}/${index}`, items as JsonSchema, item, options))
    })
  }
  const [i, j] = (uniqueItems === true && repeated(value, items as JsonSchema | undefined)) || []
  if (i === undefined) return
  tell('uniqueItems', { i, j }, `must NOT have duplicate items (items ## ${j} and ${i} are identical)`)
}

/** Which two. Ajv looks from the end, and where it knows that they are scalars at each item once. */
function repeated(list: unknown[], { type }: JsonSchema = {}): [number, number] | undefined {
  const counts = (item: unknown) => typeof type !== 'string' || isOfType(type, item)
  const same = (one: number, other: number) => counts(list[one]) && isDeepStrictEqual(list[one], list[other])
  for (let i = list.length - 1; i >= 0; i -= 1) {
    const j = list.findLastIndex((_, index) => (type === undefined ? index < i : index > i) && same(i, index))
    if (j >= 0) return [i, j]
  }
  return undefined
}

function objectFaults(value: Record<string, unknown>, { path, schema, options, found, tell }: Rules): void {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>)
  const { required = [], additionalProperties } = schema as { required?: string[]; additionalProperties?: unknown }
  if (options.setsDefaults) {
    for (const [name, property] of properties) {
      if (value[name] === undefined && 'default' in property) value[name] = copied(property['default'])
    }
  }
  const under = (name: string) => `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
  for (const missingProperty of required) {
    if (value[missingProperty] !== undefined) continue
    tell('required', { missingProperty }, `must have required property '${missingProperty}'`)
  }
  const known = new Set(properties.map(([name]) => name))
  for (const name of Object.keys(value).filter((each) => additionalProperties !== undefined && !known.has(each))) {
    if (additionalProperties === false) {
      tell('additionalProperties', { additionalProperty: name }, 'must NOT have additional properties')
    } else found.push(...faultsAt(under(name), additionalProperties as JsonSchema, value[name], options))
  }
  for (const [name, property] of properties) {
    if (value[name] !== undefined) found.push(...faultsAt(under(name), property, value[name], options))
  }
}
