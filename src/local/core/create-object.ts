import type { AdmissionAttributes } from './admission-chain.ts'
import type { ApiObject } from './api-object.ts'
import { storageKey, withMetadata } from './api-object.ts'
import { collectWarnings } from './collect-warnings.ts'
import type { CoreEnvironment, ResolvedTarget, WriteOptions, Written } from './core-environment.ts'
import { deadlineOf, timestampOf } from './core-environment.ts'
import { decodeObject, withoutUnknownFields } from './decode-object.ts'
import type { JsonRecord } from './json.ts'
import { requireNamespace } from './require-namespace.ts'
import { inVersion, storageVersionOf } from './resource-type.ts'
import { alreadyExists, badRequest, StatusError } from './status-error.ts'
import { validateObject } from './validate-object.ts'

const NAME_ATTEMPTS = 8
const LONGEST_GENERATED_BASE = 58

export interface CreateOptions extends WriteOptions {
  /** An apply that creates may name a resourceVersion; a POST is refused for it, at the very end. */
  isApply?: boolean
}

/** The stages of protocols §1.8: decode → mutating → name, uid, generation → validation → validating → store. */
export function createObject(
  environment: CoreEnvironment,
  target: ResolvedTarget,
  input: unknown,
  options: CreateOptions,
): Promise<Written> {
  return collectWarnings((warn) => create(environment, target, input, options, warn))
}

async function create(
  environment: CoreEnvironment,
  target: ResolvedTarget,
  input: unknown,
  options: CreateOptions,
  warn: (text: string) => void,
): Promise<Omit<Written, 'warnings'>> {
  let isPatched = false
  const sent = decodeObject(input, target, options.fieldValidation ?? 'Warn', warn)
  checkPlace(sent, target)
  const wiped = wipeSystemFields(withNamespace(sent, target))
  requireNamespace(environment, target, wiped)

  if (target.type.answer !== undefined) return { object: target.type.answer(wiped, options.user), created: true }

  const attributes: AdmissionAttributes & { object: ApiObject } = {
    operation: 'CREATE',
    type: target.type,
    version: target.version,
    subresource: '',
    namespace: admissionNamespace(target, wiped),
    name: wiped.metadata.name ?? '',
    object: wiped,
    options: createOptions(options),
    user: options.user,
    dryRun: options.dryRun === true,
    deadline: deadlineOf(environment.clock, options),
    warn,
    decode: (object) => {
      isPatched = true
      return withNamespace(decodeObject(object, target, 'Keep', warn), target)
    },
  }
  const mutated = await environment.admission.mutate(attributes)

  for (let attempt = 1; ; attempt++) {
    const complete = completeObject(environment, target, mutated)
    validateObject(complete, undefined, target, warn)
    await environment.admission.validate({ ...attributes, object: complete, name: complete.metadata.name })
    if (options.dryRun !== true && options.isApply !== true) refuseResourceVersion(complete)
    const taken = environment.store.get(target.collection, keyOf(target, complete))
    if (taken === undefined) {
      const pruned = isPatched ? withoutUnknownFields(complete, target) : complete
      const stored = options.dryRun === true ? pruned : store(environment, target, pruned)
      return { object: inVersion(stored, target.type, target.version.name), created: true }
    }
    // protocols §1.8: a name made from generateName is tried again, with a new uid and new validation.
    const wasGenerated = mutated.metadata.name === undefined
    if (!wasGenerated || attempt === NAME_ATTEMPTS) {
      throw alreadyExists(target.type, complete.metadata.name, taken.metadata.deletionTimestamp !== undefined)
    }
  }
}

function keyOf({ namespace }: ResolvedTarget, object: ApiObject): string {
  return storageKey(namespace, object.metadata.name)
}

function store(environment: CoreEnvironment, { collection, type }: ResolvedTarget, object: ApiObject): ApiObject {
  return environment.store.put(collection, inVersion(object, type, storageVersionOf(type).name))
}

/** A Namespace object is admitted in the namespace that it is. */
export function admissionNamespace({ type, namespace }: ResolvedTarget, object: ApiObject): string {
  return type.plural === 'namespaces' && type.group === '' ? (object.metadata.name ?? '') : namespace
}

function createOptions({ dryRun, fieldManager, fieldValidation }: WriteOptions): JsonRecord {
  return {
    kind: 'CreateOptions',
    apiVersion: 'meta.k8s.io/v1',
    ...(dryRun === true ? { dryRun: ['All'] } : {}),
    ...(fieldManager === undefined ? {} : { fieldManager }),
    ...(fieldValidation === undefined ? {} : { fieldValidation }),
  }
}

function withNamespace(object: ApiObject, { type, namespace }: ResolvedTarget): ApiObject {
  const wanted = type.namespaced ? namespace : undefined
  return object.metadata.namespace === wanted ? object : withMetadata(object, { namespace: wanted })
}

function checkPlace(object: ApiObject, { namespace, name }: ResolvedTarget): void {
  const own = object.metadata.namespace
  if (own !== undefined && own !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  if (name !== '' && object.metadata.name !== undefined && object.metadata.name !== name) {
    throw badRequest(`the name of the object (${object.metadata.name}) does not match the name on the URL (${name})`)
  }
}

function wipeSystemFields(object: ApiObject): ApiObject {
  return withMetadata(object, {
    uid: undefined,
    creationTimestamp: undefined,
    deletionTimestamp: undefined,
    deletionGracePeriodSeconds: undefined,
  })
}

function completeObject(environment: CoreEnvironment, target: ResolvedTarget, object: ApiObject): ApiObject {
  const { type, version } = target
  const { name, generateName } = object.metadata
  const complete = withMetadata(object, {
    name: name ?? (generateName === undefined ? undefined : generatedName(generateName, environment)),
    uid: environment.uid(),
    creationTimestamp: timestampOf(environment.clock.now()),
    generation: type.generation ? 1 : undefined,
  })
  if (version.hasStatus && !type.statusOnCreate) delete complete['status']
  return type.prepare?.(complete, undefined, environment.allocate) ?? complete
}

/** What the storage says, when everybody else has agreed. */
function refuseResourceVersion({ metadata: { resourceVersion = '0' } }: ApiObject): void {
  if (!/^\d+$/.test(resourceVersion) || Number(resourceVersion) === 0) return
  throw new StatusError(500, '', 'resourceVersion should not be set on objects to be created')
}

function generatedName(base: string, { nameSuffix }: CoreEnvironment): string {
  return base.slice(0, LONGEST_GENERATED_BASE) + nameSuffix()
}
