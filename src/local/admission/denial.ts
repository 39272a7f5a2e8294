import { asArray, asRecord, asString, type JsonRecord } from '../core/json.ts'
import { type StatusCause, StatusError } from '../core/status-error.ts'

/** What the user reads when a webhook says no: its status, in the API server's words, never below 400. */
export function denial(webhook: string, status: JsonRecord | undefined): StatusError {
  const code = typeof status?.['code'] === 'number' && status['code'] >= 400 ? status['code'] : 400
  const reason = asString(status?.['reason'])
  const said = asString(status?.['message']) || reason
  const refused = `admission webhook "${webhook}" denied the request`
  const message = said === '' ? `${refused} without explanation` : `${refused}: ${said}`
  const { causes, ...details } = asRecord(status?.['details'])
  const detailed =
    status?.['details'] === undefined
      ? undefined
      : { ...details, ...(causes === undefined ? {} : { causes: asArray(causes) as StatusCause[] }) }
  return new StatusError(code, reason, message, detailed, webhook)
}
