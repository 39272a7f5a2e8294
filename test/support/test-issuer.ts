import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'
import type { TestAuthority } from './test-authority.ts'

/** An OpenID Connect issuer, whose answers a test can change. */
export interface TestIssuer {
  url: string
  /** What was asked for, in order. */
  requests: { path: string; authorization: string | undefined }[]
  keys: JWK[]
  /** In place of discovery document and key set. */
  answer:
    | ((path: string) => { status?: number; headers?: Record<string, string>; body: string } | undefined)
    | undefined
  addKey(kid: string, algorithm?: string): Promise<CryptoKey>
  /** A token with these claims beside `iss`, signed by the newest key. */
  sign(claims: JWTPayload, header?: { kid?: string; alg?: string; [name: string]: unknown }): Promise<string>
  close(): Promise<void>
}

export interface IssuerAnswer {
  status?: number
  headers?: Record<string, string>
  body: string
}

const KEYS_TYPE = 'application/jwk-set+json'

export async function startTestIssuer(authority: TestAuthority): Promise<TestIssuer> {
  const tls = await authority.issue({
    commonNames: ['issuer'],
    alternatives: [{ type: 'ip', value: '127.0.0.1' }],
    usage: 'server',
  })
  const signing = new Map<string, { key: CryptoKey; alg: string }>()
  const server = createServer(tls, ({ url: path = '', headers }, response) => {
    issuer.requests.push({ path, authorization: headers.authorization })
    const { status = 200, headers: own = {}, body } = issuer.answer?.(path) ?? answerAt(path, headers.accept)
    response.writeHead(status, { 'content-type': 'application/json', ...own }).end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`

  /** Keys are of a type of their own, and as picky about it as an API server's. */
  function answerAt(path: string, accept = ''): IssuerAnswer {
    if (path !== '/keys') return { body: JSON.stringify({ issuer: url, jwks_uri: `${url}/keys` }) }
    return accept.includes(KEYS_TYPE)
      ? { headers: { 'content-type': KEYS_TYPE }, body: JSON.stringify({ keys: issuer.keys }) }
      : { status: 406, body: '' }
  }

  const issuer: TestIssuer = {
    url,
    requests: [],
    keys: [],
    answer: undefined,
    async addKey(kid, alg = 'RS256') {
      const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
      issuer.keys.push({ ...(await exportJWK(publicKey)), kid, alg, use: 'sig' })
      signing.set(kid, { key: privateKey, alg })
      return privateKey
    },
    async sign(claims, header = {}) {
      const newest = [...signing.keys()].at(-1) ?? ''
      const { key, alg } = signing.get(header.kid ?? newest) ?? signing.get(newest) ?? failure('the issuer has no key')
      return new SignJWT({ iss: url, ...claims }).setProtectedHeader({ kid: newest, alg, ...header }).sign(key)
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return issuer
}

function failure(message: string): never {
  throw new Error(message)
}
