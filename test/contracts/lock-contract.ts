import type { Test } from 'tap'
import type { ObjectKey } from '../../src/domain/object-key.ts'
import type { HeldLock, Lock } from '../../src/ports/lock.ts'

export interface LockUnderTest {
  /** Two who may want the same object: two passes of one process, or two processes, as far as the lock reaches. */
  one: Lock
  other: Lock
}

export type OpenLock = () => LockUnderTest | Promise<LockUnderTest>

const KEY: ObjectKey = { kind: 'MultiClusterIngress', namespace: 'shop', name: 'storefront' }
const options = { signal: new AbortController().signal }

/** What every `Lock` does. `open` is called anew for each part. */
export function lockContract(t: Test, open: OpenLock): void {
  t.test('one holds it, and until it is released nobody else', async (t) => {
    const { one, other } = await open()
    const held = await acquire(one)
    t.equal(await other.acquire(KEY, options), undefined)
    t.equal(await one.acquire(KEY, options), undefined)
    t.notOk(held.lost.aborted)
    await held.release()
    await (await acquire(other)).release()
  })

  t.test('of many at once one gets it', async (t) => {
    const { one, other } = await open()
    const all = await Promise.all(
      Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? one : other).acquire(KEY, options)),
    )
    const holders = all.filter((held) => held !== undefined)
    t.equal(holders.length, 1)
    t.same(await holders[0]?.release(), { again: true }, 'and is told of the others')
  })

  t.test('whoever came too late is remembered, once', async (t) => {
    const { one, other } = await open()
    const first = await acquire(one)
    await other.acquire(KEY, options)
    await other.acquire(KEY, options)
    t.same(await first.release(), { again: true })
    const second = await acquire(one)
    t.same(await second.release(), { again: false }, 'and forgotten with the release')
  })

  t.test('a note can be read without holding the lock', async (t) => {
    const { one, other } = await open()
    t.equal(await other.peek(KEY, 'a', options), undefined)
    const held = await acquire(one)
    await held.setNote('a', 'text')
    await held.release()
    t.equal(await other.peek(KEY, 'a', options), 'text')
    t.equal(await other.peek(KEY, 'b', options), undefined)
    const again = await acquire(other)
    await again.setNote('a', undefined)
    await again.release()
    t.equal(await one.peek(KEY, 'a', options), undefined)
  })

  t.test('keys do not hold each other up', async (t) => {
    const { one, other } = await open()
    const held = await acquire(one)
    for (const key of [
      { ...KEY, name: 'other' },
      { ...KEY, namespace: 'bank' },
      { ...KEY, kind: 'MultiClusterService' as const },
    ]) {
      const neighbour = await other.acquire(key, options)
      t.not(neighbour, undefined)
      await neighbour?.release()
    }
    t.same(await held.release(), { again: false })
  })

  t.test('notes go from one holder to the next until they are removed', async (t) => {
    const { one, other } = await open()
    const first = await acquire(one)
    t.equal(first.note('held-since'), undefined)
    await first.setNote('held-since', '2026-03-01T08:00:00Z')
    await first.setNote('pending', 'a "quoted" text')
    t.equal(first.note('held-since'), '2026-03-01T08:00:00Z')
    await other.acquire(KEY, options)
    t.same(await first.release(), { again: true })

    const second = await acquire(other)
    t.equal(second.note('held-since'), '2026-03-01T08:00:00Z')
    t.equal(second.note('pending'), 'a "quoted" text')
    await second.setNote('held-since', undefined)
    t.equal(second.note('held-since'), undefined)
    t.same(await second.release(), { again: false }, 'the mark was forgotten, the notes were not')

    const third = await acquire(one)
    t.equal(third.note('held-since'), undefined)
    await third.setNote('pending', 'another')
    await third.setNote('pending', undefined)
    t.ok(BigInt(third.fence) > BigInt(second.fence) && BigInt(second.fence) > BigInt(first.fence))
    await third.release()
    const neighbour = await other.acquire({ ...KEY, name: 'other' }, options)
    t.equal(neighbour?.note('pending'), undefined, 'a key has its own')
    await neighbour?.release()
  })

  t.test('each holder has a greater fence than the one before', async (t) => {
    const { one, other } = await open()
    const fences: bigint[] = []
    for (let round = 0; round < 12; round += 1) {
      const held = await acquire(round % 2 === 0 ? one : other)
      fences.push(BigInt(held.fence))
      await held.release()
    }
    t.ok(
      fences.every((fence, index) => index === 0 || fence > (fences[index - 1] ?? 0n)),
      fences.join(' < '),
    )
  })

  t.test('releasing twice is harmless, also when somebody else has it by then', async (t) => {
    const { one, other } = await open()
    const first = await acquire(one)
    await first.release()
    await first.release()
    const second = await acquire(other)
    await first.release()
    t.equal(await one.acquire(KEY, options), undefined, 'it is still the other’s')
    t.same(await second.release(), { again: true })
  })
}

async function acquire(lock: Lock): Promise<HeldLock> {
  const held = await lock.acquire(KEY, options)
  if (held === undefined) throw new Error('somebody else holds the lock')
  return held
}
