import type { ApiObject } from './api-object.ts'
import { storageKeyOf } from './api-object.ts'
import type { CoreEnvironment, ResolvedTarget } from './core-environment.ts'
import { parseFieldSelector } from './field-selector.ts'
import { isRecord } from './json.ts'
import { parseLabelSelector } from './label-selector.ts'
import { apiVersionOfType, inVersion } from './resource-type.ts'
import { badRequest, expired, type FieldError, invalid, invalidResourceVersion } from './status-error.ts'

export interface ListQuery {
  labelSelector?: string
  fieldSelector?: string
  limit?: number
  continue?: string
  resourceVersion?: string
  resourceVersionMatch?: string
}

export interface ApiList {
  apiVersion: string
  kind: string
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number }
  items: ApiObject[]
}

interface Position {
  /** Of the first page: all pages show the same moment. */
  revision: number
  /** The last key of the page before. */
  after: string
}

const TOO_OLD =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
  'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
  'Continuing with the provided token results in an inconsistent list.'

export function listObjects({ store }: CoreEnvironment, target: ResolvedTarget, query: ListQuery): ApiList {
  const { type, version, collection } = target
  const position = query.continue === undefined || query.continue === '' ? undefined : decodePosition(query.continue)
  // A negative revision stands for "whatever is there now": the token of an expired list.
  const wantsNow = position === undefined || position.revision < 0
  const exact = exactRevision(query, store.revision())
  const revision = wantsNow ? exact : position.revision
  const all = store.list(collection, revision)
  if (all === undefined) {
    throw expired(TOO_OLD, position && encodePosition({ revision: -1, after: position.after }))
  }
  const matches = matcher(target, query)
  const limit = query.limit !== undefined && query.limit > 0 ? query.limit : Number.POSITIVE_INFINITY
  const items: ApiObject[] = []
  let last = ''
  let remaining = 0
  for (const object of all) {
    const key = storageKeyOf(object)
    if (position !== undefined && key <= position.after) continue
    if (!matches(object)) continue
    if (items.length < limit) {
      items.push(inVersion(object, type, version.name))
      last = key
    } else remaining += 1
  }
  const isFiltered = Boolean(query.labelSelector) || Boolean(query.fieldSelector)
  return {
    apiVersion: apiVersionOfType(type, version.name),
    kind: type.listKind,
    metadata: {
      resourceVersion: String(revision),
      // Lists of custom resources say `continue: ""` on the last page, others leave it out.
      ...(remaining > 0
        ? { continue: encodePosition({ revision, after: last }) }
        : type.custom
          ? { continue: '' }
          : {}),
      ...(remaining > 0 && !isFiltered ? { remainingItemCount: remaining } : {}),
    },
    items,
  }
}

/** Namespace and both selectors of a list or watch. */
export function matcher(
  { type, namespace, name }: ResolvedTarget,
  query: Pick<ListQuery, 'labelSelector' | 'fieldSelector'>,
): (object: ApiObject) => boolean {
  const byLabels = parseLabelSelector(query.labelSelector)
  const byFields = parseFieldSelector(query.fieldSelector, type)
  return (object) =>
    (namespace === '' || object.metadata.namespace === namespace) &&
    (name === '' || object.metadata.name === name) &&
    byLabels(object.metadata.labels ?? {}) &&
    byFields(object)
}

function exactRevision(query: ListQuery, now: number): number {
  const { resourceVersion = '', resourceVersionMatch = '' } = query
  if (resourceVersionMatch !== '') checkMatch(query)
  if (!/^\d*$/.test(resourceVersion)) {
    throw badRequest(`invalid resource version: ${invalidResourceVersion(resourceVersion)}`)
  }
  return resourceVersionMatch === 'Exact' ? Math.min(Number(resourceVersion), now) : now
}

function checkMatch({ resourceVersion = '', resourceVersionMatch = '', continue: token = '' }: ListQuery): void {
  const field = 'resourceVersionMatch'
  const errors: FieldError[] = []
  const forbid = (why: string) => errors.push({ field, reason: 'FieldValueForbidden', message: `Forbidden: ${why}` })
  if (resourceVersion === '') forbid('resourceVersionMatch is forbidden unless resourceVersion is provided')
  if (token !== '') forbid('resourceVersionMatch is forbidden when continue is provided')
  if (resourceVersionMatch !== 'Exact' && resourceVersionMatch !== 'NotOlderThan') {
    const supported = '"Exact", "NotOlderThan", ""'
    const message = `Unsupported value: ${JSON.stringify(resourceVersionMatch)}: supported values: ${supported}`
    errors.push({ field, reason: 'FieldValueNotSupported', message })
  }
  if (resourceVersionMatch === 'Exact' && resourceVersion === '0') {
    forbid('resourceVersionMatch "exact" is forbidden for resourceVersion "0"')
  }
  if (errors.length > 0) throw invalid('meta.k8s.io', 'ListOptions', '', errors)
}

function encodePosition(position: Position): string {
  return Buffer.from(JSON.stringify({ v: 'local/v1', rv: position.revision, start: position.after })).toString(
    'base64url',
  )
}

function decodePosition(token: string): Position {
  const text = Buffer.from(token, 'base64url').toString()
  const parsed: unknown = text.startsWith('{') && text.endsWith('}') ? JSON.parse(text) : undefined
  if (!isRecord(parsed) || typeof parsed['rv'] !== 'number' || typeof parsed['start'] !== 'string') {
    throw badRequest('continue key is not valid')
  }
  return { revision: parsed['rv'], after: parsed['start'] }
}
