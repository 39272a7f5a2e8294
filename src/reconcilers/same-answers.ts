import type { Answer } from './question.ts'

/** Whether the same was asked and answered, in the same order. */
export function sameAnswers(before: readonly Answer[], now: readonly Answer[]): boolean {
  return (
    before.length === now.length &&
    before.every(({ question, version }, index) => {
      const other = now[index]
      return other !== undefined && other.version === version && other.question.text === question.text
    })
  )
}
