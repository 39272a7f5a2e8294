import type { Behaviour, ReceivedReview, WebhookAnswer } from './webhook-receiver.ts'

export interface JsonPatchOperation {
  op: string
  path: string
  value?: unknown
  from?: string
}

/** An AdmissionReview that echoes the uid, with these further fields in its response. */
export function reviewAnswer({ request }: ReceivedReview, response: Record<string, unknown>): WebhookAnswer {
  return {
    body: { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid: request.uid, ...response } },
  }
}

export const allow: Behaviour = (received) => reviewAnswer(received, { allowed: true })

export function deny(status?: Record<string, unknown>): Behaviour {
  return (received) => reviewAnswer(received, { allowed: false, ...(status === undefined ? {} : { status }) })
}

export function warn(...warnings: string[]): Behaviour {
  return (received) => reviewAnswer(received, { allowed: true, warnings })
}

/** Adds the patch to what is asked about, deletions aside. */
export function patch(...operations: JsonPatchOperation[]): Behaviour {
  return (received) => {
    if (received.request.operation === 'DELETE') return allow(received)
    return reviewAnswer(received, { allowed: true, patchType: 'JSONPatch', patch: base64(operations) })
  }
}

export function base64(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64')
}
