import { setTimeout as pause } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { createCertificateAuthority } from '../../../src/adapters/certificates/certificate-authority.ts'
import {
  type ReceivedReview,
  startWebhookReceiver,
  type WebhookAnswer,
} from '../../contracts/kubernetes-api/webhook-receiver.ts'

const DOORS = ['mutate', 'validate', 'notify'] as const
export type Door = (typeof DOORS)[number]

/** Stands before the doors of a function: keeps what the API server sent, and passes it on. */
export interface ReviewFront {
  url: string
  caPem: string
  reviews: Record<Door, ReceivedReview[]>
  /** The function is asked at once, the API server hears from it only after this time. */
  answerAfter(ms: number): void
  close(): Promise<void>
}

export async function startReviewFront(target: { url: string; caPem: string }): Promise<ReviewFront> {
  const authority = await createCertificateAuthority(Date.now(), 'review front')
  const receiver = await startWebhookReceiver({
    ...(await authority.issueServingCertificate(['127.0.0.1'])),
    caPem: authority.caPem,
  })
  const dispatcher = new Agent({ connect: { ca: target.caPem } })
  let delayMs = 0

  const pass = async ({ path, text }: ReceivedReview): Promise<WebhookAnswer> => {
    const headers = { 'content-type': 'application/json' }
    const { statusCode, body } = await request(target.url + path, { method: 'POST', headers, body: text, dispatcher })
    const answer = { code: statusCode, body: await body.text() }
    await pause(delayMs)
    return answer
  }

  const serve = (door: Door) => receiver.serve(`/admission/${door}`, pass)
  return {
    url: `https://127.0.0.1:${receiver.port}`,
    caPem: authority.caPem,
    reviews: { mutate: serve('mutate'), validate: serve('validate'), notify: serve('notify') },
    answerAfter(ms) {
      delayMs = ms
    },
    async close() {
      await receiver.close()
      await dispatcher.destroy()
    },
  }
}
