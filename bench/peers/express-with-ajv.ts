// Express 5 as one would write it: its JSON parser, a validator that ajv compiled at build time, TLS by node:https.
import { readFileSync } from 'node:fs'
import { createServer, type ServerOptions } from 'node:https'
import { createRequire } from 'node:module'

const { PORT, CERT_FILE = '', KEY_FILE = '', PEERS = '' } = process.env

interface Request {
  body: { apiVersion: string; kind: string; request: { uid: string } }
}
interface Response {
  status(code: number): Response
  json(body: object): void
}
interface Express {
  (): App
  json(options: { limit: string }): unknown
}
interface App {
  (...parameters: never[]): void
  disable(setting: string): void
  use(middleware: unknown): void
  post(path: string, handler: (request: Request, response: Response) => void): void
}

const { validateReview }: { validateReview(review: unknown): boolean } = require(`${__dirname}/review-validator.cjs`)
const express: Express = createRequire(`${PEERS}/`)('express')

const app = express()
app.disable('x-powered-by')
app.use(express.json({ limit: '2mb' }))
app.post('/admission/notify', ({ body: review }, response) => {
  const { apiVersion, kind, request } = review
  response
    .status(validateReview(review) ? 200 : 400)
    .json({ apiVersion, kind, response: { uid: request.uid, allowed: true } })
})
const tls: ServerOptions = { cert: readFileSync(CERT_FILE), key: readFileSync(KEY_FILE), keepAliveTimeout: 60_000 }
createServer(tls, app as never).listen(Number(PORT), '127.0.0.1')
process.once('SIGTERM', () => process.exit(0))
