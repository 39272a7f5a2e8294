import type { BackendFinding } from './backend-finding.ts'

// Enough to start with; the rest is found by mending these.
const LISTED = 5

/** One finding a reason, so that 26 missing Services are one event. The order of reasons is that of the findings. */
export function summariseFindings(findings: readonly BackendFinding[]): BackendFinding[] {
  const reasons = [...new Set(findings.map(({ reason }) => reason))]
  return reasons.flatMap((reason) => {
    const same = findings.filter((finding) => finding.reason === reason)
    const messages = [...new Set(same.map(({ message }) => message))]
    const more = messages.length > LISTED ? [`and ${messages.length - LISTED} more`] : []
    return same.slice(0, 1).map((first) => ({ ...first, message: [...messages.slice(0, LISTED), ...more].join('; ') }))
  })
}
