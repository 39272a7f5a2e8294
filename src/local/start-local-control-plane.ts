import { randomBytes, randomUUID } from 'node:crypto'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { CatalogueError } from '../domain/catalogue-error.ts'
import type { Clock } from '../ports/clock.ts'
import type { CallWebhook } from './admission/call-webhook.ts'
import { createHttpsWebhookCaller } from './admission/https-webhook-caller.ts'
import { createWebhookAdmission } from './admission/webhook-admission.ts'
import type { UserInfo } from './core/admission-chain.ts'
import type { ApiObject } from './core/api-object.ts'
import { type ControlPlaneCore, createControlPlaneCore } from './core/control-plane-core.ts'
import { serveRequest } from './http/serve-request.ts'
import { writeResponse } from './http/write-response.ts'
import { kubeconfigOf } from './kubeconfig.ts'

/** Signs what we serve with. */
export interface ServingAuthority {
  caPem: string
  issueServingCertificate(hosts: readonly string[]): Promise<{ certPem: string; keyPem: string }>
}

export interface LocalControlPlaneOptions {
  clock: Clock
  authority: ServingAuthority
  /** 0 or absent: a free one. */
  port?: number
  /** CustomResourceDefinitions to serve from the start; more can be created through the API. */
  definitions?: readonly ApiObject[]
  /** How webhooks are called; over HTTPS when absent. */
  callWebhook?: CallWebhook
}

export interface LocalControlPlane {
  url: string
  port: number
  /** For kubectl, as the administrator. */
  kubeconfig: string
  caPem: string
  adminToken: string
  /** A token for this user; the same each time. */
  tokenFor(username: string): string
  core: ControlPlaneCore
  close(): Promise<void>
}

const ADMIN: UserInfo = { username: 'admin', groups: ['system:masters', 'system:authenticated'] }

/** A Kubernetes API over HTTPS on 127.0.0.1, with tokens of its own. */
export async function startLocalControlPlane(options: LocalControlPlaneOptions): Promise<LocalControlPlane> {
  const { clock, authority } = options
  const caller = createHttpsWebhookCaller()
  const callWebhook = options.callWebhook ?? caller.callWebhook
  const core = createControlPlaneCore({
    clock,
    uid: randomUUID,
    nameSuffix: randomNameSuffix,
    ...(options.definitions === undefined ? {} : { definitions: options.definitions }),
    admission: (own) => createWebhookAdmission({ core: own, clock, uid: randomUUID, callWebhook }),
  })
  const { certPem, keyPem } = await authority.issueServingCertificate(['127.0.0.1', 'localhost'])
  const tokens = createTokens()
  const front = { core, clock, userOf: tokens.userOf }
  // kubectl and client-node reuse connections for longer than Node's five seconds.
  const server = createServer({ cert: certPem, key: keyPem, keepAliveTimeout: 95_000 }, (request, response) => {
    // The clock's time and not the machine's: leases are judged by it.
    response.setHeader('date', new Date(clock.now()).toUTCString())
    serveRequest(front, request)
      .then((answer) => writeResponse(answer, response))
      .catch(() => response.destroy())
  })
  const port = await listen(server, options.port ?? 0)
  const url = `https://127.0.0.1:${port}`
  const adminToken = tokens.add(ADMIN)

  return {
    url,
    port,
    kubeconfig: kubeconfigOf({ url, caPem: authority.caPem, token: adminToken, user: ADMIN.username }),
    caPem: authority.caPem,
    adminToken,
    tokenFor: tokens.tokenFor,
    core,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
      await caller.close()
    },
  }
}

function listen(server: ReturnType<typeof createServer>, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const isTaken = cause.code === 'EADDRINUSE'
      const message = isTaken ? `port ${port} is in use: choose another one, or 0 for a free one` : cause.message
      reject(new CatalogueError(isTaken ? 'PortInUse' : 'Internal', message, { cause }))
    })
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

interface Tokens {
  add(user: UserInfo): string
  tokenFor(username: string): string
  userOf(token: string): UserInfo | undefined
}

function createTokens(): Tokens {
  const users = new Map<string, UserInfo>()
  const byName = new Map<string, string>()
  const add = (user: UserInfo) => {
    const token = randomBytes(24).toString('base64url')
    users.set(token, user)
    byName.set(user.username, token)
    return token
  }
  return {
    add,
    tokenFor: (username) => byName.get(username) ?? add({ username, groups: groupsOf(username) }),
    userOf: (token) => users.get(token),
  }
}

function groupsOf(username: string): string[] {
  const [, namespace] = /^system:serviceaccount:([^:]+):[^:]+$/.exec(username) ?? []
  const own = namespace === undefined ? [] : ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
  return [...own, 'system:authenticated']
}

const NAME_LETTERS = 'bcdfghjklmnpqrstvwxz2456789'

function randomNameSuffix(): string {
  return Array.from(randomBytes(5), (byte) => NAME_LETTERS[byte % NAME_LETTERS.length]).join('')
}
