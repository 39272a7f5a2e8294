import fc from 'fast-check'
import secureJson from 'secure-json-parse'
import t from 'tap'
import { parseJson } from '../../src/adapters/http/parse-json.ts'
import { composedApp } from '../support/composed-app.ts'
import { loadFixtures } from '../support/fixtures.ts'
import { fuzzRequests } from '../support/fuzz-requests.ts'
import { inject } from '../support/open-app.ts'
import { loadOpenApi } from '../support/openapi.ts'

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 10_000)

t.test(
  `${RUNS} generated requests: no 5xx, and only answers that openapi.yaml describes`,
  { timeout: 500_000 },
  async (t) => {
    const openapi = await loadOpenApi()
    const fixtures = await loadFixtures()
    const { app, errors, forget } = composedApp()
    const answers = new Map<number, number>()
    const unhandled: unknown[] = []
    const note = (reason: unknown) => void unhandled.push(reason)
    process.on('unhandledRejection', note)

    await fc.assert(
      fc.asyncProperty(fuzzRequests(fixtures.values()), async (request) => {
        const answer = await inject(app, request)
        answers.set(answer.status, (answers.get(answer.status) ?? 0) + 1)
        const ours = errors()
        forget()
        if (answer.status >= 500 || ours.length > 0) throw new Error(`${answer.status} ${answer.body} ${ours}`)
        const faults = openapi.check(request.method, request.path, answer)
        if (faults.length > 0) throw new Error(`${answer.status} ${answer.body.slice(0, 500)}\n${faults.join('\n')}`)
        if (answer.body.length > 100_000 && answer.status !== 200) throw new Error('what was sent is echoed')
      }),
      { numRuns: RUNS, ...(process.env['FUZZ_SEED'] === undefined ? {} : { seed: Number(process.env['FUZZ_SEED']) }) },
    )

    process.off('unhandledRejection', note)
    await app.close()
    t.strictSame(unhandled, [])
    t.comment(JSON.stringify(Object.fromEntries([...answers].sort(([a], [b]) => a - b))))
    for (const status of [200, 202, 204, 400, 404, 405, 415]) {
      t.ok((answers.get(status) ?? 0) > RUNS / 500, `enough answers ${status} to mean something`)
    }
  },
)

t.test('keys that reach into a prototype are refused as secure-json-parse refuses them', async (t) => {
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      fc.constantFrom('null', '1', '"__proto__"', '"constructor"'),
      fc.array(tie('value') as fc.Arbitrary<string>, { maxLength: 2 }).map((items) => `[${items}]`),
      fc
        .array(fc.tuple(fc.constantFrom(...KEYS), tie('value') as fc.Arbitrary<string>), { maxLength: 3 })
        .map((members) => `{${members.map(([key, member]) => `"${key}":${member}`)}}`),
    ),
  }))
  let refused = 0
  fc.assert(
    fc.property(value as fc.Arbitrary<string>, (text) => {
      const theirs = isRefused(() => secureJson.parse(text, { protoAction: 'error', constructorAction: 'error' }))
      const ours = isRefused(() => parseJson(Buffer.from(text)))
      refused += Number(ours)
      return theirs === ours
    }),
    { numRuns: RUNS },
  )
  t.ok(refused > RUNS / 20, `${refused} of ${RUNS} are refused`)
})

const KEYS = ['a', '__proto__', '\\u005f_proto__', 'constructor', 'c\\u006fnstructor', 'prototype']

function isRefused(parse: () => unknown): boolean {
  try {
    parse()
    return false
  } catch {
    return true
  }
}
