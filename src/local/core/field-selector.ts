import type { ApiObject } from './api-object.ts'
import { isRecord } from './json.ts'
import type { ResourceType } from './resource-type.ts'
import { badRequest } from './status-error.ts'

export type FieldSelector = (object: ApiObject) => boolean

/** `metadata.name=web,status.phase!=Running`; only fields the resource offers. */
export function parseFieldSelector(selector: string | undefined, type: ResourceType): FieldSelector {
  const text = (selector ?? '').trim()
  if (text === '') return () => true
  const terms = text.split(',').map((term) => parseTerm(term.trim(), text, type))
  return (object) => terms.every((matches) => matches(object))
}

function parseTerm(term: string, selector: string, type: ResourceType): FieldSelector {
  const [, field, operator, value] = /^([\w.]+)(==|=|!=)(.*)$/.exec(term) ?? []
  if (field === undefined || value === undefined) {
    throw badRequest(`invalid selector: "${selector}"; can't understand "${term}"`)
  }
  const known = field === 'metadata.name' || (field === 'metadata.namespace' && type.namespaced)
  if (!known && !type.selectableFields.includes(field)) throw badRequest(`field label not supported: ${field}`)
  const path = field.split('.')
  return (object) => (textAt(object, path) === value) === (operator !== '!=')
}

function textAt(object: ApiObject, path: string[]): string {
  let value: unknown = object
  for (const part of path) value = isRecord(value) ? value[part] : undefined
  return value === undefined || value === null ? '' : String(value)
}
