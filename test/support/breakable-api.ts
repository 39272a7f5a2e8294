import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createCertificateAuthority } from '../../src/adapters/certificates/certificate-authority.ts'
import type { ApiObject } from '../../src/local/core/api-object.ts'
import { type ControlPlaneCore, createControlPlaneCore } from '../../src/local/core/control-plane-core.ts'
import { karmadaCrds } from '../../src/local/crds/karmada-crds.ts'
import { serveRequest } from '../../src/local/http/serve-request.ts'
import { writeResponse } from '../../src/local/http/write-response.ts'
import { kubeconfigOf } from '../../src/local/kubeconfig.ts'
import type { Clock } from '../../src/ports/clock.ts'

export interface ApiRequest {
  path: string
  query: URLSearchParams
  accept: string
}

/** The local control plane's API over HTTPS, which can go down and come back, and do what a real one does now and then. */
export interface BreakableApi {
  core: ControlPlaneCore
  kubeconfig: string
  requests: ApiRequest[]
  /** Of watches that are open. */
  openWatches(): number
  /** Breaks every connection. */
  cut(): void
  /** Says this line on every open watch, and ends them. */
  say(line: string): void
  /** Answers instead of the API while set. */
  answerWith(answer: ((request: ApiRequest, response: ServerResponse) => boolean) | undefined): void
  /** No answer at all: connections are refused. */
  down(): Promise<void>
  /** On the same port; over another core, if given: one that was restored from a backup. */
  up(core?: ControlPlaneCore): Promise<void>
}

export function createCore(clock: Clock): ControlPlaneCore {
  return createControlPlaneCore({
    clock,
    uid: randomUUID,
    nameSuffix: () => 'x7k2p',
    definitions: karmadaCrds as ApiObject[],
    namespaces: ['shop'],
  })
}

export async function startBreakableApi(clock: Clock): Promise<BreakableApi> {
  const authority = await createCertificateAuthority(clock.now(), 'breakable')
  const { certPem: cert, keyPem: key } = await authority.issueServingCertificate(['127.0.0.1', 'localhost'])
  const requests: ApiRequest[] = []
  const watches = new Set<ServerResponse>()
  let core = createCore(clock)
  let instead: ((request: ApiRequest, response: ServerResponse) => boolean) | undefined
  let server: Server | undefined

  async function handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(message.url ?? '/', 'https://localhost')
    const request = { path: url.pathname, query: url.searchParams, accept: message.headers.accept ?? '' }
    requests.push(request)
    if (instead?.(request, response) === true) return
    const userOf = () => ({ username: 'watcher', groups: ['system:masters'] })
    const answer = await serveRequest({ core, clock, userOf }, message)
    if (answer.kind !== 'stream') return writeResponse(answer, response)
    watches.add(response)
    response.on('close', () => watches.delete(response))
    const { start } = answer
    writeResponse(
      {
        kind: 'stream',
        // After `say` the stream is over, and the API does not know it yet.
        start: (send, end) => start((event) => response.writableEnded || send(event), end),
      },
      response,
    )
  }

  async function listen(port: number): Promise<number> {
    const created = createServer({ cert, key }, (message, response) => {
      handle(message, response).catch(() => response.destroy())
    })
    server = created
    await new Promise<void>((resolve) => created.listen(port, '127.0.0.1', resolve))
    return (created.address() as AddressInfo).port
  }

  const port = await listen(0)
  const url = `https://127.0.0.1:${port}`
  return {
    get core() {
      return core
    },
    kubeconfig: kubeconfigOf({ url, caPem: authority.caPem, token: 'token', user: 'watcher' }),
    requests,
    openWatches: () => watches.size,
    cut: () => server?.closeAllConnections(),
    say(line) {
      for (const response of watches) response.end(`${line}\n`)
      watches.clear()
    },
    answerWith(answer) {
      instead = answer
    },
    async down() {
      const closed = server
      server = undefined
      if (closed === undefined) return
      const ended = new Promise<void>((resolve) => closed.close(() => resolve()))
      closed.closeAllConnections()
      await ended
    },
    async up(other) {
      core = other ?? core
      await listen(port)
    },
  }
}
