import { join } from 'node:path'
import t from 'tap'
import { checkAnswer, checkQueued } from '../../src/cli/check-answer.ts'
import { FixtureInvalid, parseFixture, readFixture } from '../../src/cli/fixture.ts'

const REQUEST = { method: 'post', path: '/events', headers: { 'Content-Type': 'application/json' } }

function parse(request: object, expect: object = { status: 200 }) {
  return parseFixture('case.json', JSON.stringify({ description: 'a case', request, expect }))
}

t.test('a body in any of the four ways, or none', async (t) => {
  const body = (request: object) => parse({ ...REQUEST, ...request }).request.body.toString()
  t.equal(body({ body: { a: 1 } }), '{"a":1}')
  t.equal(body({ bodyText: '{' }), '{')
  t.equal(body({ bodyBase64: 'aGk=' }), 'hi')
  t.equal(body({ generate: { json: { a: { b: '' } }, pad: [{ at: ['a', 'b'], bytes: 3 }] } }), '{"a":{"b":"xxx"}}')
  t.equal(body({}), '')
  t.match(parse(REQUEST).request, { method: 'POST', headers: { 'content-type': 'application/json' } })
})

t.test('every fault is told at once', async (t) => {
  const faults = (text: string) => {
    try {
      parseFixture('case.json', text)
      return 'none'
    } catch (error) {
      return error instanceof FixtureInvalid ? error.message : `${error}`
    }
  }
  t.match(faults('{'), /^case\.json is no fixture:\n {2}- not JSON: /)
  t.equal(faults('[]'), 'case.json is no fixture:\n  - the file: must be an object')
  const wrong = {
    request: { method: '', path: 'events', headers: { a: 1 }, body: 1, bodyText: 'x', extra: 1 },
    expect: { status: 'ok', patch: {}, queued: [{ hints: [{}] }, 7] },
    strange: true,
  }
  const found = faults(JSON.stringify(wrong))
  for (const fault of [
    'description: must be a string that is not empty',
    'request.method: must be a string that is not empty',
    'request.headers.a: must be a string',
    'request: has body and bodyText; give one',
    'request.path: must begin with "/"',
    'request.extra: unknown; known are method, path, headers, body, bodyText, bodyBase64, generate',
    'expect.status: must be a status code',
    'expect.patch: must be a list',
    'expect.queued[0].key: must be a string that is not empty',
    'expect.queued[0].hints[0].waits: must be true or false',
    'expect.queued[1]: must be an object',
    'strange: unknown; known are description, request, expect',
  ]) {
    t.ok(found.includes(`  - ${fault}`), fault)
  }
  const generated = (pad: unknown) =>
    faults(
      JSON.stringify({
        description: 'x',
        request: { ...REQUEST, generate: { json: {}, pad } },
        expect: { status: 200 },
      }),
    )
  t.match(generated([]), /generate\.pad: must list/)
  t.match(generated([{ at: 'a' }]), /pad\[0\]: must have at/)
  t.match(generated([{ at: ['a', 'b'], bytes: 1 }]), /a\.b does not lead into json/)
})

t.test('a fixture is read from its file', async (t) => {
  const file = join(import.meta.dirname, '../fixtures/admission/mutate-create.json')
  t.match(await readFixture(file), { file, request: { path: /^\/admission\/mutate/ }, expect: { status: 200 } })
  await t.rejects(readFixture('/nowhere.json'), { code: 'ENOENT' })
})

t.test('an answer is compared by what is expected of it', async (t) => {
  const answer = { status: 200, headers: { allow: 'POST' }, body: '{"a":{"b":[1,{"c":2,"d":3}]},"e":null}' }
  const check = (expect: object, got: object = {}) =>
    checkAnswer({ expect: { status: 200, ...expect } }, { ...answer, ...got })
  t.strictSame(check({ headers: { allow: 'POST' }, body: { a: { b: [1, { c: 2 }] }, e: null, x: null } }), [])
  t.match(check({}, { status: 500 }), [/^status: expected 200, got 500/])
  t.match(check({ headers: { allow: 'GET', x: 'y' } }), [/^header allow/, /^header x: expected "y", got nothing/])
  t.match(check({ body: { a: { b: [1] } } }), [/^body\.a\.b: expected \[1\]/])
  t.match(check({ body: { a: { b: [1, { c: 3 }] }, z: { y: 1 } } }), [
    /^body\.a\.b\[1\]\.c: expected 3, got 2/,
    /^body\.z/,
  ])
  t.match(check({ body: {} }, { body: 'text' }), [/expected JSON/])
  t.match(check({ body: '' }), [/^body: expected ""/])
  t.strictSame(check({ body: 'x' }, { body: 'x' }), [])
})

t.test('a patch is compared decoded, and as a whole', async (t) => {
  const operation = { op: 'add', path: '/a', value: 1 }
  const patch = Buffer.from(JSON.stringify([operation])).toString('base64')
  const answer = { status: 200, headers: {}, body: JSON.stringify({ response: { patch } }) }
  const check = (expected: unknown[], got = answer) => checkAnswer({ expect: { status: 200, patch: expected } }, got)
  t.strictSame(check([operation]), [])
  t.strictSame(check([], { ...answer, body: '{"response":{}}' }), [])
  t.match(check([]), [/^patch: expected \[\]/])
  t.match(check([operation], { ...answer, body: 'text' }), [/^patch/])
})

t.test('the queue is compared by key and by what tells a change', async (t) => {
  const object = 'MultiClusterIngress/shop/web'
  const expected = (hint: object) => ({
    expect: { status: 200, queued: [{ key: object, hints: [{ object, operation: 'UPDATE', waits: true, ...hint }] }] },
  })
  const queued = [
    { key: object, hints: [{ object, operation: 'UPDATE', uid: 'u', oldResourceVersion: '1', waitUntil: 5 }] },
  ]
  t.strictSame(checkQueued(expected({ oldResourceVersion: '1' }), queued), [])
  t.match(checkQueued(expected({ oldResourceVersion: '2' }), queued), [/^queued: expected/])
  t.match(checkQueued(expected({ oldResourceVersion: '1', waits: false }), queued), [/^queued: expected/])
  t.match(checkQueued(expected({ oldResourceVersion: '1' }), []), [/^queued: expected/])
  t.strictSame(checkQueued({ expect: { status: 200 } }, queued), [], 'nothing is expected')
})
