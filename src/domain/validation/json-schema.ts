/** As much of an OpenAPI v3 structural schema as the definitions of our kinds use; JSON, so it can be served as it is. */
export interface JsonSchema {
  readonly type: 'object' | 'array' | 'string' | 'integer'
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly format?: 'int32' | 'int64' | 'date-time'
  readonly enum?: readonly string[]
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'map'
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-map-type'?: 'atomic'
}
