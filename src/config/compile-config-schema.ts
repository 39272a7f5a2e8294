import { Ajv, type ValidateFunction } from 'ajv'
import { CONFIG_SCHEMA } from './config-schema.ts'

/**
 * The validator of the configuration file; it sets defaults. In a bundle it was compiled beforehand, and this module is
 * another.
 */
export function compileConfigSchema(): ValidateFunction {
  return configSchemaCompiler().compile(CONFIG_SCHEMA)
}

export function configSchemaCompiler(code: object = {}): Ajv {
  return new Ajv({ allErrors: true, useDefaults: true, strict: true, allowUnionTypes: true, ...code })
}
