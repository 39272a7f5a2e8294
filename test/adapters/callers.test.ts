import { once } from 'node:events'
import { mkdtempSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import https from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls, type PeerCertificate } from 'node:tls'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { createCertificateProof } from '../../src/adapters/callers/certificate-proof.ts'
import { createTokenFileProof } from '../../src/adapters/callers/token-file-proof.ts'
import { createEventSender } from '../../src/adapters/cloudevents/event-sender.ts'
import type { OutgoingEvent } from '../../src/adapters/cloudevents/outgoing-event.ts'
import { readSink } from '../../src/adapters/cloudevents/read-sink.ts'
import { callerAddress, createCallerLimits } from '../../src/adapters/http/caller-limits.ts'
import { certificateNames } from '../../src/adapters/http/certificate-names.ts'
import type { DoorOptions } from '../../src/adapters/http/door-options.ts'
import { createJsonFetcher } from '../../src/adapters/oidc/fetch-json.ts'
import { createIssuerKeys } from '../../src/adapters/oidc/issuer-keys.ts'
import { createOidcProof } from '../../src/adapters/oidc/oidc-proof.ts'
import { createReloadedCertificate } from '../../src/compose/reload-certificate.ts'
import { judgeProofs, type ProofResult } from '../../src/domain/judge-proofs.ts'
import { type TokenBucket, takeToken } from '../../src/domain/token-bucket.ts'
import type { CallerProof } from '../../src/ports/caller-proof.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { OPEN_DOORS, openApp } from '../support/open-app.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { stubDoors } from '../support/stub-doors.ts'
import { createTestAuthority } from '../support/test-authority.ts'
import { startTestIssuer } from '../support/test-issuer.ts'

const [FIRST, SECOND, THIRD] = ['first-token-0123456789', 'second-token-0123456789', 'third-token-0123456789']
const proven: ProofResult = { kind: 'proven' }
const failed = (reason: string) => ({ kind: 'failed', reason }) as ProofResult

function tokenFile(t: Test, text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'callers-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'tokens')
  writeFileSync(path, text)
  return path
}

t.test('the verdict over several proofs: one suffices, else the reason that says most', async (t) => {
  for (const { results, verdict } of [
    { results: [], verdict: failed('missing') },
    { results: [failed('missing'), proven], verdict: proven },
    {
      results: [failed('notAllowed'), { kind: 'proven', caller: 'broker' }],
      verdict: { kind: 'proven', caller: 'broker' },
    },
    { results: [failed('missing'), failed('unknown')], verdict: failed('unknown') },
    { results: [failed('unknown'), failed('expired')], verdict: failed('expired') },
    { results: [failed('expired'), failed('notAllowed')], verdict: failed('notAllowed') },
    { results: [failed('unverifiable'), failed('notAllowed')], verdict: failed('unverifiable') },
  ] as { results: ProofResult[]; verdict: ProofResult }[]) {
    t.strictSame(judgeProofs(results), verdict)
    t.strictSame(judgeProofs(results.toReversed()), verdict, 'in any order')
  }
})

t.test('a token file: each line is good, and the file is read again', async (t) => {
  const path = tokenFile(t, `${FIRST}\n\n  ${SECOND}  \r\n`)
  const clock = createManualClock()
  const errors: unknown[] = []
  const logger = { ...silentLogger, error: (fields: object) => void errors.push(fields) }
  const proof = createTokenFileProof({ path, field: 'callers.sweep.tokenFile' }, { clock, logger })
  const check = (bearer?: string) => proof.check(bearer === undefined ? {} : { bearer })
  t.strictSame(check(), failed('missing'))
  for (const good of [FIRST, SECOND]) t.strictSame(check(good), proven)
  for (const bad of ['', THIRD, FIRST.slice(0, -1), `${FIRST}x`, FIRST.toUpperCase(), `${FIRST}\n${SECOND}`]) {
    t.strictSame(check(bad), failed('unknown'), bad)
  }
  writeFileSync(path, `${SECOND}\n${THIRD}\n`)
  await clock.advance(1_000)
  t.strictSame(check(FIRST), failed('unknown'), 'what was taken out is good no more')
  for (const good of [SECOND, THIRD]) t.strictSame(check(good), proven)

  for (const spoil of [() => writeFileSync(path, '\n'), () => writeFileSync(path, 'short'), () => unlinkSync(path)]) {
    spoil()
    for (const _ of [1, 2, 3]) {
      await clock.advance(1_000)
      t.strictSame(check(THIRD), proven, 'a file that cannot be used takes nobody’s token')
    }
  }
  t.equal(errors.length, 3, 'each is told once')
  writeFileSync(path, FIRST)
  await clock.advance(1_000)
  t.strictSame(check(THIRD), failed('unknown'))
  t.strictSame(check(FIRST), proven)
})

t.test('a token file that cannot be used at the start', async (t) => {
  const field = 'callers.events.tokenFile'
  const parts = { clock: createManualClock(), logger: silentLogger }
  const create = (path: string) => createTokenFileProof({ path, field }, parts)
  const fault = (message: RegExp) => ({ code: 'ConfigurationInvalid', field, message })
  t.throws(() => create('/no/such/file'), fault(/^callers\.events\.tokenFile: .* cannot be read \(ENOENT\)$/))
  t.throws(() => create(tokenFile(t, ' \n\n')), fault(/holds no token; write one a line$/))
  for (const bad of ['s3cret', 's3cret with spaces in it', 's3crét-of-somebody', '"s3cret-of-somebody"']) {
    const path = tokenFile(t, `${FIRST}\n${bad}\n`)
    t.throws(() => create(path), fault(/line 2: must be a token of at least 16 characters/), bad)
    t.throws(() => create(path), { message: /^(?!.*s3cr).*openssl rand/ }, 'the token is not told')
  }
})

t.test('the names in a certificate', async (t) => {
  const subject = (CN: string | string[]) => ({ subject: { CN } as PeerCertificate['subject'] })
  for (const { certificate, names } of [
    { certificate: {}, names: [] },
    { certificate: subject('apiserver'), names: ['apiserver'] },
    { certificate: subject(['one', 'two']), names: ['one', 'two'] },
    {
      certificate: {
        ...subject('x'),
        subjectaltname: 'DNS:a.example.com, IP Address:10.0.0.1, URI:spiffe://a/b, email:a@b',
      },
      names: ['x', 'a.example.com', '10.0.0.1', 'spiffe://a/b', 'a@b'],
    },
    {
      certificate: { subjectaltname: 'URI:"https://a/\\u002c DNS:admin", DNS:b' },
      names: ['https://a/, DNS:admin', 'b'],
    },
    { certificate: { subjectaltname: 'othername:<unsupported>, DNS:b' }, names: ['b'] },
    { certificate: { subjectaltname: 'othername:"a, DNS:admin", DNS:b' }, names: ['b'] },
    { certificate: { ...subject('x'), subjectaltname: 'DNS:"a' }, names: [] },
    { certificate: { ...subject('x'), subjectaltname: 'nonsense' }, names: [] },
  ]) {
    t.strictSame(certificateNames(certificate), names, JSON.stringify(certificate))
  }
})

t.test('a client certificate, over TLS', async (t) => {
  const [authority, other] = [await createTestAuthority(), await createTestAuthority()]
  const serving = await authority.issue({
    commonNames: ['server'],
    alternatives: [{ type: 'ip', value: '127.0.0.1' }],
    usage: 'server',
  })
  const callers = {
    ...OPEN_DOORS,
    admission: { proofs: [createCertificateProof(['kube-apiserver', 'spiffe://karmada/api'])] },
  }
  const { app, counted } = openApp(stubDoors(), { callers, tls: { ...serving, clientCa: authority.caPem } })
  t.teardown(() => app.close())
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo

  const statusWith = async (client: { cert?: string; key?: string }, path = '/admission/notify') => {
    const options = { host: '127.0.0.1', port, path, method: 'POST', agent: false, ca: authority.caPem, ...client }
    const request = https.request({ ...options, headers: { 'content-type': 'application/json' } })
    request.end('{}')
    const [response] = (await once(request, 'response')) as [{ statusCode: number; resume(): void }]
    response.resume()
    return response.statusCode
  }
  const client = (commonNames: string[], more: object = {}) =>
    authority.issue({ commonNames, usage: 'client', ...more })
  const good = await client(['kube-apiserver'])
  t.equal(await statusWith(good), 400, 'let in: the door finds the review wrong')
  t.equal(await statusWith(await client(['x', 'kube-apiserver'])), 400, 'of several names one suffices')
  const uri = { alternatives: [{ type: 'url', value: 'spiffe://karmada/api' }] }
  t.equal(await statusWith(await client(['x'], uri)), 400, 'an alternative name')
  t.equal(await statusWith({}, '/sweep'), 200, 'other doors need no certificate')

  t.equal(await statusWith({}), 401, 'none')
  t.equal(await statusWith(await client(['somebody'])), 403, 'another name')
  t.equal(await statusWith(await client(['KUBE-APISERVER'])), 403, 'names are compared word for word')
  const hidden = { alternatives: [{ type: 'url', value: 'https://a/, DNS:kube-apiserver' }] }
  t.equal(await statusWith(await client(['x'], hidden)), 403, 'a name hidden in another one')
  t.equal(
    await statusWith(await other.issue({ commonNames: ['kube-apiserver'], usage: 'client' })),
    401,
    'another authority',
  )
  t.equal(
    await statusWith(await client(['kube-apiserver'], { notAfter: new Date(Date.now() - 1_000) })),
    401,
    'expired',
  )
  t.equal(
    await statusWith(await authority.issue({ commonNames: ['kube-apiserver'], usage: 'server' })),
    401,
    'a certificate of a server',
  )
  t.equal(counted.filter((line) => line.includes('reason=notAllowed')).length, 3)

  for (const { who, certificate, expected } of [
    { who: 'proven', certificate: good, expected: 400 },
    {
      who: 'another authority',
      certificate: await other.issue({ commonNames: ['kube-apiserver'], usage: 'client' }),
      expected: 401,
    },
  ]) {
    // A session that is taken up again brings no certificate: what was found of it the first time has to hold.
    const sessions: Buffer[] = []
    const once1 = connectTls({ host: '127.0.0.1', port, ca: authority.caPem, ...certificate })
    once1.on('session', (session) => sessions.push(session))
    once1.write('GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
    once1.resume()
    await once(once1, 'close')
    const again = connectTls({ host: '127.0.0.1', port, ca: authority.caPem, session: sessions.at(-1) as Buffer })
    const head = 'POST /admission/notify HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nconnection: close\r\n'
    again.write(`${head}content-length: 2\r\n\r\n{}`)
    const [answer] = await once(again, 'data')
    t.equal(again.isSessionReused(), true)
    t.match(String(answer), new RegExp(`^HTTP/1.1 ${expected} `), `a session of ${who}`)
    again.destroy()
  }
})

t.test('the authority of client certificates is replaced without a restart', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'callers-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const [old, renewed] = [await createTestAuthority('old'), await createTestAuthority('new')]
  const alternatives = [{ type: 'ip' as const, value: '127.0.0.1' }]
  const serving = await old.issue({ commonNames: ['server'], alternatives, usage: 'server' })
  const files = {
    certFile: join(folder, 'tls.crt'),
    keyFile: join(folder, 'tls.key'),
    clientCaFile: join(folder, 'client-ca.crt'),
  }
  writeFileSync(files.certFile, serving.cert)
  writeFileSync(files.keyFile, serving.key)
  writeFileSync(files.clientCaFile, old.caPem)
  const clock = createManualClock(Date.now())
  const certificate = createReloadedCertificate(files, { clock, logger: silentLogger })
  const callers = { ...OPEN_DOORS, sweep: { proofs: [createCertificateProof(['cron'])] } }
  const { app } = openApp(stubDoors(), { callers, tls: certificate.current() })
  t.teardown(() => app.close())
  await app.listen({ port: 0, host: '127.0.0.1' })
  certificate.watch(app)
  const { port } = app.server.address() as AddressInfo
  const statuses = async () => {
    const found: (number | undefined)[] = []
    for (const authority of [old, renewed]) {
      const client = await authority.issue({ commonNames: ['cron'], usage: 'client' })
      const options = {
        host: '127.0.0.1',
        port,
        path: '/sweep',
        method: 'POST',
        agent: false,
        ca: old.caPem,
        ...client,
      }
      const request = https.request(options).end()
      const [response] = (await once(request, 'response')) as [{ statusCode: number; resume(): void }]
      response.resume()
      found.push(response.statusCode)
    }
    return found
  }
  t.strictSame(await statuses(), [200, 401])
  writeFileSync(files.clientCaFile, `${old.caPem}\n${renewed.caPem}`)
  await clock.advance(10_000)
  t.strictSame(await statuses(), [200, 200], 'both, while clients are renewed')
  writeFileSync(files.clientCaFile, renewed.caPem)
  await clock.advance(10_000)
  t.strictSame(await statuses(), [401, 200])
  writeFileSync(files.clientCaFile, 'nonsense')
  await clock.advance(10_000)
  t.strictSame(await statuses(), [401, 200], 'a file that cannot be used changes nothing')
  certificate.stop()
  t.throws(() => createReloadedCertificate(files, { clock, logger: silentLogger }), {
    code: 'CertificateInvalid',
    message: /^server\.tls\.clientCaFile: .* holds no PEM certificate$/,
  })
})

const AUDIENCE = 'wcp.lb-system.example.com'
const SUBJECT = 'system:serviceaccount:lb-system:work-oidc-eventing.knative.dev-trigger'

async function oidcWorld(t: Test) {
  const authority = await createTestAuthority()
  const issuer = await startTestIssuer(authority)
  t.teardown(() => issuer.close())
  await issuer.addKey('k1')
  const clock = createManualClock()
  const errors: object[] = []
  const logger = { ...silentLogger, error: (fields: object) => void errors.push(fields) }
  const fetchJson = createJsonFetcher({ ca: authority.caPem, tokenFile: tokenFile(t, `${FIRST}\n`) })
  const keys = createIssuerKeys({ issuer: issuer.url, fetchJson, clock, logger })
  const proof = createOidcProof({ issuer: issuer.url, audience: AUDIENCE, subjects: [SUBJECT], keys, clock })
  const seconds = (from = 0) => Math.floor(clock.now() / 1_000) + from
  const claims = () => ({ aud: [AUDIENCE], sub: SUBJECT, iat: seconds(), exp: seconds(600) })
  return { issuer, clock, errors, seconds, claims, check: async (bearer: string) => proof.check({ bearer }) }
}

const good: ProofResult = { kind: 'proven', caller: SUBJECT }

t.test('a token of an OpenID Connect issuer', async (t) => {
  const { issuer, claims, seconds, check } = await oidcWorld(t)
  t.strictSame(await check(await issuer.sign(claims())), good)
  t.strictSame(
    issuer.requests,
    ['/.well-known/openid-configuration', '/keys'].map((path) => ({ path, authorization: `Bearer ${FIRST}` })),
  )
  t.strictSame(await check(await issuer.sign({ ...claims(), aud: AUDIENCE })), good)
  t.strictSame(await check(await issuer.sign({ ...claims(), exp: seconds(-20) })), good, 'clocks differ a little')
  for (const { title, token, reason } of [
    { title: 'expired', token: issuer.sign({ ...claims(), exp: seconds(-40) }), reason: 'expired' },
    { title: 'not yet valid', token: issuer.sign({ ...claims(), nbf: seconds(60) }), reason: 'unknown' },
    { title: 'never expires', token: issuer.sign({ aud: AUDIENCE, sub: SUBJECT }), reason: 'unknown' },
    { title: 'another audience', token: issuer.sign({ ...claims(), aud: `${AUDIENCE}.evil` }), reason: 'unknown' },
    { title: 'another issuer', token: issuer.sign({ ...claims(), iss: 'https://evil' }), reason: 'unknown' },
    { title: 'another subject', token: issuer.sign({ ...claims(), sub: `${SUBJECT}2` }), reason: 'notAllowed' },
    { title: 'no token at all', token: 'a.b.c', reason: 'unknown' },
    { title: 'of a token file', token: FIRST, reason: 'unknown' },
  ]) {
    t.strictSame(await check(await token), failed(reason), title)
  }
  t.equal(issuer.requests.length, 2, 'the keys are read once')
})

t.test('an issuer whose keys change', async (t) => {
  const { issuer, clock, claims, check } = await oidcWorld(t)
  const old = await issuer.sign(claims())
  t.strictSame(await check(old), good)
  await issuer.addKey('k2', 'ES256')
  const renewed = await issuer.sign(claims())
  t.strictSame(await check(renewed), failed('unknown'), 'the issuer was asked a moment ago')
  await clock.advance(30_000)
  t.strictSame(await Promise.all([check(renewed), check(renewed), check(old)]), [good, good, good])
  t.equal(issuer.requests.length, 4, 'asked once for all of them')
  issuer.keys.shift()
  await clock.advance(600_000)
  await check(await issuer.sign(claims()))
  // The old keys serve on while the new ones are read.
  const withdrawn = await issuer.sign(
    { ...claims(), exp: Math.floor(clock.now() / 1_000) + 60 },
    { kid: 'k1', alg: 'RS256' },
  )
  let verdict = await check(withdrawn)
  for (; verdict.kind === 'proven'; verdict = await check(withdrawn))
    await new Promise((resolve) => setImmediate(resolve))
  t.strictSame(verdict, failed('unknown'), 'a key that was withdrawn')

  for (let flood = 0; flood < 200; flood++)
    await check(await issuer.sign(claims(), { kid: `made-up-${flood}`, alg: 'ES256' }))
  t.ok(issuer.requests.length <= 8, `keys that do not exist: asked ${issuer.requests.length} times`)
})

t.test('an issuer that fails', async (t) => {
  for (const { title, answer, told } of [
    { title: 'down', answer: () => ({ status: 503, body: '' }), told: 'answered HTTP 503' },
    {
      title: 'elsewhere',
      answer: () => ({ status: 302, headers: { location: '/keys' }, body: '' }),
      told: 'answered HTTP 302',
    },
    { title: 'no JSON', answer: () => ({ body: '<html>' }), told: /JSON/ },
    {
      title: 'another name',
      answer: () => ({ body: '{"issuer":"https://evil"}' }),
      told: /calls itself by another name/,
    },
    {
      title: 'no keys',
      answer: (path: string) => (path === '/keys' ? { body: '{}' } : undefined),
      told: /no list of keys/,
    },
    {
      title: 'an endless key set',
      answer: (path: string) => (path === '/keys' ? { body: `{"keys":[${' '.repeat(300_000)}]}` } : undefined),
      told: 'UND_ERR_RES_EXCEEDED_MAX_SIZE',
    },
    {
      title: 'too many keys',
      answer: (path: string) =>
        path === '/keys' ? { body: JSON.stringify({ keys: Array(101).fill({}) }) } : undefined,
      told: /more than 100 keys/,
    },
  ]) {
    const { issuer, clock, claims, check, errors } = await oidcWorld(t)
    issuer.answer = answer
    const token = await issuer.sign(claims())
    t.strictSame(
      await Promise.all([check(token), check(token)]),
      [failed('unverifiable'), failed('unverifiable')],
      title,
    )
    const asked = issuer.requests.length
    for (let flood = 0; flood < 20; flood++) await check(token)
    t.equal(issuer.requests.length, asked, `${title}: not asked again at once`)
    t.match(errors, [{ issuer: issuer.url, error: told }], title)
    issuer.answer = undefined
    await clock.advance(5_000)
    t.strictSame(await check(token), good, `${title}: it is back`)
  }
})

t.test('keys over plain HTTP, and shared secrets among them, are not taken', async (t) => {
  const { issuer, claims, check, errors } = await oidcWorld(t)
  issuer.answer = (path) =>
    path === '/keys' ? undefined : { body: JSON.stringify({ issuer: issuer.url, jwks_uri: 'http://127.0.0.1/keys' }) }
  t.strictSame(await check(await issuer.sign(claims())), failed('unverifiable'))
  t.match(errors, [{ error: 'not an https URL' }])

  const other = await oidcWorld(t)
  other.issuer.keys.unshift({ kty: 'oct', k: 'c2VjcmV0', kid: 'shared', alg: 'HS256' })
  t.strictSame(await other.check(await other.issuer.sign(other.claims())), good)
  t.strictSame(await other.check(await other.issuer.sign(other.claims(), { kid: 'shared' })), failed('unknown'))
})

t.test('keys that are held serve through an outage of the issuer, for an hour', async (t) => {
  const { issuer, clock, claims, check } = await oidcWorld(t)
  t.strictSame(await check(await issuer.sign(claims())), good)
  issuer.answer = () => ({ status: 500, body: '' })
  await clock.advance(3_599_000)
  t.strictSame(await check(await issuer.sign(claims())), good)
  await clock.advance(10_000)
  t.strictSame(await check(await issuer.sign(claims())), failed('unverifiable'))
  issuer.answer = undefined
  await clock.advance(36_000_000)
  t.strictSame(await check(await issuer.sign(claims())), good, 'after a long silence they are read first')
})

/** Takes this token; tells one caller from another by what it says it is. */
const takes = (token: string, caller?: string): CallerProof => ({
  check: ({ bearer }) =>
    bearer === undefined
      ? failed('missing')
      : bearer === token
        ? { kind: 'proven', ...(caller && { caller }) }
        : failed('unknown'),
})

const guarded = (overrides: Partial<DoorOptions['callers']> = {}): DoorOptions['callers'] => ({
  admission: { proofs: [takes(FIRST)] },
  events: { proofs: [takes(SECOND), takes(THIRD, 'broker')], rate: { perSecond: 1, burst: 3 } },
  sweep: { proofs: [takes(THIRD)], rate: { perSecond: 1, burst: 2 } },
  metrics: { proofs: 'anyone' },
  ...overrides,
})

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

t.test('each door asks for its own proof, and refuses all others alike', async (t) => {
  const { app, send, counted, log } = openApp(stubDoors(), { callers: guarded() })
  t.teardown(() => app.close())
  const status = async (method: string, path: string, headers = {}) => (await send({ method, path, headers })).status
  for (const path of ['/admission/mutate', '/admission/validate', '/admission/notify']) {
    t.equal(await status('POST', path), 401)
    t.equal(await status('POST', path, bearer(SECOND)), 401)
    t.equal(await status('POST', path, bearer(FIRST)), 415, 'let in')
  }
  t.equal(await status('POST', '/sweep', bearer(THIRD)), 200)
  t.equal(await status('POST', '/sweep', { authorization: `bearer  ${THIRD}` }), 200, 'the scheme has no case')
  for (const token of [SECOND, THIRD]) t.equal(await status('POST', '/events', bearer(token)), 400, 'either will do')

  const answers = []
  for (const headers of [
    {},
    bearer(FIRST),
    bearer('x'),
    bearer(''),
    { authorization: THIRD },
    { authorization: `Basic ${Buffer.from(`x:${THIRD}`).toString('base64')}` },
    { authorization: `Bearer ${THIRD}, Bearer ${THIRD}` },
    { authorization: `Bearer ${THIRD} ${THIRD}` },
    { cookie: `access_token=${THIRD}`, 'x-access-token': THIRD, 'proxy-authorization': `Bearer ${THIRD}` },
  ]) {
    const { headers: own, ...answer } = await send({ method: 'POST', path: `/sweep?access_token=${THIRD}`, headers })
    t.match(own, { 'www-authenticate': 'Bearer' })
    answers.push(answer)
  }
  const [body, ...others] = answers
  t.strictSame(body, { status: 401, body: '{"code":"CallerUnknown","message":"this door wants to know who calls"}' })
  for (const other of others) t.strictSame(other, body)

  for (const path of ['/healthz', '/readyz', '/metrics', '/openapi.json']) t.equal(await status('GET', path), 200)
  t.equal(await status('OPTIONS', '/events'), 200, 'the handshake asks nobody')
  t.equal(counted.filter((line) => line === 'callers_refused_total{door=sweep,reason=missing}').length, 7)
  t.notMatch(JSON.stringify([log, counted]), /-token-0123456789/)
})

t.test('metrics can ask too', async (t) => {
  const { app, send } = openApp(stubDoors(), { callers: guarded({ metrics: { proofs: [takes(FIRST)] } }) })
  t.teardown(() => app.close())
  t.equal((await send({ method: 'GET', path: '/metrics' })).status, 401)
  t.equal((await send({ method: 'GET', path: '/metrics', headers: bearer(FIRST) })).status, 200)
})

t.test('refused before a byte of the body is there', async (t) => {
  const { app } = openApp(stubDoors(), { callers: guarded() })
  t.teardown(() => app.close())
  await app.listen({ port: 0, host: '127.0.0.1' })
  for (const { head, connection } of [
    { head: 'content-length: 6000000', connection: 'close' },
    { head: 'transfer-encoding: chunked', connection: 'close' },
    { head: 'content-length: 900', connection: 'keep-alive' },
  ]) {
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
    socket.write(`POST /admission/notify HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${head}\r\n\r\n`)
    const [answer] = await once(socket, 'data')
    t.match(String(answer), /^HTTP\/1\.1 401 /)
    t.match(String(answer), new RegExp(`connection: ${connection}`, 'i'), 'a large body is not waited for')
    socket.destroy()
  }
})

t.test('a stranger does not learn that the instance shuts down', async (t) => {
  const { app, send } = openApp(stubDoors({ draining: () => true }), { callers: guarded() })
  t.teardown(() => app.close())
  const path = '/admission/notify'
  t.equal((await send({ method: 'POST', path })).status, 401)
  t.match(await send({ method: 'POST', path, headers: bearer(FIRST) }), {
    status: 503,
    headers: { 'retry-after': '1' },
  })
})

t.test('issuer out of reach: come back later; known and not allowed: never', async (t) => {
  const reason = (is: string): CallerProof => ({ check: () => failed(is) })
  for (const { is, status, body, header } of [
    { is: 'unverifiable', status: 503, body: /CallerUnverifiable/, header: { 'retry-after': '5' } },
    { is: 'notAllowed', status: 403, body: /CallerNotAllowed/, header: {} },
    { is: 'expired', status: 401, body: /CallerUnknown/, header: { 'www-authenticate': 'Bearer' } },
  ]) {
    const { app, send } = openApp(stubDoors(), { callers: guarded({ events: { proofs: [reason(is)] } }) })
    t.match(await send({ method: 'POST', path: '/events' }), { status, body, headers: header })
    await app.close()
  }
})

t.test('our own events pass a door that asks for a token', async (t) => {
  const clock = createManualClock()
  const path = tokenFile(t, `${FIRST}\n${SECOND}\n`)
  const proof = createTokenFileProof({ path, field: 'callers.events.tokenFile' }, { clock, logger: silentLogger })
  const { app } = openApp(stubDoors(), { callers: guarded({ events: { proofs: [proof] } }) })
  t.teardown(() => app.close())
  const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/events`
  const event = encodeWorkEvent()
  for (const { title, file, delivery } of [
    { title: 'the same file on both sides', file: path, delivery: { kind: 'delivered' } },
    { title: 'another token', file: tokenFile(t, THIRD), delivery: { kind: 'again', reason: 'HTTP 401', whole: true } },
    { title: 'none', file: undefined, delivery: { kind: 'again', reason: 'HTTP 401', whole: true } },
  ]) {
    const sender = createEventSender(readSink({ url, tokenFile: file }, {}), { clock, timeoutMs: 5_000 })
    t.match(await sender.post(event, { signal: new AbortController().signal }), delivery, title)
    await sender.close()
  }
})

const encodeWorkEvent = (): OutgoingEvent => ({
  id: '1',
  source: '/webhook-cloud-provider',
  type: 'dev.webhook-cloud-provider.work.v1',
  extensions: {},
  data: { key: 'MultiClusterIngress/shop/web', hints: [] },
})

t.test('a caller that sends too much waits, others do not', async (t) => {
  const clock = createManualClock()
  const { app, send } = openApp(stubDoors(), { callers: guarded(), clock })
  t.teardown(() => app.close())
  const events = (token: string) => send({ method: 'POST', path: '/events', headers: bearer(token) })
  for (const _ of [1, 2, 3]) t.equal((await events(THIRD)).status, 400)
  t.match(await events(THIRD), { status: 429, headers: { 'retry-after': '1' }, body: /TooManyRequests/ })
  t.equal((await events(SECOND)).status, 400, 'another caller')
  t.equal((await send({ method: 'POST', path: '/sweep', headers: bearer(THIRD) })).status, 200, 'another door')
  await clock.advance(1_000)
  t.equal((await events(THIRD)).status, 400)
  t.equal((await events(THIRD)).status, 429)
})

t.test('the API server is never told to wait, whoever else calls from its address', async (t) => {
  const clock = createManualClock()
  const { app, send, log } = openApp(stubDoors(), { callers: guarded(), clock })
  t.teardown(() => app.close())
  const ask = async (path: string, token: string) =>
    (await send({ method: 'POST', path, headers: bearer(token) })).status
  const counts = new Map<string, number>()
  for (let tries = 0; tries < 100; tries++) {
    for (const path of ['/admission/notify', '/sweep']) {
      const answer = `${path} ${await ask(path, 'wrong')}`
      counts.set(answer, (counts.get(answer) ?? 0) + 1)
    }
  }
  t.strictSame(Object.fromEntries(counts), { '/admission/notify 401': 100, '/sweep 401': 20, '/sweep 429': 80 })
  t.equal(await ask('/sweep', THIRD), 200, 'who has a proof does not pay for those who have none')
  for (let reviews = 0; reviews < 100; reviews++) t.equal(await ask('/admission/notify', FIRST), 415)
  const refusals = () => log.filter(({ message }) => message === 'caller refused').map(({ fields }) => fields)
  t.match(refusals(), [
    { door: 'admission', reason: 'unknown', remoteAddress: '127.0.0.1', notLogged: 0 },
    { door: 'sweep', reason: 'unknown', notLogged: 0 },
    { door: 'sweep', reason: 'limited', notLogged: 0 },
  ])
  await clock.advance(60_000)
  await ask('/admission/notify', 'wrong')
  t.match(refusals().at(-1), { door: 'admission', notLogged: 99 })
})

t.test('strangers cost a bounded amount of memory', async (t) => {
  const limits = createCallerLimits(100)
  const rate = { perSecond: 1, burst: 1 }
  t.equal(limits.take('first', rate, 0), 0)
  t.equal(limits.take('first', rate, 0), 1_000)
  for (let stranger = 0; stranger < 99; stranger++) limits.take(`${stranger}`, rate, 0)
  t.equal(limits.take('first', rate, 0), 1_000, 'remembered')
  for (let stranger = 0; stranger < 100; stranger++) limits.take(`another ${stranger}`, rate, 0)
  t.equal(limits.take('first', rate, 0), 0, 'forgotten for a hundred others')
})

t.test('one subscriber of IPv6 is one caller', async (t) => {
  for (const [address, caller] of [
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '::ffff:192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    [undefined, 'unknown'],
  ] as const) {
    t.equal(callerAddress(address), caller)
  }
})

t.test('a bucket gives no more than its rate and its burst', async () => {
  const arrivals = fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 60 })
  const rates = fc.record({ perSecond: fc.integer({ min: 1, max: 20 }), burst: fc.integer({ min: 1, max: 20 }) })
  fc.assert(
    fc.property(arrivals, rates, (gaps, rate) => {
      let bucket: TokenBucket | undefined
      let [now, taken] = [0, 0]
      for (const gap of gaps) {
        now += gap
        const result = takeToken(bucket, rate, now)
        bucket = result.bucket
        if (result.waitMs === 0) taken += 1
        else if (takeToken(bucket, rate, now + Math.ceil(result.waitMs)).waitMs > 0) return false
      }
      return taken <= rate.burst + (now / 1_000) * rate.perSecond + 1e-6
    }),
  )
})
