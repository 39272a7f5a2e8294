import { Ajv, type ValidateFunction } from 'ajv'
import { SCHEMAS_DOCUMENT, SCHEMAS_ID, schemaReference } from '../../provider/protocol/protocol-schemas.ts'

/**
 * Compiles a schema of the protocol by its name when it is first used. In a bundle those that a client reads were compiled
 * beforehand, and this module is another.
 */
export function protocolSchemas(): (name: string) => ValidateFunction | undefined {
  let ajv: Ajv | undefined
  return (name) => {
    ajv ??= protocolCompiler()
    return ajv.getSchema(schemaReference(name)) as ValidateFunction | undefined
  }
}

export function protocolCompiler(code: object = {}): Ajv {
  const options = { strict: false, meta: false, validateSchema: false, ...code }
  return new Ajv(options).addSchema(SCHEMAS_DOCUMENT, SCHEMAS_ID)
}
