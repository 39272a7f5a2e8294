// The same with the review and its object validated, by code that ajv compiled at build time.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'

const { PORT, CERT_FILE = '', KEY_FILE = '' } = process.env

const { validateReview }: { validateReview(review: unknown): boolean } = require(`${__dirname}/review-validator.cjs`)

const tls = { cert: readFileSync(CERT_FILE), key: readFileSync(KEY_FILE), keepAliveTimeout: 60_000 }
const server = createServer(tls, (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => void chunks.push(chunk))
  request.on('end', () => {
    const review = JSON.parse(Buffer.concat(chunks).toString())
    const { apiVersion, kind, request: asked } = review
    const status = validateReview(review) ? 200 : 400
    const body = JSON.stringify({ apiVersion, kind, response: { uid: asked.uid, allowed: true } })
    response
      .writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      .end(body)
  })
})
server.listen(Number(PORT), '127.0.0.1')
process.once('SIGTERM', () => process.exit(0))
