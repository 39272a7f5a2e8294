import { Ajv, type ValidateFunction } from 'ajv'
import { multiClusterIngressSchema } from '../../domain/validation/multi-cluster-ingress-schema.ts'
import { multiClusterServiceSchema } from '../../domain/validation/multi-cluster-service-schema.ts'
import { FORMATS } from './formats.ts'

export const SCHEMAS = {
  MultiClusterIngress: multiClusterIngressSchema,
  MultiClusterService: multiClusterServiceSchema,
}

/** The validator of a kind's definition. In a bundle it was compiled beforehand, and this module is another. */
export function compileSchema(kind: keyof typeof SCHEMAS): ValidateFunction {
  return schemaCompiler().compile({ ...SCHEMAS[kind] })
}

export function schemaCompiler(code: object = {}): Ajv {
  // Ours is no JSON Schema document to be checked against the meta-schema: its type says what it may contain.
  const options = { allErrors: true, verbose: true, meta: false, validateSchema: false, formats: FORMATS }
  const ajv = new Ajv({ ...options, ...code })
  ajv.addVocabulary(['x-kubernetes-list-type', 'x-kubernetes-list-map-keys', 'x-kubernetes-map-type'])
  return ajv
}
