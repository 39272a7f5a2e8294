import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { type Bench, clientOf, type Hook, type Phase } from '../bench.ts'
import { type ContractCheck, section } from '../contract-check.ts'
import { allow, base64, deny, patch, reviewAnswer, warn } from '../review-answers.ts'
import type { Behaviour, WebhookAnswer } from '../webhook-receiver.ts'
import { only } from './only.ts'
import { assertAccepted, assertGivenUp, assertRefused } from './refused.ts'

/** A response that is no good, and what Fail makes of it. `NAME` stands for the webhook's. */
interface Malformed {
  title: string
  answer: Behaviour
  phases?: readonly Phase[]
  message: RegExp
  fields?: Record<string, unknown>
}

const json = 'application/json'

function envelope(change: Record<string, unknown>): Behaviour {
  return (received) => {
    const { body } = reviewAnswer(received, { allowed: true }) as { body: Record<string, unknown> }
    return { body: { ...body, ...change } }
  }
}

const withFields =
  (fields: Record<string, unknown>): Behaviour =>
  (received) =>
    reviewAnswer(received, { allowed: true, ...fields })

const raw = (body: string, code = 200, contentType = json): Behaviour => {
  const answer: WebhookAnswer = { code, body, headers: { 'content-type': contentType } }
  return () => answer
}

const emptyPatch = base64([])
const somePatch = base64([{ op: 'add', path: '/metadata/labels', value: { patched: 'yes' } }])

const malformed: Malformed[] = [
  { title: 'HTTP 500', answer: raw('no', 500), message: /the server .*error|no/ },
  { title: 'HTTP 404', answer: raw('no', 404), message: /the server could not find the requested resource/ },
  { title: 'HTTP 207', answer: withCode(207), message: /./ },
  { title: 'an empty body', answer: raw(''), message: /./ },
  { title: 'no JSON', answer: raw('<html>'), message: /./ },
  { title: 'a Content-Type that cannot be parsed', answer: withContentType('application/'), message: /./ },
  { title: 'no response', answer: envelope({ response: undefined }), message: /: webhook response was absent$/ },
  {
    title: 'another uid',
    answer: withFields({ uid: 'another' }),
    message: /: expected response\.uid="[-0-9a-f]{36}", got "another"$/,
  },
  {
    title: 'no apiVersion and kind',
    answer: envelope({ apiVersion: undefined, kind: undefined }),
    message: /: expected webhook response of admission\.k8s\.io\/v1, Kind=AdmissionReview, got \/, Kind=$/,
  },
  {
    title: 'another apiVersion',
    answer: envelope({ apiVersion: 'admission.k8s.io/v1beta1' }),
    message: /./,
  },
  {
    title: 'another kind',
    answer: envelope({ kind: 'Review' }),
    message: /./,
  },
  {
    title: 'a patch without patchType',
    answer: withFields({ patch: emptyPatch }),
    phases: ['mutating'],
    message: /: webhook returned response\.patch but not response\.patchType$/,
  },
  {
    title: 'a patchType without patch',
    answer: withFields({ patchType: 'JSONPatch' }),
    phases: ['mutating'],
    message: /: webhook returned response\.patchType but not response\.patch$/,
  },
  {
    title: 'an empty patch with patchType',
    answer: withFields({ patch: '', patchType: 'JSONPatch' }),
    phases: ['mutating'],
    message: /: webhook returned response\.patchType but not response\.patch$/,
  },
  {
    title: 'another patchType',
    answer: withFields({ patch: somePatch, patchType: 'MergePatch' }),
    phases: ['mutating'],
    message: /./,
  },
  {
    title: 'a patch that is not base64',
    answer: withFields({ patch: '[]', patchType: 'JSONPatch' }),
    phases: ['mutating'],
    message: /./,
  },
  {
    title: 'a patch that is no list',
    answer: withFields({ patch: base64({ metadata: {} }), patchType: 'JSONPatch' }),
    phases: ['mutating'],
    message: /./,
  },
  {
    title: 'a patch from a validating webhook',
    answer: withFields({ patch: emptyPatch, patchType: 'JSONPatch' }),
    phases: ['validating'],
    message: /: validating webhook may not return response\.patch(Type)?$/,
  },
  {
    title: 'a patchType from a validating webhook',
    answer: withFields({ patchType: 'JSONPatch' }),
    phases: ['validating'],
    message: /: validating webhook may not return response\.patchType$/,
  },
  { title: 'a closed connection', answer: () => ({ hangUp: true }), message: /./ },
  { title: 'no answer in time', answer: tooLate, fields: { timeoutSeconds: 1 }, message: /./ },
]

function withCode(code: number): Behaviour {
  return (received) => ({ ...reviewAnswer(received, { allowed: true }), code })
}

function withContentType(contentType: string): Behaviour {
  return (received) => ({ ...reviewAnswer(received, { allowed: true }), headers: { 'content-type': contentType } })
}

async function tooLate(received: Parameters<Behaviour>[0]): Promise<WebhookAnswer> {
  await pause(1_500)
  return allow(received)
}

function malformedChecks(): ContractCheck[] {
  return malformed.flatMap((row) =>
    (row.phases ?? (['mutating', 'validating'] as const)).flatMap((phase) =>
      section('1.3 malformed', {
        [`${row.title}, ${phase}, Fail: 500, nothing stored`]: async (bench) => {
          const { hook, answer } = await createWith(bench, phase, row.answer, { failurePolicy: 'Fail', ...row.fields })
          const message = `Internal error occurred: failed calling webhook "${hook.name}":`
          assertRefused(answer, { code: 500, reason: 'InternalError', message: row.message })
          assert.equal(answer.body.message?.slice(0, message.length), message)
          assert.equal((await bench.admin.get(bench.path('widgets', 'a'))).code, 404)
        },
        [`${row.title}, ${phase}, Ignore: stored`]: async (bench) => {
          const { answer, hook } = await createWith(bench, phase, row.answer, {
            failurePolicy: 'Ignore',
            ...row.fields,
          })
          assertAccepted(answer, 201)
          assert.ok(hook.reviews.length > 0)
        },
      }),
    ),
  )
}

/** §1.3: what the API server accepts as an answer, and what it makes of it. */
export const reviewResponseChecks = [
  ...malformedChecks(),
  ...section('1.3 calls that fail', {
    'failurePolicy is Fail unless said otherwise': async (bench) => {
      const { answer } = await createWith(bench, 'mutating', raw('', 500))
      assertRefused(answer, { code: 500, reason: 'InternalError' })
    },
    'nobody listens: Fail refuses': async (bench) => {
      const answer = await createWithClient(bench, 'Fail', await urlOfNobody())
      assertRefused(answer, { code: 500, reason: 'InternalError', message: /failed calling webhook/ })
    },
    'nobody listens: Ignore goes on': async (bench) => {
      assertAccepted(await createWithClient(bench, 'Ignore', await urlOfNobody()), 201)
    },
    'a certificate that caBundle does not vouch for: Fail refuses': async (bench) => {
      const answer = await createWithClient(bench, 'Fail', withOtherCa(bench))
      assertRefused(answer, { code: 500, reason: 'InternalError', message: /certificate/ })
    },
    'a certificate that caBundle does not vouch for: Ignore goes on': async (bench) => {
      assertAccepted(await createWithClient(bench, 'Ignore', withOtherCa(bench)), 201)
    },
    'a certificate without the name that was called: Fail refuses': async (bench) => {
      const client = clientOf(bench.receivers.main, '/')
      const url = String(client['url']).replace('127.0.0.1', '127.0.0.2')
      assertRefused(await createWithClient(bench, 'Fail', { ...client, url }), { code: 500, reason: 'InternalError' })
    },
    'caBundle may hold several certificates': async (bench) => {
      const both = Buffer.from(bench.server.caPem + bench.receivers.main.caPem).toString('base64')
      const hook = await bench.hook({
        phase: 'validating',
        clientConfig: (path) => ({ ...clientOf(bench.receivers.main, path), caBundle: both }),
      })
      await bench.create(bench.widget('a'))
      only(hook.reviews)
    },
    'the same holds for updates': async (bench) => {
      await bench.create(bench.widget('a'))
      await bench.hook({ phase: 'validating', answer: raw('', 500) })
      const answer = await bench.admin.patch('merge-patch', bench.path('widgets', 'a'), { spec: { size: 2 } })
      assertRefused(answer, { code: 500, reason: 'InternalError' })
    },
    'the same holds for deletions': async (bench) => {
      await bench.create(bench.widget('a'))
      await bench.hook({ phase: 'mutating', answer: raw('', 500) })
      assertRefused(await bench.admin.delete(bench.path('widgets', 'a')), { code: 500, reason: 'InternalError' })
      await bench.read('widgets', 'a')
    },
    'the caller’s own timeout fails the request even with Ignore': async (bench) => {
      await bench.hook({ phase: 'mutating', answer: tooLate, fields: { failurePolicy: 'Ignore' } })
      await assertGivenUp(bench.admin.post(`${bench.path('widgets')}?timeout=1s`, bench.widget('a')))
    },
  }),
  ...section('1.3 Retry-After', {
    '503 with Retry-After: asked again with the same uid': async (bench) => {
      const { reviews, answer } = await retried(bench, 503, '1')
      assertAccepted(answer, 201)
      assert.equal(reviews.length, 2)
      assert.equal(new Set(reviews.map(({ request }) => request.uid)).size, 1)
      const [first, second] = reviews
      assert.ok((second?.arrived ?? 0) - (first?.arrived ?? 0) >= 950, 'it waits as long as it is told')
    },
    '429 with Retry-After: asked again': async (bench) => {
      const { reviews, answer } = await retried(bench, 429, '1')
      assertAccepted(answer, 201)
      assert.equal(reviews.length, 2)
    },
    '500 with Retry-After: asked again': async (bench) => {
      const { reviews, answer } = await retried(bench, 500, '0')
      assertAccepted(answer, 201)
      assert.equal(reviews.length, 2)
    },
    '503 without Retry-After: not asked again': async (bench) => {
      const { reviews, answer } = await retried(bench, 503)
      assertRefused(answer, { code: 500, reason: 'InternalError' })
      assert.equal(reviews.length, 1)
    },
    'Retry-After as a date: not asked again': async (bench) => {
      const { reviews } = await retried(bench, 503, 'Wed, 21 Oct 2099 07:28:00 GMT')
      assert.equal(reviews.length, 1)
    },
    '404 with Retry-After: not asked again': async (bench) => {
      assert.equal((await retried(bench, 404, '1')).reviews.length, 1)
    },
    'asked at most 11 times': async (bench) => {
      const { answer, hook } = await createWith(bench, 'validating', withRetryAfter(503, '0'))
      assertRefused(answer, { code: 500, reason: 'InternalError' })
      assert.equal(hook.reviews.length, 11)
    },
    'a wait beyond timeoutSeconds fails': async (bench) => {
      const fields = { timeoutSeconds: 1, failurePolicy: 'Ignore' }
      const { answer, hook } = await createWith(bench, 'validating', withRetryAfter(503, '5'), fields)
      assertAccepted(answer, 201)
      assert.equal(hook.reviews.length, 1)
    },
    'a closed connection is not asked again': async (bench) => {
      const { hook } = await createWith(bench, 'validating', () => ({ hangUp: true }), { failurePolicy: 'Ignore' })
      assert.equal(hook.reviews.length, 1)
    },
  }),
  ...section('1.3 accepted', {
    'HTTP 201 to 206 are as good as 200': async (bench) => {
      for (const code of [201, 202, 203, 206]) {
        const { answer } = await createWith(bench, 'mutating', withCode(code), {}, `a${code}`)
        assertAccepted(answer, 201)
      }
    },
    'any media type that can be parsed is read as JSON': async (bench) => {
      const { answer } = await createWith(bench, 'mutating', withContentType('text/plain'))
      assertAccepted(answer, 201)
    },
    'a gzipped answer is unpacked': async (bench) => {
      const { answer } = await createWith(bench, 'mutating', (received) => {
        const { body } = reviewAnswer(received, { allowed: true }) as { body: unknown }
        return { body: gzipSync(JSON.stringify(body)), headers: { 'content-encoding': 'gzip' } }
      })
      assertAccepted(answer, 201)
    },
    'a redirect that keeps the method is followed': async (bench) => {
      const target = bench.receivers.main.serve(`/${bench.namespace}/elsewhere`, allow)
      const { answer } = await createWith(bench, 'mutating', () => ({
        code: 307,
        body: '',
        headers: { location: `/${bench.namespace}/elsewhere` },
      }))
      assertAccepted(answer, 201)
      only(target)
    },
    'unknown fields are no fault': async (bench) => {
      const { answer } = await createWith(bench, 'mutating', withFields({ colour: 'red' }))
      assertAccepted(answer, 201)
    },
    'an empty list of patches changes nothing': async (bench) => {
      const { answer } = await createWith(bench, 'mutating', patch())
      assertAccepted(answer, 201)
      assert.equal(answer.body.metadata.generation, 1)
    },
    'allowed: a status is not looked at': async (bench) => {
      const status = { code: 409, message: 'no', reason: 'Conflict' }
      assertAccepted((await createWith(bench, 'validating', withFields({ status }))).answer, 201)
    },
    'auditAnnotations are no fault': async (bench) => {
      const auditAnnotations = { seen: 'yes', 'not/allowed': 'here' }
      assertAccepted((await createWith(bench, 'validating', withFields({ auditAnnotations }))).answer, 201)
    },
  }),
  ...section('1.3 denied', {
    'a denial is told with the webhook’s name': async (bench) => {
      const { answer, hook } = await createWith(bench, 'validating', deny({ code: 422, message: 'too wide' }))
      const message = `admission webhook "${hook.name}" denied the request: too wide`
      assertRefused(answer, { code: 422, message })
    },
    'a denial without status is 400 without explanation': async (bench) => {
      const { answer, hook } = await createWith(bench, 'validating', deny())
      assertRefused(answer, {
        code: 400,
        message: `admission webhook "${hook.name}" denied the request without explanation`,
      })
    },
    'a denial with a reason only': async (bench) => {
      const { answer, hook } = await createWith(bench, 'mutating', deny({ reason: 'Forbidden' }))
      const message = `admission webhook "${hook.name}" denied the request: Forbidden`
      assertRefused(answer, { code: 400, reason: 'Forbidden', message })
    },
    'a code below 400 becomes 400': async (bench) => {
      const { answer } = await createWith(bench, 'validating', deny({ code: 200, message: 'no', status: 'Success' }))
      assertRefused(answer, { code: 400 })
    },
    'reason and details pass through': async (bench) => {
      const causes = [{ reason: 'FieldValueInvalid', field: 'spec.size', message: 'odd' }]
      const status = { code: 422, reason: 'Invalid', message: 'odd', details: { causes } }
      const { answer } = await createWith(bench, 'validating', deny(status))
      assertRefused(answer, { code: 422, reason: 'Invalid' })
      assert.deepEqual(answer.body.details?.causes, causes)
    },
    'Ignore does not make a denial pass': async (bench) => {
      const { answer } = await createWith(bench, 'validating', deny({ message: 'no' }), { failurePolicy: 'Ignore' })
      assertRefused(answer, { code: 400 })
    },
    'a mutating webhook may deny too, and its patch is not looked at': async (bench) => {
      const { answer } = await createWith(bench, 'mutating', (received) =>
        reviewAnswer(received, { allowed: false, patchType: 'JSONPatch', patch: emptyPatch }),
      )
      assertRefused(answer, { code: 400 })
    },
    'a denied update changes nothing': async (bench) => {
      const before = await bench.create(bench.widget('a'))
      await bench.hook({ phase: 'validating', answer: deny() })
      const answer = await bench.admin.patch('merge-patch', bench.path('widgets', 'a'), { spec: { size: 2 } })
      assertRefused(answer, { code: 400 })
      assert.deepEqual(await bench.read('widgets', 'a'), before)
    },
    'a denied deletion deletes nothing': async (bench) => {
      const before = await bench.create(bench.widget('a'))
      await bench.hook({ phase: 'validating', answer: deny({ code: 403, message: 'protected' }) })
      assertRefused(await bench.admin.delete(bench.path('widgets', 'a')), { code: 403 })
      assert.deepEqual(await bench.read('widgets', 'a'), before)
    },
    'of two denials by validating webhooks one is told': async (bench) => {
      const hooks = [
        await bench.hook({ phase: 'validating', answer: deny({ message: 'first' }) }),
        await bench.hook({ phase: 'validating', answer: deny({ message: 'second' }) }),
      ]
      const answer = await bench.admin.post(bench.path('widgets'), bench.widget('a'))
      assertRefused(answer, { code: 400, message: /denied the request: (first|second)$/ })
      for (const hook of hooks) only(hook.reviews)
    },
  }),
  ...section('1.3 patch', {
    'a patch changes what is stored': async (bench) => {
      const { answer } = await createWith(
        bench,
        'mutating',
        patch({ op: 'add', path: '/metadata/finalizers', value: ['contract.test/f'] }),
      )
      assertAccepted(answer, 201)
      assert.deepEqual(answer.body.metadata.finalizers, ['contract.test/f'])
      assert.deepEqual((await bench.read('widgets', 'a')).metadata.finalizers, ['contract.test/f'])
    },
    'a patch that does not apply is 500, even with Ignore': async (bench) => {
      const appending = patch({ op: 'add', path: '/metadata/finalizers/-', value: 'contract.test/f' })
      const { answer } = await createWith(bench, 'mutating', appending, { failurePolicy: 'Ignore' })
      assertRefused(answer, { code: 500, reason: 'InternalError' })
    },
    'a patch whose test fails is 500, even with Ignore': async (bench) => {
      const testing = patch({ op: 'test', path: '/spec/size', value: 99 })
      const { answer } = await createWith(bench, 'mutating', testing, { failurePolicy: 'Ignore' })
      assertRefused(answer, { code: 500, reason: 'InternalError' })
    },
    'a patch on DELETE is 500, even with Ignore': async (bench) => {
      await bench.create(bench.widget('a'))
      await bench.hook({
        phase: 'mutating',
        fields: { failurePolicy: 'Ignore' },
        answer: withFields({ patchType: 'JSONPatch', patch: base64([{ op: 'add', path: '/x', value: 1 }]) }),
      })
      assertRefused(await bench.admin.delete(bench.path('widgets', 'a')), { code: 500, reason: 'InternalError' })
      await bench.read('widgets', 'a')
    },
    'an empty list of patches on DELETE is no fault': async (bench) => {
      await bench.create(bench.widget('a'))
      const answer = withFields({ patchType: 'JSONPatch', patch: emptyPatch })
      await bench.hook({ phase: 'mutating', answer })
      assertAccepted(await bench.admin.delete(bench.path('widgets', 'a')))
    },
  }),
  ...section('1.3 warnings', {
    'warnings reach the client': async (bench) => {
      const { answer } = await createWith(bench, 'validating', warn('mind the gap'))
      assert.deepEqual(answer.warnings, ['mind the gap'])
      assert.match(String(answer.headers['warning']), /^299 - "mind the gap"$/)
    },
    'warnings come from both phases': async (bench) => {
      await bench.hook({ phase: 'mutating', answer: warn('first') })
      const { answer } = await createWith(bench, 'validating', warn('second'))
      assert.deepEqual(answer.warnings, ['first', 'second'])
    },
    'the same warning is told once': async (bench) => {
      const { answer } = await createWith(bench, 'validating', warn('twice', 'twice'))
      assert.deepEqual(answer.warnings, ['twice'])
    },
    'a warning with a control character is dropped': async (bench) => {
      const { answer } = await createWith(bench, 'validating', warn('two\nlines', 'fine'))
      assert.deepEqual(answer.warnings, ['fine'])
    },
    'quotes and backslashes in a warning survive': async (bench) => {
      const { answer } = await createWith(bench, 'validating', warn('say "a\\b"'))
      assert.deepEqual(answer.warnings, ['say "a\\b"'])
    },
    'a long warning stays whole while all together are short': async (bench) => {
      const { answer } = await createWith(bench, 'validating', warn('x'.repeat(1000)))
      assert.deepEqual(
        answer.warnings.map((text) => text.length),
        [1000],
      )
    },
    'beyond 4096 characters in all every warning is cut to 256': async (bench) => {
      const long = Array.from({ length: 5 }, (_, index) => `${index}${'x'.repeat(999)}`)
      const { answer } = await createWith(bench, 'validating', warn(...long))
      assert.deepEqual(
        answer.warnings.map((text) => text.length),
        Array(5).fill(256),
      )
    },
    'warnings come with a denial too': async (bench) => {
      const { answer } = await createWith(bench, 'validating', (received) =>
        reviewAnswer(received, { allowed: false, warnings: ['before you ask'] }),
      )
      assertRefused(answer, { code: 400 })
      assert.deepEqual(answer.warnings, ['before you ask'])
    },
  }),
]

async function createWith(
  bench: Bench,
  phase: Phase,
  behaviour: Behaviour,
  fields: Record<string, unknown> = {},
  name = 'a',
): Promise<{ hook: Hook; answer: Awaited<ReturnType<Bench['admin']['get']>> }> {
  const hook = await bench.hook({ phase, answer: behaviour, fields })
  return { hook, answer: await bench.admin.post(bench.path('widgets'), bench.widget(name)) }
}

async function createWithClient(bench: Bench, failurePolicy: string, clientConfig: Record<string, unknown>) {
  await bench.hook({ phase: 'validating', fields: { failurePolicy }, clientConfig: () => clientConfig })
  return bench.admin.post(bench.path('widgets'), bench.widget('a'))
}

async function urlOfNobody(): Promise<Record<string, unknown>> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return { url: `https://127.0.0.1:${port}/` }
}

function withOtherCa(bench: Bench): Record<string, unknown> {
  const caBundle = Buffer.from(bench.server.caPem).toString('base64')
  return { ...clientOf(bench.receivers.main, '/'), caBundle }
}

function withRetryAfter(code: number, retryAfter?: string): Behaviour {
  return () => ({ code, body: '', headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter } })
}

async function retried(bench: Bench, code: number, retryAfter?: string) {
  let asked = 0
  const busyOnce: Behaviour = (received) =>
    asked++ === 0 ? withRetryAfter(code, retryAfter)(received) : allow(received)
  const { hook, answer } = await createWith(bench, 'validating', busyOnce)
  return { reviews: hook.reviews, answer }
}
