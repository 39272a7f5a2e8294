import { defaultObject } from '../schema/default-object.ts'
import { pruneObject } from '../schema/prune-object.ts'
import type { ApiObject } from './api-object.ts'
import type { ResolvedTarget, WriteOptions } from './core-environment.ts'
import { asString, isRecord } from './json.ts'
import { normalizeMetadata } from './normalize-metadata.ts'
import { apiVersionOfType } from './resource-type.ts'
import { badRequest, invalid } from './status-error.ts'

/** What becomes of fields the schema does not know. */
type UnknownFields = NonNullable<WriteOptions['fieldValidation']> | 'Keep'

/**
 * What was sent, as an object of this resource: the right kind, no unknown fields, defaults filled in.
 * Unknown fields are refused (`Strict`), told (`Warn`) or dropped silently (`Ignore`). After a webhook's patch custom
 * objects `Keep` them until they are stored; built-in kinds have no place for them.
 */
export function decodeObject(
  input: unknown,
  target: ResolvedTarget,
  validation: UnknownFields,
  warn: (text: string) => void,
): ApiObject {
  const { type, version } = target
  if (!isRecord(input)) throw badRequest(`the body is not a JSON object of kind ${type.kind}`)
  const unknown: string[] = []
  const typed = withTypeMeta(input, target)
  const keepsUnknown = validation === 'Keep' && type.custom
  const pruned = pruneObject(normalizeMetadata(typed, unknown), version.schema, unknown, keepsUnknown)
  reportUnknown(unknown, target, validation, warn)
  return version.hasDefaults ? defaultObject(pruned, version.schema) : pruned
}

/** An object as it is stored, whatever a webhook has put into it. */
export function withoutUnknownFields(object: ApiObject, { version }: ResolvedTarget): ApiObject {
  return pruneObject(object, version.schema, [])
}

function withTypeMeta(input: Record<string, unknown>, { type, version }: ResolvedTarget): ApiObject {
  const expected = apiVersionOfType(type, version.name)
  const { apiVersion, kind, metadata, ...fields } = input
  // Built-in kinds are decoded into what the path says; for custom ones the words must be there.
  if (type.custom && typeof kind !== 'string') throw unrecognized(`Object 'Kind' is missing in '${excerpt(input)}'`)
  if (type.custom && typeof apiVersion !== 'string') {
    throw unrecognized(`Object 'apiVersion' is missing in '${excerpt(input)}'`)
  }
  if (type.custom && kind !== type.kind) {
    const message = `Invalid value: ${JSON.stringify(kind)}: must be ${type.kind}`
    const name = isRecord(metadata) ? asString(metadata['name']) : ''
    throw invalid(type.group, String(kind), name, [{ field: 'kind', reason: 'FieldValueInvalid', message }])
  }
  if (kind !== undefined && kind !== type.kind) {
    throw badRequest(`${String(kind)} in version "${version.name}" cannot be handled as a ${type.kind}`)
  }
  if (apiVersion !== undefined && apiVersion !== expected) {
    throw badRequest(
      `the API version in the data (${String(apiVersion)}) does not match the expected API version (${expected})`,
    )
  }
  return { apiVersion: expected, kind: type.kind, metadata: metadata as ApiObject['metadata'], ...fields }

  function unrecognized(why: string) {
    return badRequest(`the object provided is unrecognized (must be of type ${type.kind}): ${why}`)
  }
}

function excerpt(input: unknown): string {
  return JSON.stringify(input).slice(0, 200)
}

function reportUnknown(
  unknown: string[],
  { type, version }: ResolvedTarget,
  validation: UnknownFields,
  warn: (text: string) => void,
): void {
  if (unknown.length === 0 || validation === 'Ignore' || validation === 'Keep') return
  const texts = unknown.map((path) => `unknown field "${path}"`)
  if (validation === 'Warn') {
    for (const text of texts) warn(text)
    return
  }
  throw badRequest(
    `${type.kind} in version "${version.name}" cannot be handled as a ${type.kind}: strict decoding error: ${texts.join(', ')}`,
  )
}
