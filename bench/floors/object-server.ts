// An API server in its least form: every GET is answered with the same object. `/connections` says how many were opened.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'

const { PORT, CERT_FILE = '', KEY_FILE = '', OBJECT_FILE = '' } = process.env

const object = readFileSync(OBJECT_FILE)
let connections = 0
const tls = { cert: readFileSync(CERT_FILE), key: readFileSync(KEY_FILE), keepAliveTimeout: 60_000 }
const server = createServer(tls, ({ url }, response) => {
  const body = url === '/connections' ? Buffer.from(String(connections)) : object
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body)
})
server.on('secureConnection', () => {
  connections += 1
})
server.listen(Number(PORT), '127.0.0.1')
process.once('SIGTERM', () => process.exit(0))
