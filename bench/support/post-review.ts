import { request as plainRequest } from 'node:http'
import { request } from 'node:https'

export interface Target {
  port: number
  path: string
  /** Plain HTTP without it. */
  caPem?: string
}

/** One review on a connection of its own; the answer. Rejects unless it is allowed. */
export async function postReview({ port, path, caPem }: Target, review: string): Promise<string> {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(review) }
  const options = { host: '127.0.0.1', port, path, method: 'POST', headers, agent: false }
  const text = await new Promise<string>((resolve, reject) => {
    const sent = caPem === undefined ? plainRequest(options) : request({ ...options, ca: caPem })
    sent.once('error', reject)
    sent.once('response', (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk
      })
      response.once('end', () => resolve(body)).once('error', reject)
    })
    sent.end(review)
  })
  if (!/"allowed":true/.test(text)) throw new Error(`${path} answered: ${text}`)
  return text
}
