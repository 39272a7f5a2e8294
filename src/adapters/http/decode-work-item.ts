import { causesOfData } from '../../domain/cause.ts'
import { type ObjectKey, parseKey } from '../../domain/object-key.ts'
import { VISIBLE_WITHIN_MS } from '../../domain/visibility.ts'
import { causedBy, type Hint, type WorkItem } from '../../domain/work-item.ts'
import { badRequest } from './bad-request.ts'
import { FieldReader, isJsonObject } from './field-reader.ts'
import { requireAddress } from './require-address.ts'

const OPERATIONS = ['CREATE', 'UPDATE', 'DELETE'] as const

/** The data of a work event → WorkItem; keys are written as `formatKey` writes them, also the `object` of a hint. */
export function decodeWorkItem(data: FieldReader, receivedAt: number): WorkItem {
  const hints = hintsOf(data).map((hint) => decodeHint(hint, receivedAt))
  return { key: keyOf(data, 'key'), hints, ...causedBy(causesOfData(data.value['causes'])) }
}

function keyOf(fields: FieldReader, field: string): ObjectKey {
  const remedy = 'must be a key such as "MultiClusterIngress/shop/web"'
  const text = fields.requiredText(field, remedy)
  const key = parseKey(text)
  if (key === undefined) throw badRequest(`${fields.path}.${field}`, remedy, { value: text })
  requireAddress(key, `${fields.path}.${field}`)
  return key
}

function hintsOf(data: FieldReader): FieldReader[] {
  const sent = data.value['hints'] ?? []
  if (!Array.isArray(sent)) throw badRequest(`${data.path}.hints`, 'must be a list', { value: sent })
  return sent.map((hint: unknown, index) => {
    const path = `${data.path}.hints[${index}]`
    if (!isJsonObject(hint)) throw badRequest(path, 'must be an object', { value: hint })
    return new FieldReader(hint, path)
  })
}

/** A change is waited for only so long: a forged hint must not hold a key for ever. */
function decodeHint(fields: FieldReader, receivedAt: number): Hint {
  const sent = fields.text('operation')
  const operation = OPERATIONS.find((known) => known === sent)
  if (operation === undefined) {
    throw badRequest(`${fields.path}.operation`, `must be one of ${OPERATIONS.join(', ')}`, { value: sent })
  }
  const uid = fields.text('uid')
  const oldResourceVersion = fields.text('oldResourceVersion')
  const waitUntil = fields.count('waitUntil')
  return {
    object: keyOf(fields, 'object'),
    operation,
    ...(uid === undefined ? {} : { uid }),
    ...(oldResourceVersion === undefined ? {} : { oldResourceVersion }),
    ...(waitUntil === undefined ? {} : { waitUntil: Math.min(waitUntil, receivedAt + VISIBLE_WITHIN_MS) }),
  }
}
