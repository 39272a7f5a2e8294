import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Stands in for the API that AWS Lambda gives to runtimes: they poll for an event and post the answer to it. */
export interface LambdaRuntimeApi {
  /** For AWS_LAMBDA_RUNTIME_API. */
  address: string
  /** Resolves with what the handler returned; rejects with the error that its runtime reports. */
  invoke(event: object): Promise<unknown>
  close(): Promise<void>
}

interface Invocation {
  id: string
  event: object
  resolve(answer: unknown): void
  reject(error: Error): void
}

const ROOT = '/2018-06-01/runtime'
const TIMEOUT_MS = 60_000

export async function startLambdaRuntimeApi(): Promise<LambdaRuntimeApi> {
  const waiting: Invocation[] = []
  const running = new Map<string, Invocation>()
  let idle: ServerResponse | undefined
  let initFailed: Error | undefined

  function handOut(): void {
    const invocation = waiting[0]
    if (idle === undefined || invocation === undefined) return
    waiting.shift()
    running.set(invocation.id, invocation)
    idle.writeHead(200, {
      'content-type': 'application/json',
      'lambda-runtime-aws-request-id': invocation.id,
      'lambda-runtime-deadline-ms': String(Date.now() + TIMEOUT_MS),
      'lambda-runtime-invoked-function-arn': 'arn:aws:lambda:eu-west-1:123456789012:function:webhook-cloud-provider',
      'lambda-runtime-trace-id': 'Root=1-00000000-000000000000000000000000;Sampled=0',
    })
    idle.end(JSON.stringify(invocation.event))
    idle = undefined
  }

  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = message.url ?? ''
    if (message.method === 'GET' && path === `${ROOT}/invocation/next`) {
      idle = response
      return handOut()
    }
    const body = await textOf(message)
    const [, id = '', outcome] = new RegExp(`^${ROOT}/invocation/([^/]+)/(response|error)$`).exec(path) ?? []
    const invocation = running.get(id)
    running.delete(id)
    if (outcome === 'response') invocation?.resolve(JSON.parse(body))
    else if (outcome === 'error') invocation?.reject(new Error(body))
    else if (path === `${ROOT}/init/error`) fail(new Error(`the function did not start: ${body}`))
    else return void response.writeHead(404).end()
    response.writeHead(202, { 'content-type': 'application/json' }).end('{"status":"OK"}')
  }

  function fail(error: Error): void {
    initFailed = error
    for (const { reject } of waiting.splice(0)) reject(error)
  }

  const server = createServer((message, response) => {
    serve(message, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    invoke: (event) =>
      new Promise((resolve, reject) => {
        if (initFailed !== undefined) return reject(initFailed)
        waiting.push({ id: randomUUID(), event, resolve, reject })
        handOut()
      }),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
