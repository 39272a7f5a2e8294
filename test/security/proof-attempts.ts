import { createPublicKey } from 'node:crypto'
import { exportJWK, exportSPKI, generateKeyPair, importJWK, SignJWT } from 'jose'
import { buildReview } from '../support/api-callers.ts'
import { buildIngress } from '../support/build-objects.ts'
import { createTestAuthority } from '../support/test-authority.ts'
import { type Attempt, message, request, type Sent } from './attempt.ts'
import { AUDIENCE, type Bench, BROKER } from './bench.ts'

// Who cannot prove who it is.

const REVIEW = () => buildReview('DELETE', { oldObject: buildIngress() as never })
const EVENT = {
  specversion: '1.0',
  id: '1',
  source: 'https://api',
  type: 'dev.knative.apiserver.ref.delete',
  data: {
    apiVersion: 'networking.karmada.io/v1alpha1',
    kind: 'MultiClusterIngress',
    namespace: 'shop',
    name: 'storefront',
  },
}

const review = (bench: Bench, more: Partial<Sent> = {}) =>
  bench.raw(request(bench, { path: '/admission/notify', body: REVIEW(), ...more }))
const event = (bench: Bench, token: string) => bench.raw(request(bench, { path: '/events', token, body: EVENT }))

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** The claims of a good token under a header of the attacker's. */
const unsigned = (bench: Bench, header: object, signature = '') => {
  const now = Math.floor(bench.world.clock.now() / 1_000)
  const claims = { iss: bench.issuer.url, aud: AUDIENCE, sub: BROKER, iat: now, exp: now + 600 }
  return `${encoded(header)}.${encoded(claims)}.${signature}`
}

/** Signed with a key of the attacker's. */
async function foreign(bench: Bench, header: object, alg = 'RS256'): Promise<string> {
  const { privateKey } = await generateKeyPair(alg)
  const [, payload = ''] = unsigned(bench, {}).split('.')
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
  return new SignJWT(claims).setProtectedHeader({ alg, ...header }).sign(privateKey)
}

async function confused(bench: Bench, secretOf: (bench: Bench) => Promise<string>): Promise<string> {
  const secret = new TextEncoder().encode(await secretOf(bench))
  const [, payload = ''] = unsigned(bench, {}).split('.')
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
  return new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'k1' }).sign(secret)
}

const publicPem = async ({ issuer }: Bench) => exportSPKI((await importJWK(issuer.keys[0] ?? {}, 'RS256')) as never)

/** What the issuer answers is changed for one attempt; held keys are old enough to be read again. */
async function withIssuer(
  bench: Bench,
  answer: Bench['issuer']['answer'],
  token: () => Promise<string>,
): Promise<string> {
  bench.issuer.answer = answer
  try {
    return await event(bench, await token())
  } finally {
    bench.issuer.answer = undefined
  }
}

const client = async (bench: Bench, authority: Bench['authority'], commonName: string, more: object = {}) => {
  const issued = await authority.issue({ commonNames: [commonName], usage: 'client', ...more })
  bench.secrets.add(issued.key)
  return bench.raw(request(bench, { path: '/admission/notify', body: REVIEW() }), issued)
}

export const PROOF_ATTEMPTS: readonly Attempt[] = [
  { name: 'no token', answers: [401], send: (bench) => review(bench) },
  { name: 'an empty token', answers: [401], send: (bench) => review(bench, { token: '' }) },
  { name: 'a wrong token', answers: [401], send: (bench) => review(bench, { token: 'a'.repeat(32) }) },
  {
    name: 'a token that is nearly right',
    answers: [401],
    send: (bench) => review(bench, { token: bench.tokens.admission.slice(0, -1) }),
  },
  {
    name: 'the right token in the query',
    answers: [401],
    send: (bench) => review(bench, { path: `/admission/notify?access_token=${bench.tokens.admission}` }),
  },
  {
    name: 'the right token in a cookie',
    answers: [401],
    send: (bench) => review(bench, { headers: { cookie: `token=${bench.tokens.admission}` } }),
  },
  {
    name: 'the right token as a password',
    answers: [401],
    send: (bench) => {
      const authorization = `Basic ${Buffer.from(`admin:${bench.tokens.admission}`).toString('base64')}`
      return review(bench, { headers: { authorization } })
    },
  },
  {
    name: 'the token of events at admission',
    answers: [401],
    send: (bench) => review(bench, { token: bench.tokens.events }),
  },
  {
    name: 'the token of admission at the sweep',
    answers: [401],
    send: (bench) => bench.raw(request(bench, { path: '/sweep', token: bench.tokens.admission })),
  },
  { name: 'a token that was rotated away', answers: [401], send: (bench) => event(bench, bench.tokens.rotated) },
  {
    name: 'a hundred guesses on one connection',
    answers: [...Array(20).fill(401), ...Array(80).fill(429)],
    send: (bench) => {
      const guess = (index: number) =>
        request(bench, { path: '/sweep', token: `guess-${index}`, headers: { connection: 'keep-alive' } })
      return bench.raw(Array.from({ length: 100 }, (_, index) => guess(index)))
    },
  },
  {
    name: 'two Authorization headers, one of them right',
    answers: [401],
    send: (bench) => {
      const text = request(bench, { path: '/admission/notify', token: 'x', body: REVIEW() }).toString()
      const second = `authorization: Bearer ${bench.tokens.admission}\r\n`
      return bench.raw(text.replace('authorization:', `${second}authorization:`))
    },
  },
  {
    name: 'a proxy’s word for a certificate',
    answers: [401],
    send: (bench) =>
      review(bench, {
        headers: {
          'x-forwarded-client-cert': 'Subject="CN=kube-apiserver"',
          'ssl-client-verify': 'SUCCESS',
          'x-ssl-client-s-dn': 'CN=kube-apiserver',
          'x-forwarded-for': '127.0.0.1',
        },
      }),
  },
  {
    name: 'a client certificate of another authority',
    answers: [401],
    send: async (bench) => client(bench, await createTestAuthority(), 'kube-apiserver'),
  },
  {
    name: 'another authority with the name of ours',
    answers: [401],
    send: async (bench) => client(bench, await createTestAuthority('authority'), 'kube-apiserver'),
  },
  {
    name: 'a client certificate of somebody else',
    answers: [403],
    send: (bench) => client(bench, bench.authority, 'kubelet'),
  },
  {
    name: 'a client certificate that expired',
    answers: [401],
    send: (bench) => client(bench, bench.authority, 'kube-apiserver', { notAfter: new Date(Date.now() - 1_000) }),
  },
  {
    name: 'a server’s certificate for a client’s',
    answers: [401],
    send: (bench) => client(bench, bench.authority, 'kube-apiserver', { usage: 'server' }),
  },
  {
    name: 'the door without the secret prefix',
    answers: [404],
    send: (bench) => bench.raw(message({ path: '/admission/notify', token: bench.tokens.admission, body: REVIEW() })),
  },
  {
    name: 'an expired JWT (replayed)',
    answers: [401],
    send: async (bench) => {
      const token = await bench.jwt()
      await bench.world.clock.advance(700_000)
      return event(bench, token)
    },
  },
  {
    name: 'a JWT that is not valid yet',
    answers: [401],
    send: async (bench) => event(bench, await bench.jwt({ nbf: Math.floor(bench.world.clock.now() / 1_000) + 300 })),
  },
  {
    name: 'a JWT without an end',
    answers: [401],
    send: async (bench) => event(bench, await bench.jwt({ exp: undefined as never })),
  },
  {
    name: 'a JWT for another audience',
    answers: [401],
    send: async (bench) => event(bench, await bench.jwt({ aud: 'other' })),
  },
  {
    name: 'a JWT of another issuer',
    answers: [401],
    send: async (bench) => event(bench, await bench.jwt({ iss: bench.canary.url })),
  },
  {
    name: 'a JWT of another subject',
    answers: [403],
    send: async (bench) => event(bench, await bench.jwt({ sub: 'system:serviceaccount:default:default' })),
  },
  {
    name: 'a JWT whose subject is a list',
    answers: [403],
    send: async (bench) => event(bench, await bench.jwt({ sub: [BROKER] as never })),
  },
  {
    name: 'a good JWT at another door',
    answers: [401],
    send: async (bench) => review(bench, { token: await bench.jwt() }),
  },
  ...['none', 'None', 'NONE', ''].map((alg) => ({
    name: `a JWT with alg "${alg}"`,
    answers: [401],
    send: (bench: Bench) => event(bench, unsigned(bench, { alg, kid: 'k1', typ: 'JWT' })),
  })),
  {
    name: 'HS256 with the public key (PEM) as the secret',
    answers: [401],
    send: async (bench) => event(bench, await confused(bench, publicPem)),
  },
  {
    name: 'HS256 with the public key (JWK) as the secret',
    answers: [401],
    send: async (bench) => event(bench, await confused(bench, async ({ issuer }) => JSON.stringify(issuer.keys[0]))),
  },
  {
    name: 'HS256 with the public key (DER) as the secret',
    answers: [401],
    send: async (bench) =>
      event(
        bench,
        await confused(bench, async (bench) =>
          createPublicKey(await publicPem(bench))
            .export({ type: 'spki', format: 'der' })
            .toString('latin1'),
        ),
      ),
  },
  {
    name: 'a JWT signed by another key',
    answers: [401],
    send: async (bench) => event(bench, await foreign(bench, { kid: 'k1' })),
  },
  {
    name: 'another algorithm under the same key',
    answers: [401],
    send: async (bench) => event(bench, await foreign(bench, { kid: 'k1' }, 'ES256')),
  },
  {
    name: 'a JWT that brings its own key (jwk)',
    answers: [401],
    send: async (bench) => {
      const { publicKey } = await generateKeyPair('RS256', { extractable: true })
      return event(bench, await foreign(bench, { kid: 'mine', jwk: await exportJWK(publicKey) }))
    },
  },
  {
    name: 'a JWT that says where its key is (jku, x5u)',
    answers: [401],
    send: async (bench) =>
      event(
        bench,
        await foreign(bench, { kid: 'k1', jku: `${bench.canary.url}/keys`, x5u: `${bench.canary.url}/x5u` }),
      ),
  },
  {
    name: 'a kid that is a path',
    answers: [401],
    send: async (bench) => event(bench, await foreign(bench, { kid: '../../../../etc/passwd' })),
  },
  {
    name: 'a critical header that nobody knows',
    answers: [401],
    send: async (bench) =>
      event(bench, unsigned(bench, { alg: 'RS256', kid: 'k1', crit: ['admin'], admin: true }, 'AAAA')),
  },
  {
    name: 'a JWT without its signature',
    answers: [401],
    send: async (bench) => event(bench, (await bench.jwt()).split('.').slice(0, 2).join('.')),
  },
  {
    name: 'a JWT with other claims under a good signature',
    answers: [401],
    send: async (bench) => {
      const [header, , signature] = (await bench.jwt()).split('.')
      const [, claims] = (await bench.jwt({ exp: 9_999_999_999 })).split('.')
      return event(bench, [header, claims, signature].join('.'))
    },
  },
  {
    name: 'a flood of keys that do not exist',
    answers: Array(20).fill(401),
    send: async (bench) => {
      const before = bench.issuer.requests.length
      const tokens = await Promise.all(
        Array.from({ length: 20 }, (_, index) => foreign(bench, { kid: `k-${index}` }, 'ES256')),
      )
      const answers = await bench.raw(
        tokens.map((token) => request(bench, { path: '/events', token, headers: { connection: 'keep-alive' } })),
      )
      const asked = bench.issuer.requests.length - before
      return asked <= 2 ? answers : `the issuer was asked ${asked} times`
    },
  },
  {
    name: 'an oversized key set',
    answers: [401],
    send: (bench) =>
      withIssuer(
        bench,
        (path) => (path === '/keys' ? { body: `{"keys":[${' '.repeat(5_000_000)}]}` } : undefined),
        () => foreign(bench, { kid: 'new' }, 'ES256'),
      ),
  },
  {
    name: 'a key set that is elsewhere (redirect)',
    answers: [401],
    send: (bench) =>
      withIssuer(
        bench,
        () => ({ status: 302, headers: { location: `${bench.canary.url}/keys` }, body: '' }),
        () => foreign(bench, { kid: 'newer' }, 'ES256'),
      ),
  },
  {
    name: 'a discovery that leads elsewhere (plain HTTP)',
    answers: [401],
    send: (bench) =>
      withIssuer(
        bench,
        () => ({ body: JSON.stringify({ issuer: bench.issuer.url, jwks_uri: `${bench.canary.url}/keys` }) }),
        () => foreign(bench, { kid: 'newest' }, 'ES256'),
      ),
  },
]
