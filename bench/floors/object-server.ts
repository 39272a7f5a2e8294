// An API server in its least form: every GET is answered with the same object. `/connections` says over how many the
// one with these credentials has asked.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'

const { PORT, CERT_FILE = '', KEY_FILE = '', OBJECT_FILE = '' } = process.env

const object = readFileSync(OBJECT_FILE)
const connections = new Map<string, Set<unknown>>()
const tls = { cert: readFileSync(CERT_FILE), key: readFileSync(KEY_FILE), keepAliveTimeout: 60_000 }
const server = createServer(tls, ({ url, socket, headers: { authorization = '' } }, response) => {
  const own = connections.get(authorization) ?? new Set()
  connections.set(authorization, own)
  const isAsked = url === '/connections'
  if (!isAsked) own.add(socket)
  const body = isAsked ? Buffer.from(String(own.size)) : object
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body)
})
server.listen(Number(PORT), '127.0.0.1')
process.once('SIGTERM', () => process.exit(0))
