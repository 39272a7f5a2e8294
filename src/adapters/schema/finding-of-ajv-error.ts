import type { ErrorObject } from 'ajv'
import type { Finding } from '../../domain/finding.ts'
import { invalidLiteral, notSupported, required } from '../../domain/validation/field-errors.ts'
import { goQuote } from '../../domain/validation/go-quote.ts'

/** One fault in the words of the API server: k8s.io/kube-openapi/pkg/validation/errors, as apiextensions prints them. */
export function findingOfAjvError(error: ErrorObject): Finding {
  const field = fieldOf(error.instancePath)
  const { keyword, params, data } = error
  const schema: Readonly<Record<string, unknown>> = { ...error.parentSchema }
  switch (keyword) {
    case 'required':
      return required(field === '' ? params['missingProperty'] : `${field}.${params['missingProperty']}`)
    case 'type':
      return wrongType(field, schema['format'], schema['type'], data)
    case 'enum':
      return notSupported(field, literalOf(data), params['allowedValues'])
    case 'maxLength': {
      const message = `Too long: may not be more than ${params['limit']} bytes`
      return { field, reason: 'FieldValueTooLong', message }
    }
    case 'minLength':
      return inBody(field, data, `should be at least ${params['limit']} chars long`)
    case 'pattern':
      return inBody(field, data, `should match '${params['pattern']}'`)
    case 'minimum':
      return inBody(field, data, `should be greater than or equal to ${params['limit']}`)
    default:
      return wrongFormat(field, params['format'], data)
  }
}

/** `/spec/rules/0/host` → `spec.rules[0].host`. No field of ours has a name of digits. */
function fieldOf(pointer: string): string {
  return pointer
    .replace(/\/(\d+)/g, '[$1]')
    .replaceAll('/', '.')
    .replace(/^\./, '')
}

function inBody(field: string, data: unknown, detail: string): Finding {
  return invalidLiteral(field, literalOf(data), `${field} in body ${detail}`)
}

/**
 * The server names the type it found and shows it as if it were the value. For a field with a format it asks for
 * the format instead, and names Go's types, unless it found what cannot have one.
 */
function wrongType(field: string, format: unknown, type: unknown, data: unknown): Finding {
  const found = typeNameOf(data)
  const hasNoFormat = format === undefined || ['string', 'array', 'null'].includes(found)
  const [expected, shown] = hasNoFormat ? [type, found] : [format, GO_TYPES[found] ?? '']
  const quoted = goQuote(shown)
  const message = `Invalid value: ${quoted}: ${field} in body must be of type ${expected}: ${quoted}`
  return { field, reason: 'FieldValueTypeInvalid', message }
}

const GO_TYPES: Readonly<Record<string, string>> = { integer: 'int64', number: 'float64' }

function typeNameOf(data: unknown): string {
  if (data === null) return 'null'
  if (Array.isArray(data)) return 'array'
  if (typeof data !== 'number') return typeof data
  return Number.isInteger(data) && Math.abs(data) < 2 ** 63 ? 'integer' : 'number'
}

function wrongFormat(field: string, format: string, data: unknown): Finding {
  if (typeof data === 'string') {
    const quoted = goQuote(data)
    const message = `Invalid value: ${quoted}: ${field} in body must be of type ${format}: ${quoted}`
    return { field, reason: 'FieldValueTypeInvalid', message }
  }
  // An integer that is too large for any is a float to the server.
  if (typeNameOf(data) === 'number') return wrongType(field, format, 'integer', data)
  // The server gives no field for a number out of range; we do.
  return invalidLiteral(field, '""', `Checked value must be of type integer with format ${format} in ${field}`)
}

function literalOf(data: unknown): string {
  return typeof data === 'string' ? goQuote(data) : JSON.stringify(data)
}
