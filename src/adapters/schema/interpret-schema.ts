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
  const found: SchemaFault[] = []
  look(value, { path: '', schema, options, found })
  return found
}

/** One value, the schema that it is held against, and all that was found so far. */
interface Place {
  /** A JSON pointer. */
  path: string
  schema: JsonSchema
  options: Interpretation
  found: SchemaFault[]
}

function look(value: unknown, place: Place): void {
  const { $ref, type } = place.schema
  if (typeof $ref === 'string') {
    const { resolve } = place.options
    if (resolve === undefined) throw new TypeError(`nobody resolves ${$ref}`)
    look(value, { ...place, schema: resolve($ref) })
    return
  }
  if (typeof type === 'string' && !isOfType(type, value)) {
    tell(place, 'type', { type }, `must be ${type}`)
    // What is no integer is a number all the same, and may be too large for one as well.
    if (type !== 'integer' || !isOfType('number', value)) return
  }
  if (typeof value === 'number') numberFaults(value, place)
  if (typeof value === 'string') textFaults(value, place)
  choiceFaults(value, place)
  if (Array.isArray(value)) listFaults(value, place)
  if (isOfType('object', value)) objectFaults(value as Record<string, unknown>, place)
}

function tell({ path, found }: Place, keyword: string, params: SchemaFault['params'], message: string): void {
  found.push({ instancePath: path, keyword, params, message })
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

function numberFaults(value: number, place: Place): void {
  for (const [keyword, comparison, holds] of COMPARISONS) {
    const limit = place.schema[keyword]
    if (typeof limit === 'number' && !holds(value, limit)) {
      tell(place, keyword, { comparison, limit }, `must be ${comparison} ${limit}`)
    }
  }
}

function textFaults(value: string, place: Place): void {
  const { maxLength, minLength, pattern } = place.schema
  const tooLong = typeof maxLength === 'number' && value.length > maxLength && [...value].length > maxLength
  if (tooLong) tell(place, 'maxLength', { limit: maxLength }, `must NOT have more than ${maxLength} characters`)
  if (typeof minLength === 'number' && [...value].length < minLength) {
    tell(place, 'minLength', { limit: minLength }, `must NOT have fewer than ${minLength} characters`)
  }
  if (typeof pattern === 'string' && !new RegExp(pattern, 'u').test(value)) {
    tell(place, 'pattern', { pattern }, `must match pattern "${pattern}"`)
  }
}

function choiceFaults(value: unknown, place: Place): void {
  const { schema, options, found } = place
  const { enum: allowedValues, anyOf } = schema
  if (Object.hasOwn(schema, 'const') && value !== schema['const']) {
    tell(place, 'const', { allowedValue: schema['const'] }, 'must be equal to constant')
  }
  if (Array.isArray(allowedValues) && !allowedValues.includes(value)) {
    tell(place, 'enum', { allowedValues }, 'must be equal to one of the allowed values')
  }
  if (!Array.isArray(anyOf)) return
  const branches = anyOf.map((branch: JsonSchema): SchemaFault[] => {
    const ofBranch: SchemaFault[] = []
    look(value, { ...place, schema: branch, options: { ...options, setsDefaults: false }, found: ofBranch })
    return ofBranch
  })
  if (branches.some((faults) => faults.length === 0)) return
  found.push(...branches.flat())
  tell(place, 'anyOf', {}, 'must match a schema in anyOf')
}

/** Of what a schema holds, which is JSON. */
function copied(value: unknown): unknown {
  return typeof value === 'object' ? JSON.parse(JSON.stringify(value)) : value
}

function listFaults(value: unknown[], place: Place): void {
  const { maxItems, minItems, uniqueItems, items } = place.schema
  if (typeof maxItems === 'number' && value.length > maxItems) {
    tell(place, 'maxItems', { limit: maxItems }, `must NOT have more than ${maxItems} items`)
  }
  if (typeof minItems === 'number' && value.length < minItems) {
    tell(place, 'minItems', { limit: minItems }, `must NOT have fewer than ${minItems} items`)
  }
  if (items !== undefined) {
    value.forEach((item, index) => {
      look(item, { ...place, path: `${place.path}/${index}`, schema: items as JsonSchema })
    })
  }
  const [i, j] = (uniqueItems === true && repeated(value, items as JsonSchema | undefined)) || []
  if (i === undefined) return
  tell(place, 'uniqueItems', { i, j }, `must NOT have duplicate items (items ## ${j} and ${i} are identical)`)
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

function objectFaults(value: Record<string, unknown>, place: Place): void {
  const { schema, options } = place
  const properties = (schema['properties'] ?? {}) as Record<string, JsonSchema>
  const names = Object.keys(properties)
  const { required = [], additionalProperties } = schema as { required?: string[]; additionalProperties?: unknown }
  if (options.setsDefaults) {
    for (const name of names) {
      const property = properties[name] ?? {}
      if (value[name] === undefined && 'default' in property) value[name] = copied(property['default'])
    }
  }
  for (const missingProperty of required) {
    if (value[missingProperty] !== undefined) continue
    tell(place, 'required', { missingProperty }, `must have required property '${missingProperty}'`)
  }
  if (additionalProperties !== undefined) {
    for (const name of Object.keys(value).filter((each) => !Object.hasOwn(properties, each))) {
      if (additionalProperties === false) {
        tell(place, 'additionalProperties', { additionalProperty: name }, 'must NOT have additional properties')
      } else lookUnder(name, value, additionalProperties as JsonSchema, place)
    }
  }
  for (const name of names) if (value[name] !== undefined) lookUnder(name, value, properties[name] ?? {}, place)
}

function lookUnder(name: string, value: Record<string, unknown>, schema: JsonSchema, place: Place): void {
  const segment = /[~/]/.test(name) ? name.replaceAll('~', '~0').replaceAll('/', '~1') : name
  look(value[name], { path: `${place.path}/${segment}`, schema, options: place.options, found: place.found })
}
