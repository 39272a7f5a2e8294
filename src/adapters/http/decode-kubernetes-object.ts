import type { KubernetesObject, ObjectMeta } from '../../domain/kubernetes-object.ts'
import { badRequest } from './bad-request.ts'
import { FieldReader, isJsonObject } from './field-reader.ts'

/**
 * An object out of a review or an event: type, and metadata with its types checked; what lies beside them is passed on
 * unread. Fields that are null are left out, since Go writes an unset time as null. `name` is empty while a
 * generateName is not resolved.
 */
export function decodeKubernetesObject(fields: FieldReader): KubernetesObject {
  const metadata = fields.object('metadata') ?? new FieldReader({}, `${fields.path}.metadata`)
  return {
    ...fields.value,
    apiVersion: fields.text('apiVersion') ?? '',
    kind: fields.text('kind') ?? '',
    metadata: decodeMetadata(metadata),
  }
}

function decodeMetadata(fields: FieldReader): ObjectMeta {
  const checked: { [Field in keyof ObjectMeta]: ObjectMeta[Field] | undefined } = {
    name: fields.text('name') ?? '',
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
  const present: Record<string, unknown> = {}
  for (const field in checked) {
    const value = checked[field as keyof ObjectMeta]
    if (value !== undefined) present[field] = value
  }
  return present as unknown as ObjectMeta
}

function ownerReferences(fields: FieldReader): ObjectMeta['ownerReferences'] {
  const sent = fields.value['ownerReferences'] ?? undefined
  if (sent === undefined) return undefined
  const path = `${fields.path}.ownerReferences`
  if (!Array.isArray(sent)) throw badRequest(path, 'must be a list', { value: sent })
  return sent.map((entry: unknown, index) => {
    if (!isJsonObject(entry)) throw badRequest(`${path}[${index}]`, 'must be an object', { value: entry })
    const reference = new FieldReader(entry, `${path}[${index}]`)
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
