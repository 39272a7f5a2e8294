import type { ObjectMeta } from '../../domain/kubernetes-object.ts'
import type { ApiObject } from './api-object.ts'
import { jsonEqual } from './json.ts'
import type { FieldError } from './status-error.ts'

export type NameRule = 'subdomain' | 'label'

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const QUALIFIED_NAME = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/
const ANNOTATIONS_LIMIT = 256 * 1024

/** Names, labels, annotations, finalizers and owners of an object about to be stored. */
export function validateMetadata(object: ApiObject, rule: NameRule): FieldError[] {
  const { metadata } = object
  return [
    ...validateName(metadata.name, rule),
    ...validateLabels(metadata.labels ?? {}),
    ...validateAnnotations(metadata.annotations ?? {}),
    ...(metadata.finalizers ?? []).flatMap((name) => qualifiedName(name, 'metadata.finalizers')),
    ...validateOwners(metadata),
  ]
}

/** What an update must not do to metadata, beside what is quietly restored before. */
export function validateMetadataUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const errors: FieldError[] = []
  const immutable = (field: 'uid' | 'name' | 'namespace' | 'creationTimestamp' | 'deletionTimestamp') => {
    if (object.metadata[field] !== old.metadata[field]) {
      errors.push(invalidValue(`metadata.${field}`, object.metadata[field], 'field is immutable'))
    }
  }
  for (const field of ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp'] as const) immutable(field)
  if (old.metadata.deletionTimestamp !== undefined) {
    const before = new Set(old.metadata.finalizers)
    const added = (object.metadata.finalizers ?? []).filter((name) => !before.has(name))
    if (added.length > 0) {
      const found = added.map((name) => JSON.stringify(name)).join(', ')
      const why = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${found}}`
      errors.push({ field: 'metadata.finalizers', reason: 'FieldValueForbidden', message: `Forbidden: ${why}` })
    }
  }
  return errors
}

/** Advice on finalizers that could be mistaken for somebody else's. */
export function finalizerWarnings(object: ApiObject, old: ApiObject | undefined): string[] {
  if (jsonEqual(object.metadata.finalizers, old?.metadata.finalizers)) return []
  return (object.metadata.finalizers ?? [])
    .filter((name) => !name.includes('/'))
    .map(
      (name) =>
        `metadata.finalizers: "${name}": prefer a domain-qualified finalizer name${name.includes('.') ? ' including a path (/)' : ''} to avoid accidental conflicts with other finalizer writers`,
    )
}

function validateName(name: string | undefined, rule: NameRule): FieldError[] {
  const field = 'metadata.name'
  if (name === undefined || name === '') {
    return [{ field, reason: 'FieldValueRequired', message: 'Required value: name or generateName is required' }]
  }
  if (rule === 'subdomain') {
    if (name.length > 253) return [invalidValue(field, name, 'must be no more than 253 characters')]
    const why = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`
    return SUBDOMAIN.test(name) ? [] : [invalidValue(field, name, why)]
  }
  if (name.includes('.')) return [invalidValue(field, name, 'must not contain dots')]
  if (name.length > 63) return [invalidValue(field, name, 'must be no more than 63 bytes')]
  const why = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`
  return LABEL.test(name) ? [] : [invalidValue(field, name, why)]
}

function validateLabels(labels: Record<string, string>): FieldError[] {
  return Object.entries(labels).flatMap(([key, value]) => {
    const errors = qualifiedName(key, 'metadata.labels')
    if (value.length > 63) errors.push(invalidValue('metadata.labels', value, 'must be no more than 63 bytes'))
    if (!LABEL_VALUE.test(value)) {
      const why = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`
      errors.push(invalidValue('metadata.labels', value, why))
    }
    return errors
  })
}

function validateAnnotations(annotations: Record<string, string>): FieldError[] {
  let size = 0
  const errors = Object.entries(annotations).flatMap(([key, value]) => {
    size += Buffer.byteLength(key) + Buffer.byteLength(value)
    return qualifiedName(key.toLowerCase(), 'metadata.annotations')
  })
  if (size > ANNOTATIONS_LIMIT) {
    const message = `Too long: may not be more than ${ANNOTATIONS_LIMIT} bytes`
    errors.push({ field: 'metadata.annotations', reason: 'FieldValueTooLong', message })
  }
  return errors
}

function qualifiedName(key: string, field: string): FieldError[] {
  const [first = '', second, ...rest] = key.split('/')
  const name = second ?? first
  const errors: FieldError[] = []
  const example = `(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`
  if (rest.length > 0) {
    const why = `a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character ${example} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`
    return [invalidValue(field, key, why)]
  }
  if (second !== undefined && !SUBDOMAIN.test(first)) {
    errors.push(invalidValue(field, key, 'prefix part must be a lowercase RFC 1123 subdomain'))
  }
  if (name === '') errors.push(invalidValue(field, key, 'name part must be non-empty'))
  else if (name.length > 63) errors.push(invalidValue(field, key, 'name part must be no more than 63 bytes'))
  if (!QUALIFIED_NAME.test(name)) {
    const why = `name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character ${example}`
    errors.push(invalidValue(field, key, why))
  }
  return errors
}

function validateOwners(metadata: ObjectMeta): FieldError[] {
  return (metadata.ownerReferences ?? []).flatMap((owner) =>
    (['apiVersion', 'kind', 'name', 'uid'] as const)
      .filter((part) => !owner[part])
      .map((part) => invalidValue(`metadata.ownerReferences.${part}`, '', 'must not be empty')),
  )
}

function invalidValue(field: string, value: unknown, why: string): FieldError {
  const shown = value === undefined ? '""' : JSON.stringify(value)
  return { field, reason: 'FieldValueInvalid', message: `Invalid value: ${shown}: ${why}` }
}
