import type { AdmissionAttributes, UserInfo } from './admission-chain.ts'
import type { ApiObject } from './api-object.ts'
import { storageKey, withMetadata } from './api-object.ts'
import { collectWarnings } from './collect-warnings.ts'
import type { CoreEnvironment, ResolvedTarget } from './core-environment.ts'
import { deadlineOf, timestampOf } from './core-environment.ts'
import { admissionNamespace } from './create-object.ts'
import { asArray, asRecord } from './json.ts'
import { refuseImmortal } from './require-namespace.ts'
import { inVersion } from './resource-type.ts'
import type { Status } from './status-error.ts'
import { conflict, notFound } from './status-error.ts'

export interface DeleteOptions {
  user: UserInfo
  dryRun?: boolean
  preconditions?: { uid?: string; resourceVersion?: string }
  propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  gracePeriodSeconds?: number
  /** A deletecollection does not name the object in the review (protocols §1.8). */
  unnamed?: boolean
  /** What the client gives the request, never more than the server does. */
  timeoutMs?: number
}

export interface Deleted {
  /** The last state, or a Status, as the kind answers. */
  answer: ApiObject | Status
  warnings: string[]
}

export const CRD_CLEANUP = 'customresourcecleanup.apiextensions.k8s.io'
const FOREGROUND = 'foregroundDeletion'
const ORPHAN = 'orphan'

/**
 * Admission first, then: no finalizers → gone; finalizers → `deletionTimestamp`, and whoever removes the last finalizer
 * lets it go. A second DELETE of an object that is waiting asks admission again and changes nothing.
 */
export function deleteObject(
  environment: CoreEnvironment,
  target: ResolvedTarget,
  options: DeleteOptions,
): Promise<Deleted> {
  return collectWarnings((warn) => remove(environment, target, options, warn))
}

async function remove(
  environment: CoreEnvironment,
  target: ResolvedTarget,
  options: DeleteOptions,
  warn: (text: string) => void,
): Promise<Omit<Deleted, 'warnings'>> {
  const { store, admission } = environment
  const { type, version, collection } = target
  const key = storageKey(target.namespace, target.name)
  const deadline = deadlineOf(environment.clock, options)

  for (;;) {
    const existing = store.get(collection, key)
    if (existing === undefined) throw notFound(type, target.name)
    checkPreconditions(existing, target, options)
    refuseImmortal(target)
    const current = inVersion(existing, type, version.name)
    const attributes = attributesOf(target, current, options, deadline, warn)
    await admission.mutateDeletion(attributes)
    await admission.validate(attributes)
    if (store.get(collection, key) !== existing) continue

    const pending = waiting(environment, target, existing, options)
    const isNoop = pending === existing
    if (options.dryRun !== true && !isNoop) commit(environment, collection, pending ?? existing, pending === undefined)
    const shown = inVersion(pending ?? existing, type, version.name)
    return { answer: pending !== undefined || type.returnsDeleted ? shown : success(target, existing) }
  }
}

function commit({ store }: CoreEnvironment, collection: string, object: ApiObject, isGone: boolean): void {
  if (isGone) store.remove(collection, object)
  else store.put(collection, object)
}

/** The object as it waits for finalizers; the same object when it waits already; `undefined` when it can go. */
function waiting(
  environment: CoreEnvironment,
  { type }: ResolvedTarget,
  existing: ApiObject,
  options: DeleteOptions,
): ApiObject | undefined {
  const marked = markNamespace(existing)
  const finalizers = finalizersFor(existing, options)
  if (existing.metadata.deletionTimestamp !== undefined) {
    return finalizers.length > 0 || marked !== existing ? existing : undefined
  }
  if (finalizers.length === 0 && marked === existing) return undefined
  const { generation } = existing.metadata
  return withMetadata(marked, {
    finalizers: finalizers.length === 0 ? undefined : finalizers,
    deletionTimestamp: timestampOf(environment.clock.now()),
    deletionGracePeriodSeconds: type.plural === 'namespaces' ? undefined : 0,
    generation: generation === undefined || generation === 0 ? generation : generation + 1,
  })
}

/** A namespace waits for its content by `spec.finalizers`. */
function markNamespace(object: ApiObject): ApiObject {
  const isNamespace = object.kind === 'Namespace' && object.apiVersion === 'v1'
  if (!isNamespace || asArray(asRecord(object['spec'])['finalizers']).length === 0) return object
  return { ...object, status: { ...asRecord(object['status']), phase: 'Terminating' } }
}

function finalizersFor(object: ApiObject, { propagationPolicy }: DeleteOptions): string[] {
  const before = object.metadata.finalizers ?? []
  if (object.metadata.deletionTimestamp !== undefined) return before
  if (object.kind === 'CustomResourceDefinition') return [...new Set([...before, CRD_CLEANUP])]
  // Without a policy the object's own finalizers say how it is deleted.
  if (propagationPolicy === undefined) return before
  const present = before.filter((name) => name !== FOREGROUND && name !== ORPHAN)
  if (propagationPolicy === 'Foreground') return [...present, FOREGROUND]
  return propagationPolicy === 'Orphan' ? [...present, ORPHAN] : present
}

function checkPreconditions(object: ApiObject, { type, name }: ResolvedTarget, { preconditions }: DeleteOptions): void {
  const { uid, resourceVersion } = preconditions ?? {}
  if (uid !== undefined && uid !== object.metadata.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${object.metadata.uid}). The object might have been deleted and then recreated`
    throw conflict({ group: type.group, plural: type.kind }, name, why)
  }
  if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${object.metadata.resourceVersion}). The object might have been modified`
    throw conflict({ group: type.group, plural: type.kind }, name, why)
  }
}

function attributesOf(
  target: ResolvedTarget,
  current: ApiObject,
  options: DeleteOptions,
  deadline: number,
  warn: (text: string) => void,
): AdmissionAttributes {
  const { user, dryRun, preconditions, propagationPolicy, gracePeriodSeconds, unnamed } = options
  return {
    operation: 'DELETE',
    type: target.type,
    version: target.version,
    subresource: '',
    namespace: admissionNamespace(target, current),
    name: unnamed === true ? '' : target.name,
    oldObject: current,
    options: {
      kind: 'DeleteOptions',
      apiVersion: 'meta.k8s.io/v1',
      ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
      ...(preconditions === undefined ? {} : { preconditions }),
      ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
      ...(dryRun === true ? { dryRun: ['All'] } : {}),
    },
    user,
    dryRun: dryRun === true,
    deadline,
    warn,
    decode: () => current,
  }
}

function success({ type, name }: ResolvedTarget, object: ApiObject): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name,
      ...(type.group === '' ? {} : { group: type.group }),
      kind: type.plural,
      ...(object.metadata.uid === undefined ? {} : { uid: object.metadata.uid }),
    },
  }
}
