import type { Test } from 'tap'
import type { Delivery, WorkStream } from '../../src/adapters/jetstream/work-stream.ts'
import { isCatalogueError } from '../../src/domain/catalogue-error.ts'

/** A stream that holds three subjects at most and waits a second for an answer. */
export interface StreamUnderTest {
  stream: WorkStream
  /** Of the subjects it holds. */
  prefix: string
  /** Moves time on, or lets it pass. */
  advance(ms: number): Promise<void>
}

export const STREAM_UNDER_TEST = { capacity: 3, ackWaitMs: 1_000 }

const NEVER = new AbortController().signal

export type OpenStream = () => Promise<StreamUnderTest>

/** What the work queue relies on. `open` is called anew for each part. */
export function workStreamContract(t: Test, open: OpenStream): void {
  async function setUp() {
    const subject = await open()
    const { stream, prefix } = subject
    let ids = 0
    return {
      ...subject,
      put: (name: string, body: string, after = 0) => {
        ids += 1
        return stream.put(`${prefix}.${name}`, body, { after, id: `id-${ids}` })
      },
      last: async (name: string) => (await stream.last(`${prefix}.${name}`))?.body,
      sequence: async (name: string) => (await stream.last(`${prefix}.${name}`))?.sequence ?? 0,
      /** Time passes until so many were handed out. */
      async take(count: number): Promise<Delivery[]> {
        const taken: Delivery[] = []
        while (taken.length < count) {
          let isOver = false
          const pulled = stream.pull(count - taken.length, (delivery) => void taken.push(delivery), NEVER)
          void pulled.then(() => {
            isOver = true
          })
          while (!isOver) await subject.advance(20)
        }
        return taken
      },
      /** Nothing is handed out within this time. */
      async quietFor(ms: number): Promise<boolean> {
        const controller = new AbortController()
        let isQuiet = true
        const pulled = stream.pull(
          1,
          (delivery) => {
            isQuiet = false
            delivery.again(0)
          },
          controller.signal,
        )
        await subject.advance(ms)
        controller.abort()
        await pulled
        return isQuiet
      },
    }
  }

  t.test('it keeps the last state of a subject, and hands it out', async (t) => {
    const { prefix, put, last, take, sequence } = await setUp()
    t.equal(await last('a'), undefined)
    t.equal(await put('a', '1'), 'stored')
    t.equal(await last('a'), '1')
    t.equal(await put('a', '2'), 'moved', 'there is one already')
    const first = await sequence('a')
    t.equal(await put('a', '2', first), 'stored')
    t.equal(await put('a', '3', first), 'moved', 'and by now another')
    t.equal(await last('a'), '2')
    await put('b', '1')
    const taken = await take(2)
    t.match(taken.map(({ subject, body, times }) => [subject, body, times]).sort(), [
      [`${prefix}.a`, '2', 1],
      [`${prefix}.b`, '1', 1],
    ])
    t.ok(taken.every((delivery) => delivery.sequence > first))
  })

  t.test('what was sent with the same id is stored once', async (t) => {
    const { stream, prefix, take, quietFor } = await setUp()
    const twice = { after: 0, id: 'the same' }
    t.equal(await stream.put(`${prefix}.a`, '1', twice), 'stored')
    t.equal(await stream.put(`${prefix}.a`, '1', twice), 'stored')
    const [delivery] = await take(1)
    delivery?.done()
    t.ok(await quietFor(100))
    t.equal(await stream.put(`${prefix}.a`, '1', twice), 'stored', 'and not again when it is done')
    t.ok(await quietFor(100))
  })

  t.test('what is done is gone, and a new state of its subject comes anew', async (t) => {
    const { put, last, take, quietFor } = await setUp()
    await put('a', '1')
    const [first] = await take(1)
    first?.done()
    t.ok(await quietFor(1_500))
    t.equal(await last('a'), undefined)
    t.equal(await put('a', '2', first?.sequence), 'moved', 'there is nothing to come after')
    t.equal(await put('a', '2'), 'stored')
    t.match(await take(1), [{ body: '2', times: 1 }])
  })

  t.test('a newer state is handed out while the older one is worked on, and survives it', async (t) => {
    const { put, last, take, quietFor } = await setUp()
    await put('a', '1')
    const [first] = await take(1)
    t.equal(await put('a', '2', first?.sequence), 'stored')
    const [second] = await take(1)
    t.match(second, { body: '2', times: 1 })
    first?.done()
    t.equal(await last('a'), '2')
    first?.again(0)
    t.ok(await quietFor(200), 'the older one never comes back')
    second?.done()
    t.ok(await quietFor(1_500))
    t.equal(await last('a'), undefined)
  })

  t.test('what is handed back comes when it says', async (t) => {
    const { put, take, quietFor } = await setUp()
    await put('a', '1')
    const [first] = await take(1)
    first?.again(600)
    t.ok(await quietFor(400))
    const again = await take(1)
    t.match(again, [{ body: '1', times: 2, sequence: first?.sequence }])
    again[0]?.again(0)
    t.match(await take(1), [{ body: '1', times: 3 }])
  })

  t.test('what is not answered comes again, unless its worker is heard of', async (t) => {
    const { prefix, put, take, quietFor, advance } = await setUp()
    await put('a', '1')
    const [first] = await take(1)
    for (let heard = 0; heard < 4; heard += 1) {
      await advance(500)
      first?.working()
    }
    await put('b', '1')
    const [other] = await take(1)
    t.match(other, { subject: `${prefix}.b` }, 'it was not handed out in two seconds')
    other?.done()
    const [second] = await take(1)
    t.match(second, { body: '1', times: 2 })
    t.ok(await quietFor(700))
    t.match(await take(1), [{ body: '1' }])
  })

  t.test('a new subject is refused when there are too many, a known one is not', async (t) => {
    const { put, take, sequence, last, advance } = await setUp()
    for (const name of ['a', 'b', 'c']) await put(name, '1')
    await t.rejects(put('d', '1'), { code: 'QueueFull', retry: 'after' })
    t.equal(await put('a', '2', await sequence('a')), 'stored')
    const [one] = await take(1)
    one?.done()
    await last('a')
    // The server makes room a moment after it heard of the answer.
    let stored: string | undefined
    for (let attempt = 0; stored === undefined && attempt < 20; attempt += 1) {
      await advance(100)
      stored = await put('d', '1').catch((error) => {
        if (isCatalogueError(error, 'QueueFull')) return undefined
        throw error
      })
    }
    t.equal(stored, 'stored')
  })

  t.test('what is buried is out of the way', async (t) => {
    const { stream, prefix, put, take, quietFor } = await setUp()
    await put('a', '1')
    const [delivery] = await take(1)
    await stream.bury(`${prefix}.a`, '1', 'two\nlines')
    delivery?.done()
    t.ok(await quietFor(1_500))
  })
}
