import { writeFileSync } from 'node:fs'
import http, { type IncomingHttpHeaders } from 'node:http'
import https from 'node:https'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Script } from 'node:vm'
import type { PlatformAnswer } from '../src/ports/platform-request.ts'
import { type WarmUpRequest, warmUpRequests } from './warm-up-requests.ts'

/** How a leaf is asked; the status of its answer. */
type Ask = (request: WarmUpRequest) => Promise<number>

/** What a platform calls. */
interface Handlers {
  handle(context: object): Promise<{ statusCode: number }>
  handler(event: object): Promise<{ statusCode: number }>
  webhookCloudProvider(request: object, response: object): Promise<void>
}

const require = createRequire(import.meta.url)
const [leaf = '', folder = ''] = process.argv.slice(2)

/**
 * Run in a process of its own for each leaf, as its platform runs it: starts it, asks it everything once, and keeps the code
 * that V8 has compiled until then. So functions that V8 compiles when they are first called are kept too.
 */
async function compileLeaf(): Promise<void> {
  const index = join(folder, 'index.cjs')
  process.argv = [process.execPath, index, ...(leaf === 'container' ? ['serve', '--config', '/dev/null'] : [])]
  const handlers: Handlers = require(index)
  const ask = askOf(handlers)
  for (const request of warmUpRequests().filter(concernsLeaf)) {
    const status = await untilDone(() => ask(request))
    if (status >= 300) throw new Error(`${leaf}: ${request.path} was answered ${status}`)
  }
  const loader = require.cache[index] as unknown as { parts: Map<string, { script: Script }> }
  for (const [name, { script }] of loader.parts) writeCode(name, script)
}

/** What is worked on at the moment is answered 503. */
async function untilDone(ask: () => Promise<number>): Promise<number> {
  for (let left = 50; ; left -= 1) {
    const status = await ask()
    if (status !== 503 || left === 0) return status
    await pause(100)
  }
}

function writeCode(name: string, script: Script): void {
  writeFileSync(join(folder, name.replace(/\.cjs$/, '.cache')), script.createCachedData())
}

/** A function of kn-func has one door. */
function concernsLeaf({ path }: WarmUpRequest): boolean {
  if (!leaf.startsWith('kn-func/')) return true
  const door = path.split('?', 1)[0]
  return door === (leaf === 'kn-func/work' ? '/events' : `/admission/${leaf.slice('kn-func/'.length)}`)
}

function askOf({ handle, handler, webhookCloudProvider }: Handlers): Ask {
  if (leaf.startsWith('kn-func/')) {
    return async ({ method, path, headers, body }) => {
      const query = Object.fromEntries(new URL(path, 'http://leaf').searchParams)
      return (await handle({ method, headers, query, rawBody: body })).statusCode
    }
  }
  if (leaf === 'aws-lambda') {
    return async ({ method, path, headers, body }) => {
      const [rawPath, rawQueryString] = path.split('?')
      const requestContext = { http: { method } }
      const event = { version: '2.0', rawPath, rawQueryString, headers, requestContext, body }
      return (await handler(event)).statusCode
    }
  }
  if (leaf === 'google') {
    return async ({ method, path: originalUrl, headers, body }) => {
      let status = 0
      const response = {
        writeHead(code: number, _headers: PlatformAnswer['headers']) {
          status = code
          return response
        },
        end() {},
      }
      await webhookCloudProvider({ method, originalUrl, headers, rawBody: Buffer.from(body), socket: {} }, response)
      return status
    }
  }
  return askOverHttp
}

/** Of a leaf that listens; it is asked until it does. */
async function askOverHttp(request: WarmUpRequest): Promise<number> {
  for (let left = 400; ; left -= 1) {
    try {
      return await send(request)
    } catch (error) {
      if (left === 0) throw error
      await pause(10)
    }
  }
}

function send({ method, path, headers, body }: WarmUpRequest): Promise<number> {
  const { PORT: port } = process.env
  const client = leaf === 'knative' ? http : https
  const length: IncomingHttpHeaders = method === 'GET' ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, method, headers: { ...headers, ...length } }
    const sent = client.request({ ...options, rejectUnauthorized: false }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode ?? 0))
    })
    sent.once('error', reject).end(method === 'GET' ? undefined : body)
  })
}

compileLeaf().then(
  () => process.exit(0),
  (error) => {
    process.stderr.write(`${error?.stack ?? error}\n`)
    process.exit(1)
  },
)
