import http from 'node:http'
import https from 'node:https'

/** PEM text, as `https.createServer` takes it. */
export interface Tls {
  key: string | Buffer
  cert: string | Buffer
  /** The authority whose client certificates are looked at; nobody is asked for one without it. */
  clientCa?: string | undefined
}

export interface ServerTimeouts {
  keepAliveMs: number
  requestMs: number
  /** How often Node looks for requests that take too long. */
  checkMs: number
}

/**
 * - Keep-alive 95 s: Go's transport, so the API server, keeps an idle connection for 90 s (IdleConnTimeout). Were ours the
 *   shorter one, a review could be sent into a connection that we are closing, and that is not retried.
 * - Request 30 s: the longest a review may take (`timeoutSeconds` ≤ 30), from its first byte to its last.
 */
const TIMEOUTS: ServerTimeouts = { keepAliveMs: 95_000, requestMs: 30_000, checkMs: 5_000 }

/**
 * The server under the app: HTTP/1.1, since the API server speaks nothing else to webhooks (client.go:185).
 *
 * `headersTimeout` does not count while a kept-alive connection is idle (Node ≥ 18), so it need not exceed the keep-alive.
 * It must not: when it is longer than `requestTimeout`, Node swaps the two, and a body may then dribble in for as long as
 * the longer one says. A test holds both facts.
 */
export function createServer(
  handler: http.RequestListener,
  tls: Tls | undefined,
  timeouts: ServerTimeouts = TIMEOUTS,
): http.Server {
  const options: http.ServerOptions = {
    keepAliveTimeout: timeouts.keepAliveMs,
    headersTimeout: timeouts.requestMs,
    requestTimeout: timeouts.requestMs,
    connectionsCheckingInterval: timeouts.checkMs,
  }
  const server =
    tls === undefined
      ? http.createServer(options, handler)
      : https.createServer({ ...options, ...secureOptions(tls) }, handler)
  server.maxRequestsPerSocket = 0
  server.on('checkContinue', (request, response) => {
    askForBodyWhenRead(request, response)
    handler(request, response)
  })
  return server
}

/**
 * `Expect: 100-continue`: the body is asked for when somebody begins to read it, so never of a caller who is refused. Then
 * it may come or not, and what comes next is no request to be sure of: the connection goes.
 */
function askForBodyWhenRead(request: http.IncomingMessage, response: http.ServerResponse): void {
  const { shouldKeepAlive } = response
  response.shouldKeepAlive = false
  request.once('resume', () => {
    if (response.headersSent) return
    response.shouldKeepAlive = shouldKeepAlive
    response.writeContinue()
  })
}

/** A client without a certificate, or with one of another authority, is let in as nobody: it may have another proof. */
function secureOptions({ key, cert, clientCa }: Tls): https.ServerOptions {
  const clients = clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: false }
  return { key, cert, minVersion: 'TLSv1.2', ALPNProtocols: ['http/1.1'], ...clients }
}
