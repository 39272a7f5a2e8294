// A platform in its least form: takes a request over TLS and hands it to the handler of a leaf, as that platform does.
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'

const { PORT, CERT_FILE = '', KEY_FILE = '', LEAF = '', PLATFORM = '' } = process.env

type Serve = (request: IncomingMessage, body: Buffer, response: ServerResponse) => Promise<void>
type Leaf = Record<'handle' | 'handler' | 'webhookCloudProvider', (...parameters: unknown[]) => Promise<Returned>>
type Returned = { statusCode: number; headers: Record<string, string>; body: string; isBase64Encoded?: boolean }

const leaf: Leaf = require(LEAF)

const platforms: Record<string, Serve> = {
  async 'kn-func'({ method, headers }, body, response) {
    write(await leaf.handle({ method, headers, query: {}, rawBody: body.toString() }), response)
  },
  async 'aws-lambda'({ method, headers, url }, body, response) {
    const event = {
      version: '2.0',
      rawPath: url,
      rawQueryString: '',
      headers,
      requestContext: { stage: '$default', http: { method, path: url, protocol: 'HTTP/1.1', sourceIp: '203.0.113.7' } },
      body: body.toString(),
      isBase64Encoded: false,
    }
    write(await leaf.handler(event), response)
  },
  async google(request, body, response) {
    await leaf.webhookCloudProvider(Object.assign(request, { originalUrl: request.url, rawBody: body }), response)
  },
}

function write({ statusCode, headers, body, isBase64Encoded = false }: Returned, response: ServerResponse): void {
  response.writeHead(statusCode, headers).end(isBase64Encoded ? Buffer.from(body, 'base64') : body)
}

const serve = platforms[PLATFORM]
if (serve === undefined) throw new Error(`no platform ${PLATFORM}`)
const server = createServer({ cert: readFileSync(CERT_FILE), key: readFileSync(KEY_FILE) }, (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => void chunks.push(chunk))
  request.on('end', () => void serve(request, Buffer.concat(chunks), response))
})
server.listen(Number(PORT), '127.0.0.1')
process.once('SIGTERM', () => process.exit(0))
