import type { Kind } from '../domain/kinds.ts'

/** What was asked of the API server, to be kept and asked once more: for one object by its name, or for a list. */
export interface Question {
  /** Tells it from all others. */
  text: string
  kind: Kind
  /** Absent for all namespaces; empty for cluster-scoped kinds. */
  namespace?: string
  name?: string
  labelSelector?: string
  /** A page of a list. */
  page?: string
}

/** And which version the answer was of. */
export interface Answer {
  question: Question
  version: string
}

/** Knows answers already, of reads that were made before. */
export interface AnswersKnown {
  /** Undefined where the server would have to be asked. The same object for the same question, so that it costs nothing to keep. */
  answerTo(question: Question): Answer | undefined
}
