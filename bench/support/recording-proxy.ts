import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { Agent, request } from 'undici'
import type { TlsFiles } from '../bench.ts'
import { objectsIn, type RecordedRequest } from '../clients/recorded-request.ts'

export interface RecordingProxy {
  url: string
  /** In the order in which they were answered. */
  recorded: RecordedRequest[]
  /** Resolves when all that has been asked is answered and recorded. */
  answered(): Promise<unknown>
  close(): Promise<void>
}

/** Stands before an API server, hands everything on, and keeps what was asked. */
export async function startRecordingProxy(
  { certFile, keyFile }: TlsFiles,
  server: { url: string; caPem: string },
): Promise<RecordingProxy> {
  const dispatcher = new Agent({ connect: { ca: server.caPem } })
  const recorded: RecordedRequest[] = []
  const underWay = new Set<Promise<void>>()
  const handOn = async (message: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of message) chunks.push(chunk as Buffer)
    const { method = 'GET', url: path = '/' } = message
    const { authorization, accept, 'content-type': contentType } = message.headers
    const body = chunks.length === 0 ? undefined : Buffer.concat(chunks).toString()
    const answer = await request(`${server.url}${path}`, {
      dispatcher,
      method: method as 'GET',
      headers: { authorization, accept, 'content-type': contentType },
      body: body ?? null,
    })
    const text = await answer.body.text()
    recorded.push({
      method,
      path,
      ...(contentType === undefined ? {} : { contentType }),
      ...(body === undefined ? {} : { body }),
      status: answer.statusCode,
      seen: objectsIn(text),
    })
    response
      .writeHead(answer.statusCode, { 'content-type': 'application/json', date: `${answer.headers['date']}` })
      .end(text)
  }
  const proxy = createServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, (message, response) => {
    const handed = handOn(message, response).finally(() => underWay.delete(handed))
    underWay.add(handed)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    url: `https://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    recorded,
    answered: () => Promise.all(underWay),
    async close() {
      proxy.closeAllConnections()
      proxy.close()
      await once(proxy, 'close')
      await dispatcher.close()
    },
  }
}
