import type { StructuralSchema } from '../schema/structural-schema.ts'
import type { SchemaValidator } from '../schema/validate-schema.ts'
import type { ApiObject } from './api-object.ts'
import type { FieldError } from './status-error.ts'
import type { NameRule } from './validate-metadata.ts'

/** One resource the API serves: a row of the built-in table, or what a CustomResourceDefinition asks for. */
export interface ResourceType {
  group: string
  plural: string
  kind: string
  listKind: string
  singular: string
  shortNames: string[]
  categories: string[]
  namespaced: boolean
  versions: VersionOfType[]
  verbs: string[]
  nameRule: NameRule
  /** Comes from a CRD: metadata is not changed through `/status`, updates need a resourceVersion. */
  custom: boolean
  /** Whether `metadata.generation` is kept, and which root fields count beside metadata and status. */
  generation: boolean
  /** A PUT may leave out the resourceVersion. */
  unconditionalUpdate: boolean
  /** DELETE answers with the last state and not with a Status. */
  returnsDeleted: boolean
  /** A kubelet registers its node with a status. */
  statusOnCreate: boolean
  /** Keys of lists that are merged item by item, by field name; for kinds without a complete schema. */
  mergeKeys: Readonly<Record<string, readonly string[]>>
  /** Fields a fieldSelector may name, beside metadata.name and metadata.namespace. */
  selectableFields: readonly string[]
  /** Defaults and allocations, after mutating admission. */
  prepare?: (object: ApiObject, old: ApiObject | undefined, allocate: Allocate) => ApiObject
  /** The same for a write to `/status`. */
  prepareStatus?: (object: ApiObject) => ApiObject
  /** A request that is only answered; nothing is stored. */
  answer?: (object: ApiObject, user: { username: string; groups?: string[] }) => ApiObject
  /** Rules a schema cannot say. */
  validate?: (object: ApiObject, old: ApiObject | undefined) => FieldError[]
}

/** One number after another, per purpose: addresses and ports of Services. */
export type Allocate = (purpose: string) => number

export interface VersionOfType {
  name: string
  served: boolean
  storage: boolean
  hasStatus: boolean
  schema: StructuralSchema
  validator: SchemaValidator
  hasDefaults: boolean
  /** Of a CRD's own `additionalPrinterColumns`. */
  columns: PrinterColumn[]
}

export interface PrinterColumn {
  name: string
  type: string
  format?: string
  description?: string
  priority?: number
  jsonPath: string
}

export function collectionOf(type: ResourceType): string {
  return `${type.plural}.${type.group}`
}

export function apiVersionOfType(type: ResourceType, version: string): string {
  return type.group === '' ? version : `${type.group}/${version}`
}

export function storageVersionOf(type: ResourceType): VersionOfType {
  const stored = type.versions.find((version) => version.storage) ?? type.versions[0]
  if (stored === undefined) throw new Error(`${type.plural}.${type.group} has no version`)
  return stored
}

/** Conversion strategy None: only the apiVersion differs. */
export function inVersion(object: ApiObject, type: ResourceType, version: string): ApiObject {
  const apiVersion = apiVersionOfType(type, version)
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion }
}
