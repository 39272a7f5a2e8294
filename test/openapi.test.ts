import t from 'tap'
import type { ProofFailure } from '../src/domain/judge-proofs.ts'
import { openApp } from './support/open-app.ts'
import { loadOpenApi, type Node } from './support/openapi.ts'
import { stubDoors } from './support/stub-doors.ts'

const openapi = await loadOpenApi()

t.test('every route is in the document, and every path is a route', async (t) => {
  const { app } = openApp(stubDoors())
  await app.ready()
  // One line a route: `├── /events (POST, OPTIONS)`.
  const routes = app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, path, methods = ''] = /(\/\S*) \(([^)]+)\)/.exec(line) ?? []
      return methods.split(', ').flatMap((method) => (path === undefined ? [] : [`${method} ${path}`]))
    })
  await app.close()
  t.ok(routes.length > 5, 'the routes are seen')
  t.strictSame(routes.toSorted(), openapi.operations.toSorted())
})

t.test('a path without its document, and the other way round, would be noticed', async (t) => {
  t.strictSame(openapi.check('POST', '/nowhere', { status: 200, headers: {}, body: '' }), ['no such path'])
  t.strictSame(openapi.check('POST', '/sweep', { status: 418, headers: {}, body: '' }), ['status 418 is not described'])
  const answer = { status: 200, headers: { 'content-type': 'application/json' }, body: '{"scope":"all"}' }
  t.not(openapi.check('POST', '/sweep', answer).length, 0)
  const unready = {
    status: 503,
    headers: { 'content-type': 'application/json' },
    body: '{"code":"QueueFull","message":"y"}',
  }
  t.match(openapi.check('POST', '/sweep', unready), ['header Retry-After is missing'])
})

t.test('a validating answer cannot carry a patch, a mutating one not half of it', async (t) => {
  const review = (response: Node) => ({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response })
  const faults = (schema: string, response: Node) =>
    openapi.checkValue(['components', 'schemas', schema], review({ uid: 'u', ...response }))
  const patch = { patchType: 'JSONPatch', patch: 'W10=' }
  t.strictSame(faults('MutatingReviewAnswer', { allowed: true, ...patch }), [])
  t.not(faults('MutatingReviewAnswer', { allowed: true, patchType: 'JSONPatch' }).length, 0)
  t.not(faults('MutatingReviewAnswer', { allowed: true, patch: 'W10=' }).length, 0)
  t.not(faults('ValidatingReviewAnswer', { allowed: true, ...patch }).length, 0)
  t.not(faults('ValidatingReviewAnswer', { allowed: false }).length, 0, 'a denial says why')
  t.not(faults('NotifyReviewAnswer', { allowed: false }).length, 0, 'notify never denies')
})

t.test('every refusal of a caller is in the document', async (t) => {
  const refusing = (reason: ProofFailure) => ({ proofs: [{ check: () => ({ kind: 'failed' as const, reason }) }] })
  const impatient = { proofs: 'anyone' as const, rate: { perSecond: 0.001, burst: 1 } }
  for (const { guard, statuses } of [
    { guard: refusing('missing'), statuses: [401, 401, 401, 401, 401, 401] },
    { guard: refusing('notAllowed'), statuses: [403, 403, 403, 403, 403, 403] },
    { guard: impatient, statuses: [429, 429, 429, 429, 429, 429] },
  ]) {
    const callers = { admission: guard, events: guard, sweep: guard, metrics: guard }
    const { app, send } = openApp(stubDoors(), { callers })
    const answers: number[] = []
    for (const [method, path] of [
      ['POST', '/admission/mutate'],
      ['POST', '/admission/validate'],
      ['POST', '/admission/notify'],
      ['POST', '/events'],
      ['POST', '/sweep'],
      ['GET', '/metrics'],
    ] as const) {
      await send({ method, path })
      const answer = await send({ method, path })
      answers.push(answer.status)
      // No configuration gives admission a rate.
      if (guard !== impatient || !path.startsWith('/admission')) {
        t.strictSame(openapi.check(method, path, answer), [], `${method} ${path} ${answer.status}`)
      }
    }
    t.strictSame(answers, statuses)
    await app.close()
  }
})

t.test('every example is what its schema says', async (t) => {
  const examples = [...examplesIn(openapi.document, [])]
  t.ok(examples.length > 25, 'the examples are found')
  for (const { pointer, value } of examples) {
    t.strictSame(openapi.checkValue([...pointer.slice(0, -2), 'schema'], value), [], pointer.join('/'))
  }
})

t.test('the document is served as it is', async (t) => {
  const text = JSON.stringify(openapi.document)
  const { app, send } = openApp(stubDoors(), { openapi: async () => text })
  const answer = await send({ method: 'GET', path: '/openapi.json' })
  await app.close()
  t.equal(answer.body, text)
  t.strictSame(openapi.check('GET', '/openapi.json', answer), [])
})

function* examplesIn(node: unknown, pointer: string[]): Generator<{ pointer: string[]; value: unknown }> {
  if (typeof node !== 'object' || node === null) return
  for (const [name, child] of Object.entries(node)) {
    const isExample = pointer.at(-1) === 'examples' && typeof child === 'object' && child !== null && 'value' in child
    if (isExample) yield { pointer: [...pointer, name], value: (child as { value: unknown }).value }
    else yield* examplesIn(child, [...pointer, name])
  }
}
