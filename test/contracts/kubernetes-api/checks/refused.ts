import assert from 'node:assert/strict'
import type { Answer } from '../api-client.ts'

export interface Refusal {
  code: number
  /** Absent where the Status has none. */
  reason?: string
  message?: string | RegExp
}

/** The answer is a Status that says no, this way and no other. */
export function assertRefused(answer: Answer, { code, reason, message }: Refusal): void {
  const { body } = answer
  const got = { code: answer.code, kind: body.kind, status: body.status, bodyCode: body.code, reason: body.reason }
  assert.deepEqual(got, { code, kind: 'Status', status: 'Failure', bodyCode: code, reason }, answer.text)
  if (typeof message === 'string') assert.equal(body.message, message)
  else if (message !== undefined) assert.match(body.message ?? '', message)
}

export function assertAccepted(answer: Answer, code = 200): void {
  assert.equal(answer.code, code, answer.text)
}

/** The server gave up: it says so, or it just ends the connection. */
export async function assertGivenUp(asked: Promise<Answer>): Promise<void> {
  const answer = await asked.catch(() => undefined)
  assert.ok(answer === undefined || answer.code >= 500, answer?.text)
}
