import type { KubernetesObject, ObjectMeta } from '../../domain/kubernetes-object.ts'
import { badRequest } from './bad-request.ts'
import { type FieldReader, isJsonObject, readFields } from './field-reader.ts'

/**
 * An object out of a review or an event: type, and metadata with its types checked; what lies beside them is passed on
 * unread. Fields that are null are left out, since Go writes an unset time as null. `name` is empty while a
 * generateName is not resolved.
 */
export function decodeKubernetesObject(fields: FieldReader): KubernetesObject {
  const metadata = fields.object('metadata') ?? readFields({}, `${fields.path}.metadata`)
  return {
    ...fields.value,
    apiVersion: fields.text('apiVersion') ?? '',
    kind: fields.text('kind') ?? '',
    metadata: decodeMetadata(metadata),
  }
}

function decodeMetadata(fields: FieldReader): ObjectMeta {
  const checked = {
    namespace: fields.text('namespace'),
    generateName: fields.text('generateName'),
    uid: fields.text('uid'),
    resourceVersion: fields.text('resourceVersion'),
    generation: fields.count('generation'),
    creationTimestamp: fields.text('creationTimestamp'),
    deletionTimestamp: fields.text('deletionTimestamp'),
    deletionGracePeriodSeconds: fields.count('deletionGracePeriodSeconds'),
    finalizers: fields.texts('finalizers'),
    labels: fields.textMap('labels'),
    annotations: fields.textMap('annotations'),
    ownerReferences: ownerReferences(fields),
  }
  const present = Object.entries(checked).filter(([, value]) => value !== undefined)
  return { name: fields.text('name') ?? '', ...Object.fromEntries(present) }
}

function ownerReferences(fields: FieldReader): ObjectMeta['ownerReferences'] {
  const sent = fields.value['ownerReferences'] ?? undefined
  if (sent === undefined) return undefined
  const path = `${fields.path}.ownerReferences`
  if (!Array.isArray(sent)) throw badRequest(path, 'must be a list', { value: sent })
  return sent.map((entry: unknown, index) => {
    if (!isJsonObject(entry)) throw badRequest(`${path}[${index}]`, 'must be an object', { value: entry })
    const reference = readFields(entry, `${path}[${index}]`)
    const controller = reference.flag('controller')
    const blockOwnerDeletion = reference.flag('blockOwnerDeletion')
    return {
      apiVersion: reference.text('apiVersion') ?? '',
      kind: reference.text('kind') ?? '',
      name: reference.text('name') ?? '',
      uid: reference.text('uid') ?? '',
      ...(controller === undefined ? {} : { controller }),
      ...(blockOwnerDeletion === undefined ? {} : { blockOwnerDeletion }),
    }
  })
}
