import type { ErrorObject } from 'ajv'
import type { ProtocolValidator } from '../../provider/protocol/protocol-validator.ts'
import { protocolSchemas } from './compile-protocol-schema.ts'

/** Each schema is compiled when it is first used. */
export function createProtocolValidator(): ProtocolValidator {
  const schemaOf = protocolSchemas()
  return (schema, value) => {
    const validate = schemaOf(schema)
    if (validate === undefined) throw new TypeError(`the protocol has no schema ${schema}`)
    if (validate(value) === true) return undefined
    const [first] = validate.errors ?? []
    return first === undefined ? 'is not what the protocol says' : describe(first)
  }
}

function describe({ instancePath, keyword, params, message = '' }: ErrorObject): string {
  const path = instancePath
    .slice(1)
    .replace(/\/(\d+)(?=\/|$)/g, '[$1]')
    .replaceAll('/', '.')
  const under = (name: string) => (path === '' ? name : `${path}.${name}`)
  if (keyword === 'required') return `${under(String(params['missingProperty']))}: is missing`
  if (keyword === 'additionalProperties') return `${under(shown(params['additionalProperty']))}: is no field here`
  if (keyword === 'const') return `${path}: must be ${JSON.stringify(params['allowedValue'])}`
  if (keyword === 'enum') return `${path}: must be one of ${(params['allowedValues'] as unknown[]).join(', ')}`
  return `${path === '' ? 'body' : path}: ${message}`
}

/** A name that somebody else chose. */
function shown(name: unknown): string {
  return JSON.stringify(String(name).slice(0, 60))
}
