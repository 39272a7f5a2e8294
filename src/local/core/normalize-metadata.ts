import type { ObjectMeta } from '../../domain/kubernetes-object.ts'
import type { ApiObject } from './api-object.ts'
import { isRecord, type JsonRecord } from './json.ts'
import { badRequest } from './status-error.ts'

type FieldType = 'string' | 'number' | 'texts' | 'map' | 'owners'

const FIELDS: Readonly<Record<keyof ObjectMeta, FieldType>> = {
  name: 'string',
  namespace: 'string',
  generateName: 'string',
  uid: 'string',
  resourceVersion: 'string',
  generation: 'number',
  creationTimestamp: 'string',
  deletionTimestamp: 'string',
  deletionGracePeriodSeconds: 'number',
  finalizers: 'texts',
  labels: 'map',
  annotations: 'map',
  ownerReferences: 'owners',
}

/** Known to the real server, and not kept here. */
const DROPPED = new Set(['managedFields', 'selfLink', 'clusterName'])

/**
 * The metadata as it comes back out of the real server's typed form: null and empty are absent,
 * unknown fields are gone (their paths are added to `unknown`), and a wrong type is a 400.
 */
export function normalizeMetadata(object: ApiObject, unknown: string[]): ApiObject {
  const given: unknown = object.metadata ?? {}
  if (!isRecord(given)) throw wrongType('metadata', 'object')
  const metadata: JsonRecord = {}
  for (const [field, value] of Object.entries(given)) {
    const type = Object.hasOwn(FIELDS, field) ? FIELDS[field as keyof ObjectMeta] : undefined
    if (type === undefined) {
      if (!DROPPED.has(field)) unknown.push(`metadata.${field}`)
    } else if (value !== null && value !== undefined) {
      checkType(`metadata.${field}`, value, type)
      if (!isEmpty(value)) metadata[field] = value
    }
  }
  return { ...object, metadata: metadata as unknown as ObjectMeta }
}

function isEmpty(value: unknown): boolean {
  if (value === '' || value === 0) return value === ''
  return Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0
}

function checkType(path: string, value: unknown, type: FieldType): void {
  if (type === 'string' || type === 'number') {
    const fits = type === 'string' ? typeof value === 'string' : typeof value === 'number'
    if (!fits) throw wrongType(path, type)
  } else if (type === 'map') {
    if (!isRecord(value)) throw wrongType(path, 'map')
    if (Object.values(value).some((item) => typeof item !== 'string')) throw wrongType(path, 'map of strings')
  } else {
    if (!Array.isArray(value)) throw wrongType(path, 'list')
    const fits = (item: unknown) => (type === 'texts' ? typeof item === 'string' : isRecord(item))
    if (!value.every(fits)) throw wrongType(path, type === 'texts' ? 'list of strings' : 'list of objects')
  }
}

function wrongType(path: string, type: string) {
  return badRequest(`unable to decode the object: ${path} must be a ${type}`)
}
