import { schemaOf } from '../../provider/protocol/protocol-schemas.ts'
import type { ProtocolValidator } from '../../provider/protocol/protocol-validator.ts'
import { interpretSchema, type SchemaFault } from './interpret-schema.ts'

export function createProtocolValidator(): ProtocolValidator {
  return (schema, value) => {
    const [first] = interpretSchema(schemaOf(schema), value, { resolve: schemaOf })
    return first && describe(first)
  }
}

function describe({ instancePath, keyword, params, message }: SchemaFault): string {
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
