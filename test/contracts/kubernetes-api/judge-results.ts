import { type CheckResult, nameOfCheck } from '../kubernetes-api-contract.ts'

export interface KnownDifference {
  /** `section: name` of the check that fails. */
  check: string
  reason: string
}

export interface Judgement {
  passed: CheckResult[]
  /** Failed, and nobody said it would. */
  failed: CheckResult[]
  /** Failed as it was said. */
  differences: (KnownDifference & { result: CheckResult })[]
  /** Said to fail, and passed: the list must be mended. */
  vanished: CheckResult[]
}

export function judgeResults(results: readonly CheckResult[], known: readonly KnownDifference[]): Judgement {
  const judgement: Judgement = { passed: [], failed: [], differences: [], vanished: [] }
  const reasons = new Map(known.map((difference) => [difference.check, difference]))
  for (const result of results) {
    const difference = reasons.get(nameOfCheck(result.check))
    if (difference === undefined) judgement[result.failure === undefined ? 'passed' : 'failed'].push(result)
    else if (result.failure === undefined) judgement.vanished.push(result)
    else judgement.differences.push({ ...difference, result })
  }
  return judgement
}

/** Differences that name no check there is. */
export function danglingDifferences(
  known: readonly KnownDifference[],
  checks: readonly CheckResult['check'][],
): string[] {
  const names = new Set(checks.map(nameOfCheck))
  return known.map(({ check }) => check).filter((name) => !names.has(name))
}
