import type { Answer, AnswersKnown } from './question.ts'

/**
 * Whether all of this would be answered as it was, as far as that is known without asking. What a pass asks for next
 * follows from what it was answered, so it would come to the same.
 */
export function answeredStill(before: readonly Answer[], known: AnswersKnown): boolean {
  for (const { question, version } of before) {
    if (known.answerTo(question)?.version !== version) return false
  }
  return true
}
