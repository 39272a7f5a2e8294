import type { AdmissionRequest } from '../../domain/admission-request.ts'
import type { KubernetesObject } from '../../domain/kubernetes-object.ts'
import { badRequest } from './bad-request.ts'
import { decodeKubernetesObject } from './decode-kubernetes-object.ts'
import { FieldReader, isJsonObject } from './field-reader.ts'

export const REVIEW_API_VERSION = 'admission.k8s.io/v1'
export const REVIEW_KIND = 'AdmissionReview'

const OPERATIONS = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const

/**
 * AdmissionReview v1 → AdmissionRequest. Fields that a later Kubernetes may add are tolerated; a field we read must have
 * its type. Throws `BadRequest`.
 */
export function decodeAdmissionReview(body: unknown): AdmissionRequest {
  const request = requestOf(body)
  const kind = request.requiredObject('kind', 'group, version and kind of the object')
  const operation = operationOf(request)
  const objects = operation === 'CONNECT' ? {} : objectsOf(request, operation)
  return {
    uid: request.requiredText('uid', 'it is echoed in the answer'),
    operation,
    group: kind.text('group') ?? '',
    kind: kind.requiredText('kind', 'for example "MultiClusterIngress"'),
    subResource: request.text('subResource') ?? '',
    namespace: request.text('namespace') ?? '',
    name: request.text('name') || objects.object?.metadata.name || objects.oldObject?.metadata.name || '',
    username: request.object('userInfo')?.text('username') ?? '',
    dryRun: request.flag('dryRun') ?? false,
    ...objects,
  }
}

function requestOf(body: unknown): FieldReader {
  if (!isJsonObject(body)) throw badRequest('body', `must be an ${REVIEW_KIND}`, { value: body })
  const review = new FieldReader(body, '')
  const { apiVersion, kind } = body
  if (apiVersion !== REVIEW_API_VERSION) {
    const remedy = `must be "${REVIEW_API_VERSION}" (register the webhook with admissionReviewVersions: ["v1"])`
    throw badRequest('apiVersion', remedy, { value: apiVersion })
  }
  if (kind !== REVIEW_KIND) throw badRequest('kind', `must be "${REVIEW_KIND}"`, { value: kind })
  return review.requiredObject('request', 'an answer is not a review')
}

function operationOf(request: FieldReader): AdmissionRequest['operation'] {
  const sent = request.text('operation')
  const operation = OPERATIONS.find((known) => known === sent)
  if (operation === undefined) {
    throw badRequest('request.operation', `must be one of ${OPERATIONS.join(', ')}`, { value: sent })
  }
  return operation
}

/** The API server sends `object` for CREATE and UPDATE, `oldObject` for UPDATE and DELETE, and null for the other. */
function objectsOf(
  request: FieldReader,
  operation: 'CREATE' | 'UPDATE' | 'DELETE',
): { object?: KubernetesObject; oldObject?: KubernetesObject } {
  const old = operation === 'CREATE' ? undefined : request.object('oldObject')
  const oldObject = old && decodeKubernetesObject(old)
  if (operation === 'DELETE') return { ...(oldObject && { oldObject }) }
  const object = decodeKubernetesObject(request.requiredObject('object', `a review of ${operation} carries it`))
  return { object, ...(oldObject && { oldObject }) }
}
