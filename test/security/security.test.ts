import t, { type Test } from 'tap'
import { buildReview } from '../support/api-callers.ts'
import { buildIngress } from '../support/build-objects.ts'
import { AGENT_ATTEMPTS, SLOW_AGENT_ATTEMPTS, startAgentBench, statusOfGood } from './agent-attempts.ts'
import { type Attempt, message, request } from './attempt.ts'
import { type Bench, startBench } from './bench.ts'
import { CONTENT_ATTEMPTS } from './content-attempts.ts'
import { PROOF_ATTEMPTS } from './proof-attempts.ts'
import { SLOW_ATTEMPTS, WIRE_ATTEMPTS } from './wire-attempts.ts'

// The function as it is composed, guarded by everything it has, on a real socket. Whatever is tried makes, changes and
// removes nothing, shows no secret in any answer, log line or metric, and the function serves on.

const ALL = [...PROOF_ATTEMPTS, ...CONTENT_ATTEMPTS, ...WIRE_ATTEMPTS, ...SLOW_ATTEMPTS]

const statusesIn = (text: string) => [...text.matchAll(/HTTP\/1\.[01] (\d{3}) /g)].map(([, status]) => Number(status))

t.test('what an attacker tries', async (t) => {
  const bench = await startBench()
  t.teardown(() => bench.close())
  const before = bench.state()
  const answers: string[] = []
  const table: string[] = []

  const attempt = async ({ name, send, answers: expected }: Attempt) => {
    const answer = await send(bench)
    answers.push(answer)
    const statuses = statusesIn(answer)
    table.push(`${String(table.length + 1).padStart(3)}  ${name.padEnd(60)} ${shown(statuses, answer)}`)
    t.strictSame(statuses, expected, `${name}: ${answer.slice(0, 200)}`)
    await bench.world.clock.advance(60_000)
    t.equal(bench.state(), before, `${name}: nothing is changed`)
  }
  await bench.impatient(async () => {
    await Promise.all([...SLOW_ATTEMPTS.map(attempt), serves(bench, t)])
  })
  for (const one of [...PROOF_ATTEMPTS, ...CONTENT_ATTEMPTS, ...WIRE_ATTEMPTS]) {
    await attempt(one)
    if (table.length % 10 === 0) await serves(bench, t)
  }
  await serves(bench, t)

  t.equal(bench.canary.calls(), 0, 'no address out of a request was called')
  t.equal(({} as { polluted?: unknown }).polluted, undefined, 'no prototype is polluted')
  const metrics = await bench.raw(message({ method: 'GET', path: '/metrics' }))
  t.match(metrics, /callers_refused_total\{door="admission",reason="missing"\} \d/)
  const seen = [...answers, metrics, ...bench.logLines()].join('\n')
  t.ok(bench.logLines().length > 50, 'the log was read')
  for (const secret of bench.secrets) t.notOk(seen.includes(secret), 'no secret is seen anywhere')
  const written = bench.logLines().filter((line) => line.startsWith('{"level"'))
  t.notMatch(written.map((line) => line.slice(0, -1)).join(''), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u, 'a line is one line')
  t.notMatch(bench.logLines().join('\n'), /eyJ[A-Za-z0-9_-]{10,}\.eyJ/, 'no JWT of anybody is logged')
  t.strictSame(
    bench.world.logs.filter(({ level, message }) => level === 'error' && !message.includes('token issuer')),
    [],
    'no fault of ours',
  )

  t.ok(table.length >= 30)
  t.equal(table.length, ALL.length)
  t.comment(`${table.length} attempts, none succeeded:\n${table.join('\n')}`)
})

t.test('what an attacker tries on a provider that is served alone', async (t) => {
  const bench = await startAgentBench()
  t.teardown(() => bench.close())
  const before = bench.state()
  const answers: string[] = []
  const attempt = async ({ name, send, answers: expected }: (typeof AGENT_ATTEMPTS)[number]) => {
    const answer = await send(bench)
    answers.push(answer)
    t.strictSame(statusesIn(answer), expected, `${name}: ${answer.slice(0, 200)}`)
    t.equal(bench.state(), before, `${name}: nothing is asked of the provider`)
  }
  await Promise.all(SLOW_AGENT_ATTEMPTS.map(attempt))
  for (const one of AGENT_ATTEMPTS) await attempt(one)
  t.equal(({} as { polluted?: unknown }).polluted, undefined, 'no prototype is polluted')
  const metrics = await bench.metrics()
  t.match(metrics, /provider_server_requests_total\{operation="none",problem="Unauthorized"\} \d/)
  t.ok(bench.logLines.length > 10, 'the log was read')
  const seen = [...answers, metrics, ...bench.logLines].join('\n')
  for (const secret of bench.secrets) t.notOk(seen.includes(secret), 'no secret is seen anywhere')
  t.strictSame(statusesIn(await statusOfGood(bench)), [200])
  t.not(bench.state(), before, 'a state that changes is seen')
})

t.test('the suite would notice: with its secrets known the doors do open', async (t) => {
  const bench = await startBench()
  t.teardown(() => bench.close())
  await serves(bench, t)
  const before = bench.state()
  await bench.world.remove({ kind: 'MultiClusterIngress', namespace: 'shop', name: 'storefront' })
  const body = { specversion: '1.0', id: '1', source: '/', type: 'dev.knative.sources.ping' }
  t.strictSame(statusesIn(await bench.raw(request(bench, { path: '/events', token: await bench.jwt(), body }))), [204])
  await bench.world.clock.advance(60_000)
  t.not(bench.state(), before, 'a state that changes is seen')
  t.equal(bench.world.balancers().length, 1)
})

/** Each door lets in whoever proves who it is, by every proof. */
async function serves(bench: Bench, t: Test): Promise<void> {
  const { tokens } = bench
  const review = buildReview('CREATE', { object: buildIngress({ metadata: { name: 'good' } }) as never })
  const status = async (bytes: Buffer, client = {}) => statusesIn(await bench.raw(bytes, client))[0]
  t.equal(await status(request(bench, { path: '/admission/mutate', token: tokens.admission, body: review })), 200)
  const certificate = await bench.authority.issue({ commonNames: ['kube-apiserver'], usage: 'client' })
  t.equal(await status(request(bench, { path: '/admission/validate', body: review }), certificate), 200)
  const event = { specversion: '1.0', id: '1', source: '/', type: 'com.example.unknown' }
  const polite = { path: '/events', token: tokens.events, body: event, headers: { expect: '100-continue' } }
  t.strictSame(statusesIn(await bench.raw(request(bench, polite))), [100, 204])
  t.equal(await status(request(bench, { path: '/events', token: tokens.events, body: event })), 204)
  t.equal(await status(request(bench, { path: '/events', token: await bench.jwt(), body: event })), 204)
  t.equal(await status(request(bench, { path: '/sweep', token: tokens.sweep })), 200)
  t.equal(await status(message({ method: 'GET', path: '/healthz' })), 200)
}

function shown(statuses: number[], answer: string): string {
  if (statuses.length === 0) return answer
  const [first] = statuses
  return statuses.length > 1 && statuses.every((status) => status === first)
    ? `${first} × ${statuses.length}`
    : [...new Set(statuses)].join(', ')
}
