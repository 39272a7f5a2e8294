import { isRecord, type JsonRecord } from '../core/json.ts'

export interface WebhookVerdict {
  allowed: boolean
  /** Operations of a JSON Patch; `undefined` where none was sent. */
  patch: unknown[] | undefined
  status: JsonRecord | undefined
  warnings: string[]
}

const REVIEW = 'admission.k8s.io/v1, Kind=AdmissionReview'

/** What the API server insists on (protocols §1.3). Throws with its words for everything else. */
export function verifyResponse(body: string, uid: string, kind: 'mutating' | 'validating'): WebhookVerdict {
  const review = parse(body)
  const { response } = review
  if (!isRecord(response)) throw invalidResponse('webhook response was absent')
  if (response['uid'] !== uid) {
    const found = JSON.stringify(response['uid'] ?? '')
    throw invalidResponse(`expected response.uid=${JSON.stringify(uid)}, got ${found}`)
  }
  const { apiVersion, kind: reviewKind } = review
  if (apiVersion !== 'admission.k8s.io/v1' || reviewKind !== 'AdmissionReview') {
    const found = `${typeof apiVersion === 'string' ? apiVersion : '/'}, Kind=${typeof reviewKind === 'string' ? reviewKind : ''}`
    throw invalidResponse(`expected webhook response of ${REVIEW}, got ${found}`)
  }
  if (typeof response['allowed'] !== 'boolean' && response['allowed'] !== undefined) {
    throw invalidResponse('response.allowed is not a boolean')
  }
  const { status, warnings } = response
  return {
    allowed: response['allowed'] === true,
    patch: kind === 'mutating' ? patchOf(response) : refusePatch(response),
    status: isRecord(status) ? status : undefined,
    warnings: Array.isArray(warnings) ? warnings.filter((warning) => typeof warning === 'string') : [],
  }
}

function parse(body: string): JsonRecord {
  let review: unknown
  try {
    review = JSON.parse(body)
  } catch (error) {
    throw new Error(`failed to call webhook: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (!isRecord(review)) throw new Error('failed to call webhook: the answer is not a JSON object')
  return review
}

/** Both or neither; base64 of a JSON list. */
function patchOf({ patch, patchType }: JsonRecord): unknown[] | undefined {
  const hasPatch = typeof patch === 'string' && patch !== ''
  if (patchType === undefined || patchType === null) {
    if (hasPatch) throw invalidResponse('webhook returned response.patch but not response.patchType')
    return undefined
  }
  if (!hasPatch) throw invalidResponse('webhook returned response.patchType but not response.patch')
  const operations = decodePatch(patch)
  if (operations.length > 0 && patchType !== 'JSONPatch') {
    throw new Error(`unsupported patch type ${JSON.stringify(patchType)}`)
  }
  return operations
}

function decodePatch(patch: string): unknown[] {
  const undecodable = (why: string) => new Error(`received undecodable patch in webhook response: ${why}`)
  let operations: unknown
  try {
    operations = JSON.parse(Buffer.from(patch, 'base64').toString())
  } catch (error) {
    throw undecodable(error instanceof Error ? error.message : String(error))
  }
  if (!Array.isArray(operations)) throw undecodable('it is not a list of operations')
  return operations
}

function refusePatch({ patch, patchType }: JsonRecord): undefined {
  const isSet = (value: unknown) => value !== undefined && value !== null && value !== ''
  if (isSet(patch)) throw invalidResponse('validating webhook may not return response.patch')
  if (isSet(patchType)) throw invalidResponse('validating webhook may not return response.patchType')
}

function invalidResponse(why: string): Error {
  return new Error(`received invalid webhook response: ${why}`)
}
