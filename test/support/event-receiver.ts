import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { CloudEvent } from '../../src/adapters/http/cloud-event.ts'
import { decodeCloudEvents } from '../../src/adapters/http/decode-cloud-event.ts'

export interface ReceivedEvent {
  /** What our own door reads. */
  event: CloudEvent
  headers: IncomingHttpHeaders
  body: string
  /** What it was answered. */
  status: number
}

export interface Answer {
  status: number
  headers?: Record<string, string>
  body?: string
}

/** A sink that keeps what it is sent. */
export interface EventReceiver {
  url: string
  /** In the order they came, those that were not taken included. */
  received: ReceivedEvent[]
  /** `add shop/web` of those that were taken. */
  taken(): string[]
  /** From now on; undefined breaks the connection. */
  answer(choose: (event: CloudEvent) => Answer | undefined): void
  down(): Promise<void>
  up(): Promise<void>
}

export async function startEventReceiver(): Promise<EventReceiver> {
  const received: ReceivedEvent[] = []
  let answerFor: (event: CloudEvent) => Answer | undefined = () => ({ status: 204 })
  let server: Server | undefined

  async function listen(port: number): Promise<number> {
    const created = createServer(async (message, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of message) chunks.push(chunk as Buffer)
      const { headers, rawHeaders } = message
      const body = Buffer.concat(chunks)
      const [event] = decodeCloudEvents({ headers, rawHeaders, body }).events
      const answer = event === undefined ? { status: 400 } : answerFor(event)
      if (event !== undefined) received.push({ event, headers, body: `${body}`, status: answer?.status ?? 0 })
      if (answer === undefined) return void response.destroy()
      response.writeHead(answer.status, answer.headers).end(answer.body)
    })
    server = created
    await new Promise<void>((resolve) => created.listen(port, '127.0.0.1', resolve))
    return (created.address() as AddressInfo).port
  }

  const port = await listen(0)
  return {
    url: `http://127.0.0.1:${port}/events`,
    received,
    taken: () => received.filter(isTaken).map(({ event }) => labelOf(event)),
    answer(choose) {
      answerFor = choose
    },
    async down() {
      const closed = server
      server = undefined
      if (closed === undefined) return
      const ended = new Promise<void>((resolve) => closed.close(() => resolve()))
      closed.closeAllConnections()
      await ended
    },
    async up() {
      await listen(port)
    },
  }
}

export function isTaken({ status }: ReceivedEvent): boolean {
  return status >= 200 && status < 300
}

function labelOf({ type, extensions }: CloudEvent): string {
  const namespace = extensions.get('namespace')
  return `${type.split('.').at(-1)} ${namespace === undefined ? '' : `${namespace}/`}${extensions.get('name')}`
}
