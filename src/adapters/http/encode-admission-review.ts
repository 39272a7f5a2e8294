import type { AdmissionRequest } from '../../domain/admission-request.ts'
import type { Finding } from '../../domain/finding.ts'
import type { JsonPatchOperation } from '../../domain/json-patch.ts'
import { cleanText, cleanWarning } from './clean-text.ts'
import { REVIEW_API_VERSION, REVIEW_KIND } from './decode-admission-review.ts'

export interface AdmissionReviewAnswer {
  apiVersion: typeof REVIEW_API_VERSION
  kind: typeof REVIEW_KIND
  response: AdmissionResponse
}

interface AdmissionResponse {
  uid: string
  allowed: boolean
  status?: DenialStatus
  warnings?: string[]
  patchType?: 'JSONPatch'
  /** Base64 of a JSON Patch. */
  patch?: string
}

interface DenialStatus {
  code: 422
  reason: 'Invalid'
  message: string
  details: { name: string; group: string; kind: string; causes: Finding[] }
}

export function allowed(request: AdmissionRequest, warnings: string[] = []): AdmissionReviewAnswer {
  return review({ uid: request.uid, allowed: true, ...withWarnings(warnings) })
}

/** The API server refuses a `patchType` without a patch, and the other way round: both, or neither. */
export function patched(request: AdmissionRequest, operations: JsonPatchOperation[]): AdmissionReviewAnswer {
  if (operations.length === 0) return allowed(request)
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64')
  return review({ uid: request.uid, allowed: true, patchType: 'JSONPatch', patch })
}

/** The user sees `message`; every finding stands in it, since most clients do not show the causes. */
export function denied(request: AdmissionRequest, findings: Finding[], warnings: string[]): AdmissionReviewAnswer {
  const causes = findings.map((finding) => ({ ...finding, message: cleanText(finding.message) }))
  const { name, group, kind } = request
  const status: DenialStatus = {
    code: 422,
    reason: 'Invalid',
    message: causes.map(({ field, message }) => `${field}: ${message}`).join('; '),
    details: { name, group, kind, causes },
  }
  return review({ uid: request.uid, allowed: false, status, ...withWarnings(warnings) })
}

/** The same answer, with one more line for whoever made the request. */
export function withWarning(answer: AdmissionReviewAnswer, warning: string): AdmissionReviewAnswer {
  const { warnings = [] } = answer.response
  return { ...answer, response: { ...answer.response, ...withWarnings([...warnings, warning]) } }
}

function review(response: AdmissionResponse): AdmissionReviewAnswer {
  return { apiVersion: REVIEW_API_VERSION, kind: REVIEW_KIND, response }
}

function withWarnings(warnings: string[]): Pick<AdmissionResponse, 'warnings'> {
  const clean = warnings.map(cleanWarning).filter((warning) => warning !== '')
  return clean.length === 0 ? {} : { warnings: clean }
}
