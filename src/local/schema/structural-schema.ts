import type { JsonValue } from '../../domain/kubernetes-object.ts'

/** The part of OpenAPI v3 that apiextensions/v1 allows in a CRD ("structural schema"). */
export interface StructuralSchema {
  type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean'
  title?: string
  description?: string
  format?: string
  nullable?: boolean
  default?: JsonValue
  enum?: JsonValue[]
  properties?: { [name: string]: StructuralSchema }
  additionalProperties?: StructuralSchema | boolean
  items?: StructuralSchema
  required?: string[]
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  exclusiveMinimum?: boolean
  exclusiveMaximum?: boolean
  multipleOf?: number
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
  minProperties?: number
  maxProperties?: number
  allOf?: StructuralSchema[]
  anyOf?: StructuralSchema[]
  oneOf?: StructuralSchema[]
  not?: StructuralSchema
  'x-kubernetes-preserve-unknown-fields'?: boolean
  'x-kubernetes-embedded-resource'?: boolean
  'x-kubernetes-int-or-string'?: boolean
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map'
  'x-kubernetes-list-map-keys'?: string[]
  'x-kubernetes-map-type'?: 'atomic' | 'granular'
  'x-kubernetes-validations'?: { [key: string]: JsonValue }[]
}
