// What is small and travels in headers, addresses and queries.
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { createCertificateAuthority } from '../../src/adapters/certificates/certificate-authority.ts'
import type { AdmissionReview } from '../../src/local/admission/admission-review.ts'
import { createHttpsWebhookCaller } from '../../src/local/admission/https-webhook-caller.ts'
import { mediaTypeFault } from '../../src/local/admission/media-type-fault.ts'
import { webhooksOf } from '../../src/local/admission/webhook.ts'
import { parseDuration } from '../../src/local/http/parse-duration.ts'
import { warningHeaders } from '../../src/local/http/warning-headers.ts'

t.test('durations are written as Go writes them', async (t) => {
  const cases: [string, number | undefined][] = [
    ['2s', 2000],
    ['1m30s', 90_000],
    ['1.5h', 5_400_000],
    ['.5s', 500],
    ['250ms', 250],
    ['1µs', 0.001],
    ['-1s', -1000],
    ['+1s', 1000],
    ['0', 0],
    ['5', undefined],
    ['x', undefined],
    ['1s x', undefined],
    ['s', undefined],
    ['', undefined],
  ]
  for (const [duration, milliseconds] of cases) t.equal(parseDuration(duration), milliseconds, duration)
})

t.test('what is no Content-Type, in the words of Go', async (t) => {
  const cases: [string, string | undefined][] = [
    ['', undefined],
    ['application/json', undefined],
    ['application', undefined],
    ['application/json;', undefined],
    ['text/plain; charset="utf-8"; q=1', undefined],
    ['application/', 'mime: expected token after slash'],
    ['/json', 'mime: no media type'],
    ['a b/c', 'mime: expected slash after first token'],
    ['a/b c', 'mime: unexpected content after media subtype'],
    ['text/plain; charset', 'mime: invalid media parameter'],
    ['a/b; c=1; C=2', 'mime: duplicate parameter name'],
  ]
  for (const [contentType, fault] of cases) t.equal(mediaTypeFault(contentType), fault, contentType)
})

t.test('warnings: each once, none too long, none that a header cannot carry', async (t) => {
  const lengths = (texts: string[]) => warningHeaders(texts).map((header) => header.length - '299 - ""'.length)
  t.strictSame(warningHeaders(['a', 'a', '', 'b\n', '"c" \\']), ['299 - "a"', '299 - "\\"c\\" \\\\"'])
  t.strictSame(warningHeaders(['schön']), ['299 - "schÃ¶n"'], 'its bytes are those of UTF-8')
  t.strictSame(lengths(['x'.repeat(4096)]), [4096])
  t.strictSame(lengths(['x'.repeat(4096), 'y']), [256, 1])
  const many = Array.from({ length: 30 }, (_, index) => String(index).padEnd(300, 'x'))
  t.strictSame(lengths(many), Array(16).fill(256), 'and what comes after 4096 characters is left out')
})

t.test('the address of a webhook is joined anew', async (t) => {
  const urlOf = (clientConfig: object) =>
    webhooksOf({ apiVersion: 'v1', kind: 'x', metadata: { name: 'x' }, webhooks: [{ clientConfig }] })[0]?.url
  t.equal(urlOf({ url: 'https://a.example/hook/' }), 'https://a.example/hook')
  t.equal(urlOf({ url: 'https://a.example:8443//a//b/' }), 'https://a.example:8443/a/b')
  t.equal(urlOf({ url: 'https://a.example' }), 'https://a.example/')
  t.equal(urlOf({ service: { name: 's', namespace: 'n', path: 'hook/' } }), 'https://s.n.svc/hook')
})

t.test('redirects are followed, with the body where the status says so', async (t) => {
  const authority = await createCertificateAuthority(Date.now())
  const { certPem, keyPem } = await authority.issueServingCertificate(['127.0.0.1'])
  const hook = createServer({ cert: certPem, key: keyPem }, async (incoming, outgoing) => {
    const [, status, ...rest] = (incoming.url ?? '').split('/')
    const body = await text(incoming)
    if (status === 'end') return void outgoing.end(`${incoming.method} ${body.length > 0}`)
    const location = status === 'loop' ? '/307/loop' : `/${rest.join('/')}`
    outgoing.writeHead(status === 'loop' ? 307 : Number(status), { location }).end()
  })
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
  const caller = createHttpsWebhookCaller()
  t.teardown(async () => {
    await caller.close()
    hook.close()
  })
  const origin = `https://127.0.0.1:${(hook.address() as AddressInfo).port}`
  const review = { request: { uid: 'x' } } as unknown as AdmissionReview
  const call = async (path: string) => {
    const { status, body } = await caller.callWebhook(origin + path, authority.caPem, review, 5_000)
    return `${status} ${body}`
  }
  t.equal(await call('/end'), '200 POST true')
  t.equal(await call('/307/308/end'), '200 POST true')
  t.equal(await call('/302/end'), '200 GET false')
  await t.rejects(call('/loop'), { message: 'stopped after 10 redirects' })
})
