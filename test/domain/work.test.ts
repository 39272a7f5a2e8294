import fc from 'fast-check'
import t from 'tap'
import { canonicalJson, sameJson } from '../../src/domain/canonical-json.ts'
import { CatalogueError, ERROR_CODES, isCatalogueError } from '../../src/domain/catalogue-error.ts'
import { apiVersionOf, kindOf } from '../../src/domain/kinds.ts'
import { formatKey, keyOf, type ObjectKey, parseKey } from '../../src/domain/object-key.ts'
import { nextPass } from '../../src/domain/requeue.ts'
import { rfc3339 } from '../../src/domain/rfc3339.ts'
import { parseTraceContext, traceIdOf } from '../../src/domain/trace-context.ts'
import { isVerificationDue } from '../../src/domain/verification.ts'
import { isVisible, needsLook, nextLookAfter, VISIBLE_WITHIN_MS } from '../../src/domain/visibility.ts'
import { workData, workOfData } from '../../src/domain/work-data.ts'
import { type Hint, mergeItems } from '../../src/domain/work-item.ts'
import { buildIngress } from '../support/build-objects.ts'

const key: ObjectKey = { kind: 'MultiClusterIngress', namespace: 'shop', name: 'storefront' }

t.test('keys', async (t) => {
  t.equal(formatKey(key), 'MultiClusterIngress/shop/storefront')
  t.same(parseKey('MultiClusterIngress/shop/storefront'), key)
  t.same(parseKey('IngressClass//public'), { kind: 'IngressClass', namespace: '', name: 'public' })
  for (const wrong of [
    '',
    'MultiClusterIngress',
    'MultiClusterIngress/a',
    'MultiClusterIngress//a',
    'MultiClusterIngress/a/b/c',
    'IngressClass/a/b',
    'toString/a/b',
    'MultiClusterIngress/a/',
  ]) {
    t.equal(parseKey(wrong), undefined, `"${wrong}" names nothing`)
  }
  t.same(keyOf('MultiClusterIngress', buildIngress()), key)
  t.same(keyOf('IngressClass', { apiVersion: 'v1', kind: 'x', metadata: { name: 'c' } }), {
    kind: 'IngressClass',
    namespace: '',
    name: 'c',
  })
})

t.test('kinds', async (t) => {
  t.equal(apiVersionOf('MultiClusterIngress'), 'networking.karmada.io/v1alpha1')
  t.equal(apiVersionOf('Event'), 'v1')
  t.equal(kindOf('networking.karmada.io', 'MultiClusterService'), 'MultiClusterService')
  t.equal(kindOf('example.com', 'MultiClusterService'), undefined, 'the same kind of another group')
  t.equal(kindOf('networking.karmada.io', 'constructor'), undefined)
})

t.test('errors are a catalogue', async (t) => {
  const error = new CatalogueError('Conflict', 'moved', { object: key, field: 'spec', afterMs: 5, cause: 'why' })
  t.match(error, {
    message: 'MultiClusterIngress/shop/storefront: moved',
    code: 'Conflict',
    retry: 'after',
    field: 'spec',
    afterMs: 5,
    cause: 'why',
  })
  t.ok(isCatalogueError(error))
  t.ok(isCatalogueError(error, 'Conflict'))
  t.notOk(isCatalogueError(error, 'Internal'))
  t.notOk(isCatalogueError(new Error('x')))
  t.equal(new CatalogueError('Internal', 'bare').message, 'bare')
  for (const [code, { meaning }] of Object.entries(ERROR_CODES))
    t.match(meaning, /^[A-Z].*\.$/, `${code} is explained in a sentence`)
})

t.test('one text for one value', async (t) => {
  t.equal(canonicalJson({ b: 1, a: [undefined, { d: undefined, c: null }] }), '{"a":[null,{"c":null}],"b":1}')
  t.equal(canonicalJson(undefined), 'null')
  t.ok(sameJson({ a: 1, b: 2 }, { b: 2, a: 1 }))
  t.notOk(sameJson([1, 2], [2, 1]))
})

t.test('moments', async (t) => t.equal(rfc3339(Date.parse('2026-03-01T08:00:00.123Z')), '2026-03-01T08:00:00Z'))

t.test('when a change is visible', async (t) => {
  const object = buildIngress({ metadata: { uid: 'u1', resourceVersion: '5' } })
  const leaving = buildIngress({ metadata: { uid: 'u1', deletionTimestamp: '2026-03-01T08:00:00Z' } })
  const rows: [string, Omit<Hint, 'object'>, typeof object | undefined, boolean][] = [
    ['CREATE, not there', { operation: 'CREATE' }, undefined, false],
    ['CREATE, there', { operation: 'CREATE' }, object, true],
    ['UPDATE, old version', { operation: 'UPDATE', oldResourceVersion: '5' }, object, false],
    ['UPDATE, another version', { operation: 'UPDATE', oldResourceVersion: '4' }, object, true],
    ['UPDATE, gone', { operation: 'UPDATE', oldResourceVersion: '4' }, undefined, true],
    ['UPDATE, nothing to compare', { operation: 'UPDATE' }, object, true],
    ['DELETE, gone', { operation: 'DELETE', uid: 'u1' }, undefined, true],
    ['DELETE, leaving', { operation: 'DELETE', uid: 'u1' }, leaving, true],
    ['DELETE, alive', { operation: 'DELETE', uid: 'u1' }, object, false],
    ['DELETE, a later object of the name', { operation: 'DELETE', uid: 'u0' }, object, true],
    ['DELETE, uid unknown, alive', { operation: 'DELETE' }, object, false],
  ]
  for (const [title, hint, seen, expected] of rows) t.equal(isVisible({ object: key, ...hint }, seen), expected, title)
  t.notOk(needsLook({ object: key, operation: 'UPDATE' }))
  t.ok(needsLook({ object: key, operation: 'UPDATE', oldResourceVersion: '1' }))
  t.ok(needsLook({ object: key, operation: 'DELETE' }))
})

t.test('looks come at doubling distance, from 50 ms to 5 s', async (t) => {
  const seenAt = 1_000_000
  const hint: Hint = { object: key, operation: 'CREATE', waitUntil: seenAt + VISIBLE_WITHIN_MS }
  const looks: number[] = []
  for (let now = seenAt; now < seenAt + VISIBLE_WITHIN_MS; now += looks.at(-1) ?? 0)
    looks.push(nextLookAfter([hint], now))
  t.same(looks.slice(0, 9), [50, 50, 100, 200, 400, 800, 1600, 3200, 5000])
  t.ok(looks.length < 20, `${looks.length} looks in 40 s`)
  t.equal(nextLookAfter([{ object: key, operation: 'DELETE' }], seenAt), 5000, 'nothing is waited for')
})

t.test('items of one key are merged', async (t) => {
  const create: Hint = { object: key, operation: 'CREATE', waitUntil: 10 }
  const merged = mergeItems(
    { key, hints: [create] },
    {
      key,
      hints: [
        { ...create, waitUntil: 20 },
        { object: key, operation: 'DELETE', uid: 'u' },
      ],
    },
  )
  t.same(
    merged.hints,
    [
      { ...create, waitUntil: 20 },
      { object: key, operation: 'DELETE', uid: 'u' },
    ],
    'the longer wait stays',
  )
  t.same(mergeItems({ key, hints: [{ ...create, waitUntil: 30 }] }, { key, hints: [create] }).hints, [
    { ...create, waitUntil: 30 },
  ])
  const atOnce = mergeItems({ key, hints: [] }, { key, hints: [create] })
  t.same(atOnce.hints, [{ object: key, operation: 'UPDATE' }, create], '"at once" stays beside what waits')
  t.notOk(atOnce.hints.every(needsLook))
  t.same(mergeItems({ key, hints: [] }, { key, hints: [] }).hints.length, 1)
  t.same(
    mergeItems(
      { key, hints: [{ object: key, operation: 'DELETE' }] },
      { key, hints: [{ object: key, operation: 'DELETE' }] },
    ).hints.length,
    1,
  )
})

t.test('what follows a pass', async (t) => {
  const now = 1_000_000
  const item = { key, hints: [] }
  const waiting: Hint[] = [{ object: key, operation: 'CREATE', waitUntil: now + VISIBLE_WITHIN_MS }]
  const failed = (code: 'ApiFailed' | 'ApiDenied') =>
    ({ kind: 'failed', error: new CatalogueError(code, 'x') }) as const
  for (const outcome of [
    { kind: 'settled' },
    { kind: 'gone' },
    { kind: 'ignored', reason: '' },
    failed('ApiDenied'),
  ] as const) {
    t.equal(nextPass(item, { outcome, waiting: [] }, 0, now), undefined, `${outcome.kind}: forget`)
    t.same(
      nextPass(item, { outcome, waiting }, 0, now),
      { item: { key, hints: waiting }, afterMs: 50, failed: false },
      `${outcome.kind}: look again`,
    )
  }
  const later = { kind: 'later', afterMs: 700, reason: '' } as const
  t.same(nextPass(item, { outcome: later, waiting: [] }, 3, now), { item, afterMs: 700, failed: false })
  t.equal(nextPass(item, { outcome: later, waiting }, 3, now)?.item.hints.length, 2, 'what waits is kept')
  const backoff = [0, 1, 2, 5, 6, 7, 5000].map(
    (failures) => nextPass(item, { outcome: failed('ApiFailed'), waiting: [] }, failures, now)?.afterMs,
  )
  t.same(backoff, [5_000, 10_000, 20_000, 160_000, 300_000, 300_000, 300_000])
})

t.test('what asked for work', async (t) => {
  const trace = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, tracestate: 'vendor=one' }
  const key: ObjectKey = { kind: 'MultiClusterIngress', namespace: 'shop', name: 'web' }

  await t.test('is merged in the order it came, the earliest eight of many', async (t) => {
    const item = (...times: number[]) => ({ key, hints: [], causes: times.map((at) => ({ at })) })
    const times = (a: number[], b: number[]) => mergeItems(item(...a), item(...b)).causes?.map(({ at }) => at)
    t.same(times([5, 1], [3]), [1, 3, 5])
    t.same(times([1], [1]), [1], 'nothing twice')
    t.same(times([9, 8, 7, 6, 5, 4], [3, 2, 1]), [1, 2, 3, 4, 5, 6, 7, 8])
    t.notOk('causes' in mergeItems({ key, hints: [] }, { key, hints: [] }))
  })

  await t.test('travels, and what cannot be read is left out', async (t) => {
    const item = { key, hints: [], causes: [{ at: 1, trace }, { at: 2 }] }
    t.strictSame(workOfData(JSON.parse(JSON.stringify(workData(item)))), item)
    for (const wrong of [null, 'x', {}, [null], ['x'], [{ at: 'x' }], [{ traceparent: trace.traceparent }], [[]]]) {
      t.strictSame(workOfData({ key: formatKey(key), hints: [], causes: wrong }), { key, hints: [] })
    }
    const many = Array.from({ length: 10_000 }, (_, at) => ({ at, traceparent: 'x' }))
    t.equal(workOfData({ key: formatKey(key), hints: [], causes: many })?.causes?.length, 8)
  })

  await t.test('is a trace context only where it is one', async (t) => {
    const { traceparent } = trace
    t.strictSame(parseTraceContext(traceparent, 'vendor=one'), trace)
    t.strictSame(parseTraceContext(traceparent, 'a\nb'), { traceparent })
    t.strictSame(parseTraceContext(traceparent, 'x'.repeat(513)), { traceparent })
    t.equal(traceIdOf(trace), 'a'.repeat(32))
    for (const wrong of [
      undefined,
      7,
      '',
      traceparent.toUpperCase(),
      traceparent.replace('00-', '01-'),
      traceparent.replaceAll('a', '0'),
      traceparent.replaceAll('b', '0'),
      `${traceparent}-x`,
    ]) {
      t.equal(parseTraceContext(wrong), undefined, String(wrong))
    }
  })
})

t.test('a cron verifies every balancer once a period, however punctual it is', async (t) => {
  const share = fc.record({
    intervalMs: fc.integer({ min: 1_000, max: 900_000 }),
    shares: fc.integer({ min: 1, max: 30 }),
  })
  const late = fc.array(fc.double({ min: -0.49, max: 0.49, noNaN: true }), { minLength: 30, maxLength: 30 })
  fc.assert(
    fc.property(share, late, fc.uuid(), fc.nat(1e6), ({ intervalMs, shares }, jitter, uid, first) => {
      const settings = { intervalMs, periodMs: intervalMs * shares }
      const due = jitter
        .slice(0, shares)
        .filter((part, index) => isVerificationDue(uid, (first + index + part) * intervalMs, settings))
      return due.length === 1
    }),
  )
  t.pass('once')
})
