import type { Outcome } from '../../domain/outcome.ts'
import { type ErrorBody, workErrorAnswer } from './error-answer.ts'
import { retryAfterSeconds } from './retry-after.ts'

export interface OutcomeAnswer {
  status: number
  headers: Record<string, string>
  body?: ErrorBody
}

/**
 * DESIGN §5, the column "work over HTTP".
 *
 * | outcome | answer | the broker |
 * |---|---|---|
 * | settled, gone, ignored | 204, empty: a body that is no CloudEvent would be redelivered | forgets |
 * | later | 503 + Retry-After | redelivers |
 * | failed, trying again can help | 503 + Retry-After | redelivers |
 * | failed for good | 422 | dead letter sink |
 *
 * Never 404 or 409: brokers redeliver those.
 */
export function outcomeToResponse(outcome: Outcome): OutcomeAnswer {
  switch (outcome.kind) {
    case 'settled':
    case 'gone':
    case 'ignored':
      return { status: 204, headers: {} }
    case 'later':
      return { status: 503, headers: { 'retry-after': retryAfterSeconds(outcome.afterMs) } }
    case 'failed':
      return workErrorAnswer(outcome.error)
  }
}
