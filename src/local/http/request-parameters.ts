import type { UserInfo } from '../core/admission-chain.ts'
import type { WriteOptions } from '../core/core-environment.ts'
import type { DeleteOptions } from '../core/delete-object.ts'
import { asArray, asRecord, type JsonRecord } from '../core/json.ts'
import type { ListQuery } from '../core/list-objects.ts'
import { badRequest, type FieldError, invalid, type StatusError } from '../core/status-error.ts'
import type { WatchQuery } from '../core/watch-objects.ts'
import { parseDuration } from './parse-duration.ts'

type Parameters = URLSearchParams

export function listQuery(parameters: Parameters): ListQuery {
  return {
    ...texts(parameters, ['labelSelector', 'fieldSelector', 'continue', 'resourceVersion', 'resourceVersionMatch']),
    ...numbers(parameters, ['limit']),
  }
}

export function watchQuery(parameters: Parameters): WatchQuery {
  checkWatchMatch(parameters)
  return {
    ...texts(parameters, ['labelSelector', 'fieldSelector', 'resourceVersion']),
    ...numbers(parameters, ['timeoutSeconds']),
    allowWatchBookmarks: isTrue(parameters, 'allowWatchBookmarks'),
    sendInitialEvents: isTrue(parameters, 'sendInitialEvents'),
  }
}

function checkWatchMatch(parameters: Parameters): void {
  const field = 'resourceVersionMatch'
  const match = parameters.get(field) ?? ''
  const isList = parameters.has('sendInitialEvents')
  const errors: FieldError[] = []
  const forbid = (why: string) => errors.push({ field, reason: 'FieldValueForbidden', message: `Forbidden: ${why}` })
  if (isList && match !== 'NotOlderThan') {
    forbid('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan')
  }
  if (!isList && match !== '')
    forbid('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided')
  if (match !== '' && match !== 'NotOlderThan') {
    const message = `Unsupported value: ${JSON.stringify(match)}: supported values: "NotOlderThan"`
    errors.push({ field, reason: 'FieldValueNotSupported', message })
  }
  if (errors.length > 0) throw invalid('meta.k8s.io', 'ListOptions', '', errors)
}

export function writeOptions(
  parameters: Parameters,
  user: UserInfo,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
): WriteOptions {
  const validation = parameters.get('fieldValidation') ?? ''
  if (!['', 'Ignore', 'Warn', 'Strict'].includes(validation)) {
    throw unsupported(kind, 'fieldValidation', validation, '"", "Ignore", "Strict", "Warn"')
  }
  return {
    user,
    dryRun: dryRun(parameters.getAll('dryRun'), kind),
    ...timeout(parameters),
    ...texts(parameters, ['fieldManager']),
    ...(validation === '' ? {} : { fieldValidation: validation as 'Ignore' | 'Warn' | 'Strict' }),
  }
}

/** From the body, or from the query where there is no body: with one, the query does not count at all. */
export function deleteOptions(parameters: Parameters, body: unknown, user: UserInfo): DeleteOptions {
  const options = body === undefined ? optionsInQuery(parameters) : asRecord(body)
  const policy = propagationPolicy(options['propagationPolicy'])
  const grace = options['gracePeriodSeconds']
  const { uid, resourceVersion } = asRecord(options['preconditions'])
  const preconditions = {
    ...(typeof uid === 'string' ? { uid } : {}),
    ...(typeof resourceVersion === 'string' ? { resourceVersion } : {}),
  }
  return {
    user,
    dryRun: dryRun(asArray(options['dryRun']).map(String), 'DeleteOptions'),
    ...timeout(parameters),
    ...(policy === undefined ? {} : { propagationPolicy: policy }),
    ...(typeof grace === 'number' ? { gracePeriodSeconds: grace } : {}),
    ...(Object.keys(preconditions).length > 0 ? { preconditions } : {}),
  }
}

function optionsInQuery(parameters: Parameters): JsonRecord {
  return {
    dryRun: parameters.getAll('dryRun'),
    ...texts(parameters, ['propagationPolicy']),
    ...numbers(parameters, ['gracePeriodSeconds']),
  }
}

function propagationPolicy(value: unknown): DeleteOptions['propagationPolicy'] {
  if (value === null || value === undefined || value === '') return undefined
  if (value === 'Background' || value === 'Foreground' || value === 'Orphan') return value
  const supported = '"Foreground", "Background", "Orphan", "nil"'
  throw unsupported('DeleteOptions', 'propagationPolicy', String(value), supported)
}

/** Of any request but a watch. */
export function timeout(parameters: Parameters): { timeoutMs?: number } {
  const text = parameters.get('timeout') ?? ''
  if (text === '') return {}
  const timeoutMs = parseDuration(text)
  if (timeoutMs === undefined) {
    const fault = /^[+-]?\d+$/.test(text) ? 'missing unit in' : 'invalid'
    const why = `time: ${fault} duration ${JSON.stringify(text)}`
    throw badRequest(`invalid timeout specified in the request URL - ${why}`)
  }
  // No time at all stands for the server's own limit.
  return timeoutMs > 0 ? { timeoutMs } : {}
}

export function isTrue(parameters: Parameters, name: string): boolean {
  const value = parameters.get(name)
  return value !== null && value !== '0' && value.toLowerCase() !== 'false'
}

function dryRun(values: string[], kind: string): boolean {
  if (values.some((value) => value !== 'All')) throw unsupported(kind, 'dryRun', values, '"All"')
  return values.length > 0
}

function unsupported(kind: string, field: string, value: string | string[], supported: string): StatusError {
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported}`
  return invalid('meta.k8s.io', kind, '', [{ field, reason: 'FieldValueNotSupported', message }])
}

function texts<K extends string>(parameters: Parameters, names: readonly K[]): { [N in K]?: string } {
  const result: { [N in K]?: string } = {}
  for (const name of names) {
    const value = parameters.get(name)
    if (value !== null && value !== '') result[name] = value
  }
  return result
}

function numbers<K extends string>(parameters: Parameters, names: readonly K[]): { [N in K]?: number } {
  const result: { [N in K]?: number } = {}
  for (const name of names) {
    const value = parameters.get(name)
    if (value === null || value === '') continue
    if (!/^-?\d+$/.test(value)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`)
    result[name] = Number(value)
  }
  return result
}
