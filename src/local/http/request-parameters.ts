import type { UserInfo } from '../core/admission-chain.ts'
import type { WriteOptions } from '../core/core-environment.ts'
import type { DeleteOptions } from '../core/delete-object.ts'
import { asArray, asRecord } from '../core/json.ts'
import type { ListQuery } from '../core/list-objects.ts'
import { badRequest, invalid } from '../core/status-error.ts'
import type { WatchQuery } from '../core/watch-objects.ts'

type Parameters = URLSearchParams

export function listQuery(parameters: Parameters): ListQuery {
  return {
    ...texts(parameters, ['labelSelector', 'fieldSelector', 'continue', 'resourceVersion', 'resourceVersionMatch']),
    ...numbers(parameters, ['limit']),
  }
}

export function watchQuery(parameters: Parameters): WatchQuery {
  return {
    ...texts(parameters, ['labelSelector', 'fieldSelector', 'resourceVersion']),
    ...numbers(parameters, ['timeoutSeconds']),
    allowWatchBookmarks: isTrue(parameters, 'allowWatchBookmarks'),
    sendInitialEvents: isTrue(parameters, 'sendInitialEvents'),
  }
}

export function writeOptions(parameters: Parameters, user: UserInfo): WriteOptions {
  const validation = parameters.get('fieldValidation') ?? ''
  if (!['', 'Ignore', 'Warn', 'Strict'].includes(validation)) {
    throw unsupported('fieldValidation', validation, '"Ignore", "Strict", "Warn"')
  }
  return {
    user,
    dryRun: dryRun(parameters.getAll('dryRun')),
    ...texts(parameters, ['fieldManager']),
    ...(validation === '' ? {} : { fieldValidation: validation as 'Ignore' | 'Warn' | 'Strict' }),
  }
}

/** From the body, or from the query where there is no body. */
export function deleteOptions(parameters: Parameters, body: unknown, user: UserInfo): DeleteOptions {
  const options = asRecord(body)
  const policy = options['propagationPolicy'] ?? parameters.get('propagationPolicy')
  const grace = options['gracePeriodSeconds'] ?? numbers(parameters, ['gracePeriodSeconds']).gracePeriodSeconds
  const { uid, resourceVersion } = asRecord(options['preconditions'])
  const preconditions = {
    ...(typeof uid === 'string' ? { uid } : {}),
    ...(typeof resourceVersion === 'string' ? { resourceVersion } : {}),
  }
  return {
    user,
    dryRun: dryRun([...parameters.getAll('dryRun'), ...asArray(options['dryRun']).map(String)]),
    ...(policy === 'Background' || policy === 'Foreground' || policy === 'Orphan' ? { propagationPolicy: policy } : {}),
    ...(typeof grace === 'number' ? { gracePeriodSeconds: grace } : {}),
    ...(Object.keys(preconditions).length > 0 ? { preconditions } : {}),
  }
}

export function isTrue(parameters: Parameters, name: string): boolean {
  const value = parameters.get(name)
  return value !== null && value !== '0' && value.toLowerCase() !== 'false'
}

function dryRun(values: string[]): boolean {
  for (const value of values) {
    if (value !== 'All') throw unsupported('dryRun', value, '"All"')
  }
  return values.length > 0
}

function unsupported(field: string, value: string, supported: string) {
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported}`
  return invalid('meta.k8s.io', 'Options', '', [{ field, reason: 'FieldValueNotSupported', message }])
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
    if (!/^\d+$/.test(value)) throw badRequest(`${name}: ${JSON.stringify(value)} is not a number`)
    result[name] = Number(value)
  }
  return result
}
