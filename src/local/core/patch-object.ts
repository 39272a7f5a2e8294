import { pruneObject } from '../schema/prune-object.ts'
import type { StructuralSchema } from '../schema/structural-schema.ts'
import { storageKey } from './api-object.ts'
import type { CoreEnvironment, ResolvedTarget, WriteOptions, Written } from './core-environment.ts'
import { createObject } from './create-object.ts'
import { isRecord, type JsonRecord } from './json.ts'
import { jsonPatch } from './json-patch.ts'
import { mergePatch } from './merge-patch.ts'
import { apiVersionOfType } from './resource-type.ts'
import { serverSideApply } from './server-side-apply.ts'
import { badRequest, conflict, invalid, notFound, StatusError, unsupportedPatchType } from './status-error.ts'
import { strategicMergePatch } from './strategic-merge-patch.ts'
import { type Change, updateObject } from './update-object.ts'

export interface PatchRequest {
  type: 'json' | 'merge' | 'strategic' | 'apply'
  body: unknown
}

export async function patchObject(
  environment: CoreEnvironment,
  target: ResolvedTarget,
  patch: PatchRequest,
  options: WriteOptions,
): Promise<Written> {
  if (patch.type === 'apply') return applyObject(environment, target, patch.body, options)
  return updateObject(environment, target, changeOf(target, patch), options)
}

function changeOf({ type }: ResolvedTarget, { type: kind, body }: PatchRequest): Change {
  if (kind === 'json') return (current) => jsonPatch(current, body)
  if (!isRecord(body)) throw badRequest('error decoding patch: it is not an object')
  if (kind === 'merge') return (current) => mergePatch(current, body)
  if (type.custom) {
    throw unsupportedPatchType([
      'application/json-patch+json',
      'application/merge-patch+json',
      'application/apply-patch+yaml',
    ])
  }
  return (current) => strategicMergePatch(current, body, type.mergeKeys)
}

async function applyObject(
  environment: CoreEnvironment,
  target: ResolvedTarget,
  body: unknown,
  options: WriteOptions,
): Promise<Written> {
  const { type, version } = target
  const applied = checkApplied(body, options)
  checkFields(applied, target)
  const manager = [options.fieldManager, target.subresource, version.name].join('/')
  const written = await createOrUpdate()
  const { uid } = written.object.metadata
  if (options.dryRun !== true && uid !== undefined) environment.applied.set(uid, manager, applied)
  return written

  async function createOrUpdate(): Promise<Written> {
    const exists = environment.store.get(target.collection, storageKey(target.namespace, target.name)) !== undefined
    if (exists) return updateObject(environment, target, change, options)
    if (target.subresource !== '') throw notFound(type, target.name)
    const uid = isRecord(applied['metadata']) ? applied['metadata']['uid'] : undefined
    if (typeof uid === 'string') {
      const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`
      throw conflict(type, target.name, why)
    }
    try {
      return await createObject(environment, target, named(applied, target.name), { ...options, isApply: true })
    } catch (error) {
      const wasFaster = error instanceof StatusError && error.status.reason === 'AlreadyExists'
      if (!wasFaster) throw error
      return updateObject(environment, target, change, options)
    }
  }

  function change(current: Parameters<Change>[0]): unknown {
    const before = environment.applied.get(current.metadata.uid ?? '', manager)
    return serverSideApply(current, named(applied, target.name), before, version.schema, type.mergeKeys)
  }
}

function named(applied: JsonRecord, name: string): JsonRecord {
  const metadata = isRecord(applied['metadata']) ? applied['metadata'] : {}
  return { ...applied, metadata: { ...metadata, name: metadata['name'] ?? name } }
}

function checkApplied(body: unknown, { fieldManager }: WriteOptions): JsonRecord {
  if (!isRecord(body)) throw badRequest('error decoding YAML: it is not an object')
  if (fieldManager === undefined || fieldManager === '') {
    throw invalid('meta.k8s.io', 'PatchOptions', '', [
      {
        field: 'fieldManager',
        reason: 'FieldValueRequired',
        message: 'Required value: is required for apply patch',
      },
    ])
  }
  const metadata = body['metadata']
  if (isRecord(metadata) && Array.isArray(metadata['managedFields']) && metadata['managedFields'].length > 0) {
    throw badRequest('metadata.managedFields must be nil')
  }
  return body
}

/** What cannot be applied at all, whatever the fieldValidation says: unknown fields, and two items of the same key. */
function checkFields(applied: JsonRecord, { type, version }: ResolvedTarget): void {
  const unknown: string[] = []
  pruneObject(applied, version.schema, unknown)
  const [first] = unknown
  const why =
    first === undefined ? duplicateKey(applied, version.schema, '') : `.${first}: field not declared in schema`
  if (why === undefined) return
  const kind = `${apiVersionOfType(type, version.name)}, Kind=${type.kind}`
  const name = isRecord(applied['metadata']) ? String(applied['metadata']['name'] ?? '') : ''
  throw new StatusError(500, '', `failed to create typed patch object (/${name}; ${kind}): ${why}`)
}

function duplicateKey(value: unknown, schema: StructuralSchema, path: string): string | undefined {
  if (isRecord(value)) {
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      const found = duplicateKey(value[name], field, `${path}.${name}`)
      if (found !== undefined) return found
    }
  }
  const keys = schema['x-kubernetes-list-map-keys']
  if (!Array.isArray(value) || keys === undefined) return undefined
  const names = value.map((item) => keys.map((key) => `${key}=${JSON.stringify(isRecord(item) ? item[key] : item)}`))
  const texts = names.map((parts) => `[${parts.join(',')}]`)
  const twice = texts.find((text, index) => texts.indexOf(text) < index)
  return twice === undefined ? undefined : `${path}: duplicate entries for key ${twice}`
}
