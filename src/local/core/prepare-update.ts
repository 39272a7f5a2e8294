import type { ApiObject } from './api-object.ts'
import { withMetadata } from './api-object.ts'
import type { CoreEnvironment, ResolvedTarget } from './core-environment.ts'
import { type JsonRecord, jsonEqual } from './json.ts'

/**
 * What an update may not change is quietly put back.
 *
 * | written to | spec and other fields | status | metadata |
 * |---|---|---|---|
 * | the object | as sent | as before, if there is a `/status` | as sent |
 * | `/status` of a custom resource | as before | as sent | as before |
 * | `/status` of a built-in kind | as before | as sent | as sent |
 */
export function prepareUpdate(
  environment: CoreEnvironment,
  target: ResolvedTarget,
  sent: ApiObject,
  current: ApiObject,
): ApiObject {
  const { type } = target
  const object =
    target.subresource === 'status' ? statusUpdate(target, sent, current) : mainUpdate(target, sent, current)
  const restored = restoreSystemFields(object, current)
  if (target.subresource === 'status') return type.prepareStatus?.(restored) ?? restored
  const prepared = type.prepare?.(restored, current, environment.allocate) ?? restored
  return type.generation ? withMetadata(prepared, { generation: nextGeneration(target, prepared, current) }) : prepared
}

function statusUpdate({ type }: ResolvedTarget, sent: ApiObject, current: ApiObject): ApiObject {
  const { status: _, ...kept } = current
  const metadata = type.custom ? current.metadata : sent.metadata
  const result: ApiObject = { ...kept, apiVersion: current.apiVersion, kind: current.kind, metadata }
  if (sent['status'] !== undefined) result['status'] = sent['status']
  return result
}

function mainUpdate({ version }: ResolvedTarget, sent: ApiObject, current: ApiObject): ApiObject {
  if (!version.hasStatus) return sent
  const { status: _, ...fields } = sent
  const result: ApiObject = { ...fields, apiVersion: sent.apiVersion, kind: sent.kind, metadata: sent.metadata }
  if (current['status'] !== undefined) result['status'] = current['status']
  return result
}

function restoreSystemFields(object: ApiObject, { metadata: before }: ApiObject): ApiObject {
  const { metadata } = object
  return withMetadata(object, {
    namespace: before.namespace,
    uid: metadata.uid ?? before.uid,
    generation: before.generation,
    resourceVersion: before.resourceVersion,
    creationTimestamp: before.creationTimestamp ?? metadata.creationTimestamp,
    deletionTimestamp: before.deletionTimestamp ?? metadata.deletionTimestamp,
    deletionGracePeriodSeconds: metadata.deletionGracePeriodSeconds ?? before.deletionGracePeriodSeconds,
  })
}

function nextGeneration({ version }: ResolvedTarget, object: ApiObject, current: ApiObject): number {
  const before = current.metadata.generation ?? 0
  return jsonEqual(counted(object, version.hasStatus), counted(current, version.hasStatus)) ? before : before + 1
}

function counted(object: ApiObject, hasStatus: boolean): JsonRecord {
  const { metadata: _metadata, ...fields } = object
  const rest: JsonRecord = fields
  if (hasStatus) delete rest['status']
  return rest
}
