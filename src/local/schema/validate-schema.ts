import { isRecord, type JsonRecord, jsonEqual } from '../core/json.ts'
import type { FieldError } from '../core/status-error.ts'
import type { StructuralSchema } from './structural-schema.ts'

/** Says what is wrong with an object, in the words of the API server's own validation. CEL rules are not evaluated. */
export type SchemaValidator = (object: unknown) => FieldError[]

export function createSchemaValidator(schema: StructuralSchema): SchemaValidator {
  const patterns = new Map<string, RegExp>()
  const run: Run = {
    errors: [],
    pattern(source) {
      let compiled = patterns.get(source)
      if (compiled === undefined) {
        compiled = new RegExp(source)
        patterns.set(source, compiled)
      }
      return compiled
    },
  }
  return (object) => {
    const errors: FieldError[] = []
    validate(object, schema, '', { ...run, errors })
    return errors
  }
}

interface Run {
  errors: FieldError[]
  pattern(source: string): RegExp
}

function validate(value: unknown, schema: StructuralSchema, path: string, run: Run): void {
  if (value === null && schema.nullable === true) return
  if (!hasRightType(value, schema)) {
    const actual = JSON.stringify(typeName(value))
    const wanted = schema['x-kubernetes-int-or-string'] === true ? 'integer,string' : schema.type
    const message = `Invalid value: ${actual}: ${path} in body must be of type ${wanted}: ${actual}`
    run.errors.push({ field: path, reason: 'FieldValueTypeInvalid', message })
    return
  }
  validateEnum(value, schema, path, run)
  if (typeof value === 'string') validateText(value, schema, path, run)
  else if (typeof value === 'number') validateNumber(value, schema, path, run)
  else if (Array.isArray(value)) validateList(value, schema, path, run)
  else if (isRecord(value)) validateRecord(value, schema, path, run)
  validateCombinations(value, schema, path, run)
}

function typeName(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

function hasRightType(value: unknown, schema: StructuralSchema): boolean {
  const actual = typeName(value)
  if (schema['x-kubernetes-int-or-string'] === true) return actual === 'integer' || actual === 'string'
  if (schema.type === undefined) return value !== null || schema['x-kubernetes-preserve-unknown-fields'] === true
  return actual === schema.type || (schema.type === 'number' && actual === 'integer')
}

function fail(run: Run, path: string, value: unknown, text: string): void {
  const message = `Invalid value: ${JSON.stringify(value)}: ${path} in body ${text}`
  run.errors.push({ field: path, reason: 'FieldValueInvalid', message })
}

function validateEnum(value: unknown, schema: StructuralSchema, path: string, run: Run): void {
  if (schema.enum === undefined || schema.enum.some((allowed) => jsonEqual(allowed, value))) return
  const supported = schema.enum.map((allowed) => JSON.stringify(allowed)).join(', ')
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported}`
  run.errors.push({ field: path, reason: 'FieldValueNotSupported', message })
}

function validateText(value: string, schema: StructuralSchema, path: string, run: Run): void {
  const length = [...value].length
  if (schema.maxLength !== undefined && length > schema.maxLength) {
    const message = `Too long: may not be more than ${schema.maxLength} bytes`
    run.errors.push({ field: path, reason: 'FieldValueTooLong', message })
  } else if (schema.minLength !== undefined && length < schema.minLength) {
    fail(run, path, value, `should be at least ${schema.minLength} chars long`)
  } else if (schema.pattern !== undefined && !run.pattern(schema.pattern).test(value)) {
    fail(run, path, value, `should match '${schema.pattern}'`)
  }
  if (schema.format !== undefined && !matchesFormat(value, schema.format)) {
    const message = `Invalid value: ${JSON.stringify(value)}: ${path} in body must be of type ${schema.format}: ${JSON.stringify(value)}`
    run.errors.push({ field: path, reason: 'FieldValueTypeInvalid', message })
  }
}

const DATE_TIME = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/

function matchesFormat(value: string, format: string): boolean {
  return format !== 'date-time' || (DATE_TIME.test(value) && !Number.isNaN(Date.parse(value)))
}

function validateNumber(value: number, schema: StructuralSchema, path: string, run: Run): void {
  const { minimum, maximum } = schema
  if (minimum !== undefined && (value < minimum || (schema.exclusiveMinimum === true && value === minimum))) {
    fail(run, path, value, `should be greater than ${schema.exclusiveMinimum ? '' : 'or equal to '}${minimum}`)
  }
  if (maximum !== undefined && (value > maximum || (schema.exclusiveMaximum === true && value === maximum))) {
    fail(run, path, value, `should be less than ${schema.exclusiveMaximum ? '' : 'or equal to '}${maximum}`)
  }
  if (schema.multipleOf !== undefined && value % schema.multipleOf !== 0) {
    fail(run, path, value, `should be a multiple of ${schema.multipleOf}`)
  }
  if (schema.format === 'int32' && (value > 2 ** 31 - 1 || value < -(2 ** 31))) {
    const message = `Invalid value: ${value}: Checked value must be of type integer with format int32`
    run.errors.push({ field: path, reason: 'FieldValueInvalid', message })
  }
}

function validateList(value: unknown[], schema: StructuralSchema, path: string, run: Run): void {
  if (schema.maxItems !== undefined && value.length > schema.maxItems) {
    const message = `Too many: ${value.length}: must have at most ${schema.maxItems} items`
    run.errors.push({ field: path, reason: 'FieldValueTooMany', message })
  }
  if (schema.minItems !== undefined && value.length < schema.minItems) {
    fail(run, path, value, `should have at least ${schema.minItems} items`)
  }
  const { items } = schema
  if (items !== undefined) {
    for (const [index, item] of value.entries()) validate(item, items, `${path}[${index}]`, run)
  }
  validateUniqueness(value, schema, path, run)
}

/** Lists of type `set` and `map` hold no two items of the same value or key. */
function validateUniqueness(value: unknown[], schema: StructuralSchema, path: string, run: Run): void {
  const type = schema['x-kubernetes-list-type']
  if (type !== 'set' && type !== 'map') return
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const seen = new Set<string>()
  for (const [index, item] of value.entries()) {
    const identity = JSON.stringify(type === 'set' || !isRecord(item) ? item : pick(item, keys))
    if (seen.has(identity)) {
      const message = `Duplicate value: ${identity}`
      run.errors.push({ field: `${path}[${index}]`, reason: 'FieldValueDuplicate', message })
    }
    seen.add(identity)
  }
}

function pick(item: JsonRecord, keys: string[]): JsonRecord {
  return Object.fromEntries(keys.map((key) => [key, item[key]]))
}

function validateRecord(value: JsonRecord, schema: StructuralSchema, path: string, run: Run): void {
  for (const name of schema.required ?? []) {
    if (value[name] === undefined) {
      run.errors.push({ field: join(path, name), reason: 'FieldValueRequired', message: 'Required value' })
    }
  }
  const size = Object.keys(value).length
  if (schema.maxProperties !== undefined && size > schema.maxProperties) {
    fail(run, path, value, `should have at most ${schema.maxProperties} properties`)
  }
  if (schema.minProperties !== undefined && size < schema.minProperties) {
    fail(run, path, value, `should have at least ${schema.minProperties} properties`)
  }
  const others = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined
  for (const [name, item] of Object.entries(value)) {
    const known = schema.properties?.[name] ?? others
    if (known !== undefined && item !== undefined) validate(item, known, join(path, name), run)
  }
}

function validateCombinations(value: unknown, schema: StructuralSchema, path: string, run: Run): void {
  if (schema['x-kubernetes-int-or-string'] === true) return
  const passes = (candidate: StructuralSchema) => {
    const errors: FieldError[] = []
    validate(value, { ...candidate, ...(candidate.type === undefined ? typeOf(schema) : {}) }, path, { ...run, errors })
    return errors.length === 0
  }
  for (const part of schema.allOf ?? []) validate(value, { ...typeOf(schema), ...part }, path, run)
  if (schema.anyOf !== undefined && !schema.anyOf.some(passes)) {
    fail(run, path, value, 'must validate at least one schema (anyOf)')
  }
  if (schema.oneOf !== undefined && schema.oneOf.filter(passes).length !== 1) {
    fail(run, path, value, 'must validate one and only one schema (oneOf)')
  }
  if (schema.not !== undefined && passes(schema.not)) fail(run, path, value, 'must not validate the schema (not)')
}

function typeOf(schema: StructuralSchema): StructuralSchema {
  return schema.type === undefined ? {} : { type: schema.type }
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}
