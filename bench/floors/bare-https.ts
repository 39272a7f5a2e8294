// The least that answers a review over TLS: parses it, and says yes. With FINALIZER it adds that to an object without any.
import { readFileSync } from 'node:fs'
import { createServer as createPlainServer, type RequestListener } from 'node:http'
import { createServer } from 'node:https'

const { PORT, CERT_FILE, KEY_FILE, FINALIZER } = process.env

const added = JSON.stringify([{ op: 'add', path: '/metadata/finalizers', value: [FINALIZER] }])
const patch = FINALIZER === undefined ? {} : { patchType: 'JSONPatch', patch: Buffer.from(added).toString('base64') }

const answer: RequestListener = (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => void chunks.push(chunk))
  request.on('end', () => {
    const { apiVersion, kind, request: asked } = JSON.parse(Buffer.concat(chunks).toString())
    const body = JSON.stringify({ apiVersion, kind, response: { uid: asked.uid, allowed: true, ...patch } })
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body)
  })
}

const server =
  CERT_FILE === undefined || KEY_FILE === undefined
    ? createPlainServer(answer)
    : createServer({ cert: readFileSync(CERT_FILE), key: readFileSync(KEY_FILE), keepAliveTimeout: 60_000 }, answer)
server.listen(Number(PORT), '127.0.0.1')
process.once('SIGTERM', () => process.exit(0))
