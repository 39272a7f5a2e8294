import { isCatalogueError } from '../../domain/catalogue-error.ts'
import type { Asked } from '../../domain/doctor/facts.ts'

/** Why something could not be asked, in words that may be shown. */
export class CannotAsk extends Error {
  override readonly name = 'CannotAsk'
}

/** Never rejects: what fails is not known. Words of strangers stay out of the reason, since a URL in them may be a secret. */
export async function ask<T>(question: () => Promise<T>): Promise<Asked<T>> {
  try {
    return { known: true, value: await question() }
  } catch (error) {
    return { known: false, reason: reasonOf(error) }
  }
}

/** The value, for a question that builds on another one. */
export function need<T>(answer: Asked<T>): T {
  if (answer.known) return answer.value
  throw new CannotAsk(answer.reason)
}

function reasonOf(error: unknown): string {
  if (error instanceof CannotAsk || isCatalogueError(error)) return error.message
  if (!(error instanceof Error)) return 'no answer'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}
