import { badRequest } from './bad-request.ts'
import type { CloudEvent, ExtensionValue } from './cloud-event.ts'
import { isRfc3339 } from './is-rfc3339.ts'
import { parseMediaType } from './media-type.ts'

const ATTRIBUTE_NAME = /^[a-z0-9]+$/
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/

const INT32_MAX = 2 ** 31 - 1
const INT32_MIN = -(2 ** 31)

/** How a message names an attribute: `ce-id` in a header, `id` or `[3].id` in a body. */
export type NameAttribute = (attribute: string) => string

/**
 * Checks the context attributes of one event (CloudEvents 1.0.2 §3). `attributes` holds every one that was sent; null is
 * unset. Throws `BadRequest` that names the attribute.
 */
export function checkAttributes(
  attributes: ReadonlyMap<string, unknown>,
  named: NameAttribute,
): Omit<CloudEvent, 'data'> {
  const set = new Map<string, ExtensionValue>()
  for (const [name, value] of attributes) {
    requireAttributeName(name, named)
    if (value !== null && value !== undefined) set.set(name, requireAttributeValue(name, value, named))
  }
  if (set.get('specversion') !== '1.0') {
    const sent = { value: set.get('specversion') }
    throw badRequest(named('specversion'), 'must be "1.0", the only version spoken here', sent)
  }
  set.delete('specversion')
  const take = (name: string, rule?: Rule): string | undefined => {
    const value = set.get(name)
    set.delete(name)
    if (value === undefined) return undefined
    if (typeof value !== 'string') throw badRequest(named(name), 'must be a string', { value })
    if (rule !== undefined && !rule.holds(value)) throw badRequest(named(name), `must be ${rule.is}`, { value })
    return value
  }
  const required = (name: string, rule: Rule): string => {
    const value = take(name, rule)
    if (value === undefined) throw badRequest(named(name), `required; must be ${rule.is}`)
    return value
  }
  const optional = {
    subject: take('subject', NOT_EMPTY),
    time: take('time', { is: 'an RFC 3339 timestamp', holds: isRfc3339 }),
    dataschema: take('dataschema', {
      is: 'an absolute URI',
      holds: (text) => isUriReference(text) && SCHEME.test(text),
    }),
    datacontenttype: take('datacontenttype', {
      is: 'a media type',
      holds: (text) => parseMediaType(text) !== undefined,
    }),
  }
  return {
    id: required('id', NOT_EMPTY),
    source: required('source', { is: 'a URI-reference', holds: isUriReference }),
    type: required('type', NOT_EMPTY),
    ...withoutUndefined(optional),
    extensions: set,
  }
}

interface Rule {
  is: string
  holds(text: string): boolean
}

const NOT_EMPTY: Rule = { is: 'a string that is not empty', holds: (text) => text !== '' }

// Both expressions take long to read, and are read when an event comes.

/** RFC 3986: the characters of a URI-reference, `%` only before two hex digits. */
function isUriReference(text: string): boolean {
  return /^(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/.test(text)
}

/** CloudEvents §3.1.2: no control characters, no noncharacters, no lone surrogates. */
function hasForbiddenCharacter(text: string): boolean {
  return /[\p{Cc}\p{Noncharacter_Code_Point}\p{Cs}]/u.test(text)
}

function requireAttributeName(name: string, named: NameAttribute): void {
  if (name === 'data') throw badRequest(named(name), 'is no attribute; the body is the data')
  if (ATTRIBUTE_NAME.test(name)) return
  throw badRequest('attribute', 'names must consist of lower-case letters and digits', { value: name })
}

function requireAttributeValue(name: string, value: unknown, named: NameAttribute): ExtensionValue {
  if (typeof value === 'boolean') return value
  if (typeof value === 'number') {
    if (Number.isInteger(value) && value >= INT32_MIN && value <= INT32_MAX) return value
    throw badRequest(named(name), 'must be a 32-bit integer', { value })
  }
  if (typeof value !== 'string') throw badRequest(named(name), 'must be a string, integer or boolean', { value })
  if (hasForbiddenCharacter(value)) throw badRequest(named(name), 'must not contain control characters', { value })
  return value
}

function withoutUndefined<T extends Record<string, string | undefined>>(fields: T): { [Name in keyof T]?: string } {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(present) as { [Name in keyof T]?: string }
}
