import type { AdmissionAttributes } from './admission-chain.ts'
import type { ApiObject } from './api-object.ts'
import { storageKey, withMetadata } from './api-object.ts'
import { collectWarnings } from './collect-warnings.ts'
import type { CoreEnvironment, ResolvedTarget, WriteOptions, Written } from './core-environment.ts'
import { deadlineOf } from './core-environment.ts'
import { admissionNamespace } from './create-object.ts'
import { decodeObject, withoutUnknownFields } from './decode-object.ts'
import { type JsonRecord, jsonEqual } from './json.ts'
import { prepareUpdate } from './prepare-update.ts'
import { inVersion, storageVersionOf } from './resource-type.ts'
import { badRequest, conflict, invalid, notFound, OBJECT_MODIFIED } from './status-error.ts'
import { validateObject } from './validate-object.ts'

/** Makes the new object from the current one; called again when somebody else was faster. */
export type Change = (current: ApiObject) => unknown

/**
 * The stages of protocols §1.8: change → mutating → resourceVersion check → status, generation → validation →
 * validating → store. When the object changed meanwhile everything starts over with the fresh one.
 */
export function updateObject(
  environment: CoreEnvironment,
  target: ResolvedTarget,
  change: Change,
  options: WriteOptions,
): Promise<Written> {
  return collectWarnings((warn) => update(environment, target, change, options, warn))
}

async function update(
  environment: CoreEnvironment,
  target: ResolvedTarget,
  change: Change,
  options: WriteOptions,
  warn: (text: string) => void,
): Promise<Omit<Written, 'warnings'>> {
  const { store, admission, clock } = environment
  const { type, version, collection } = target
  const key = storageKey(target.namespace, target.name)
  const deadline = deadlineOf(clock, options)

  for (;;) {
    let isPatched = false
    const existing = store.get(collection, key)
    if (existing === undefined) throw notFound(type, target.name)
    const current = inVersion(existing, type, version.name)
    const decoded = decodeObject(change(current), target, options.fieldValidation ?? 'Warn', warn)
    checkIdentity(decoded, current, target)
    const sent = withMetadata(decoded, { namespace: current.metadata.namespace })
    const attributes: AdmissionAttributes & { object: ApiObject } = {
      operation: 'UPDATE',
      type,
      version,
      subresource: target.subresource,
      namespace: admissionNamespace(target, current),
      name: target.name,
      object: sent,
      oldObject: current,
      options: updateOptions(options),
      user: options.user,
      dryRun: options.dryRun === true,
      deadline,
      warn,
      decode: (object) => {
        isPatched = true
        return decodeObject(object, target, 'Keep', warn)
      },
    }
    const mutated = await admission.mutate(attributes)
    checkResourceVersion(mutated, current, target)
    const prepared = prepareUpdate(environment, target, mutated, current)
    validateObject(prepared, current, target, warn)
    await admission.validate({ ...attributes, object: prepared })
    if (store.get(collection, key) !== existing) continue

    const pruned = isPatched ? withoutUnknownFields(prepared, target) : prepared
    const result = commit(environment, target, existing, pruned, options.dryRun === true)
    return { object: inVersion(result, type, version.name), created: false }
  }
}

function commit(
  environment: CoreEnvironment,
  { type, collection }: ResolvedTarget,
  existing: ApiObject,
  prepared: ApiObject,
  dryRun: boolean,
): ApiObject {
  const stored = inVersion(prepared, type, storageVersionOf(type).name)
  if (dryRun || jsonEqual(stored, existing)) return dryRun ? stored : existing
  const isFinished = stored.metadata.deletionTimestamp !== undefined && stored.metadata.finalizers === undefined
  // The removal after the last finalizer is no DELETE admission (protocols §1.8).
  if (isFinished && !hasContentToDelete(stored)) return environment.store.remove(collection, stored)
  return environment.store.put(collection, stored)
}

/** A namespace waits for its content, whatever its metadata says. */
function hasContentToDelete(object: ApiObject): boolean {
  return object.kind === 'Namespace' && object.apiVersion === 'v1'
}

function updateOptions({ dryRun, fieldManager, fieldValidation }: WriteOptions): JsonRecord {
  return {
    kind: 'UpdateOptions',
    apiVersion: 'meta.k8s.io/v1',
    ...(dryRun === true ? { dryRun: ['All'] } : {}),
    ...(fieldManager === undefined ? {} : { fieldManager }),
    ...(fieldValidation === undefined ? {} : { fieldValidation }),
  }
}

function checkIdentity(sent: ApiObject, current: ApiObject, { namespace, name }: ResolvedTarget): void {
  if (sent.metadata.name !== name) {
    throw badRequest(
      sent.metadata.name === undefined
        ? 'the name of the object must be set'
        : `the name of the object (${sent.metadata.name}) does not match the name on the URL (${name})`,
    )
  }
  if ((sent.metadata.namespace ?? namespace) !== (current.metadata.namespace ?? '')) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
}

function checkResourceVersion(object: ApiObject, current: ApiObject, { type, name }: ResolvedTarget): void {
  const wanted = object.metadata.resourceVersion
  if (wanted === undefined || wanted === '0') {
    if (type.unconditionalUpdate) return
    const message = 'Invalid value: 0: must be specified for an update'
    throw invalid(type.group, type.plural, name, [
      { field: 'metadata.resourceVersion', reason: 'FieldValueInvalid', message },
    ])
  }
  if (!/^\d+$/.test(wanted)) throw badRequest(`invalid resource version ${JSON.stringify(wanted)}`)
  if (wanted !== current.metadata.resourceVersion) throw conflict(type, name, OBJECT_MODIFIED)
}

/** A PUT names the object it means by uid: another one under the same name is a conflict. */
export function replacing(input: unknown, target: ResolvedTarget): Change {
  return (current) => {
    const metadata = (input as { metadata?: { uid?: unknown } } | null)?.metadata
    const uid = metadata?.uid
    if (typeof uid === 'string' && uid !== '' && uid !== current.metadata.uid) {
      const path = `/registry/${target.type.group}/${target.type.plural}/${target.namespace}/${target.name}`
      const why = `StorageError: invalid object, Code: 4, Key: ${path}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.metadata.uid}`
      throw conflict(target.type, target.name, why)
    }
    return input
  }
}
