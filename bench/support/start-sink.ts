import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Takes every event, as a broker does, and brings none of them to anybody. */
export interface Sink {
  url: string
  close(): Promise<void>
}

export async function startSink(): Promise<Sink> {
  const server = createServer((message, response) => {
    message.resume().once('end', () => void response.writeHead(202).end())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
