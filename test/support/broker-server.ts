import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BrokerEvent, StandInBroker } from './stand-in-broker.ts'

/** The broker's ingress over HTTP; it can go down and come back on the same port. */
export interface BrokerServer {
  url: string
  /** As they came. */
  received: BrokerEvent[]
  down(): Promise<void>
  up(): Promise<void>
}

export async function serveBroker(broker: Pick<StandInBroker, 'receive' | 'down' | 'up'>): Promise<BrokerServer> {
  const received: BrokerEvent[] = []
  let server: Server | undefined

  async function listen(port: number): Promise<number> {
    const created = createServer(async (message, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of message) chunks.push(chunk as Buffer)
      const headers = Object.fromEntries(Object.entries(message.headers).map(([name, value]) => [name, `${value}`]))
      const event = { headers, body: Buffer.concat(chunks).toString() }
      received.push(event)
      const answer = broker.receive(event)
      if (answer === undefined) return void response.destroy()
      response.writeHead(answer.status).end()
    })
    await new Promise<void>((resolve) => created.listen(port, '127.0.0.1', resolve))
    server = created
    return (created.address() as AddressInfo).port
  }

  const port = await listen(0)
  return {
    url: `http://127.0.0.1:${port}/default/broker`,
    received,
    async down() {
      broker.down()
      const closed = server
      server = undefined
      if (closed === undefined) return
      const ended = new Promise<void>((resolve) => closed.close(() => resolve()))
      closed.closeAllConnections()
      await ended
    },
    async up() {
      await listen(port)
      broker.up()
    },
  }
}
