/** What one proof says of a caller. `caller` names who it is, where the proof tells one caller from another. */
export type ProofResult = { kind: 'proven'; caller?: string } | { kind: 'failed'; reason: ProofFailure }

/**
 * Why a caller is not proven. The operator sees it in a metric; the caller never does.
 *
 * | reason | because |
 * |---|---|
 * | unverifiable | the keys to verify it with could not be had: the same credential may be good a moment later |
 * | notAllowed | it is proven who calls, and this one may not |
 * | expired | the credential was good once |
 * | unknown | the credential is none of ours |
 * | missing | there is no credential |
 */
export type ProofFailure = (typeof FAILURES)[number]

/** What says most comes first. */
const FAILURES = ['unverifiable', 'notAllowed', 'expired', 'unknown', 'missing'] as const

/** Any one proof suffices; of several failures the one that says most is the verdict. */
export function judgeProofs(results: readonly ProofResult[]): ProofResult {
  const proven = results.find(({ kind }) => kind === 'proven')
  if (proven !== undefined) return proven
  const reasons = results.flatMap((result) => (result.kind === 'failed' ? [result.reason] : []))
  return { kind: 'failed', reason: FAILURES.find((reason) => reasons.includes(reason)) ?? 'missing' }
}
