import t from 'tap'
import { CatalogueError } from '../../src/domain/catalogue-error.ts'
import type { Service } from '../../src/domain/service.ts'
import { createKindWalk } from '../../src/flow/sweep/kind-walk.ts'
import type { ClusterReader } from '../../src/ports/cluster-store.ts'

// All Services of a control plane, page by page, beside somebody who comes through some of their namespaces.

const service = (at: string): Service => {
  const [namespace = '', name = ''] = at.split('/')
  return { apiVersion: 'v1', kind: 'Service', metadata: { namespace, name }, spec: {} } as Service
}

/** Pages of these objects; the token is where the next one begins. */
function readerOf(
  objects: string[],
  limit: number,
  fail: (token: string | undefined) => Error | undefined = () => undefined,
) {
  const asked: (string | undefined)[] = []
  const reader: Pick<ClusterReader, 'list'> = {
    async list(_kind, { continue: token }) {
      asked.push(token)
      const error = fail(token)
      if (error !== undefined) throw error
      const from = Number(token?.replace('rest-', '') ?? 0)
      const rest = objects.length > from + limit ? { continue: String(from + limit) } : {}
      return { items: objects.slice(from, from + limit).map(service) as never[], resourceVersion: '1', ...rest }
    },
  }
  const { signal } = new AbortController()
  const walk = createKindWalk('Service', reader as ClusterReader, { limit, signal })
  const to = async (namespaces: string[], mostPages = 100) =>
    (await walk.to(namespaces, mostPages))?.map(({ namespace, items }) => [
      namespace,
      items.map(({ metadata }) => metadata.name).join(' '),
    ])
  return { to, asked }
}

t.test('it reads as far as it is asked, and what it has read once', async (t) => {
  const { to, asked } = readerOf(['a/1', 'a/2', 'b/1', 'c/1', 'c/2', 'd/1', 'e/1', 'e/2'], 2)
  t.strictSame(await to(['a']), [['a', '1 2']])
  t.strictSame(asked, [undefined, '2'], 'a namespace may go on on the next page')
  t.strictSame(await to(['b', 'c']), [
    ['b', '1'],
    ['c', '1 2'],
  ])
  t.strictSame(
    await to(['c', 'e']),
    [
      ['c', '1 2'],
      ['e', '1 2'],
    ],
    'once more the one that a page ended in',
  )
  t.strictSame(asked, [undefined, '2', '4', '6'])
})

t.test('a namespace over three pages, and one of which there is nothing', async (t) => {
  const { to, asked } = readerOf(['a/1', 'b/1', 'b/2', 'b/3', 'b/4', 'b/5', 'd/1'], 2)
  t.strictSame(
    await to(['b', 'c']),
    [
      ['b', '1 2 3 4 5'],
      ['c', ''],
    ],
    'which is known: nothing is in it',
  )
  t.strictSame(await to(['d', 'z']), [
    ['d', '1'],
    ['z', ''],
  ])
  t.equal(asked.length, 4)
})

t.test('the order is that of the keys: what begins like another, and goes on with a dash, comes first', async (t) => {
  const { to } = readerOf(['a-b/1', 'a/1', 'a0/1', 'b/1'], 1)
  t.strictSame(await to(['a-b']), [['a-b', '1']])
  t.strictSame(await to(['a']), [['a', '1']])
  t.strictSame(await to(['a0', 'b']), [
    ['a0', '1'],
    ['b', '1'],
  ])
})

t.test('it gives up where what it is given is in no order', async (t) => {
  const { to, asked } = readerOf(['a/1', 'c/1', 'b/1', 'd/1'], 1)
  t.strictSame(await to(['a']), [['a', '1']])
  t.equal(await to(['b', 'd']), undefined)
  t.equal(await to(['d']), undefined, 'for good')
  t.equal(asked.length, 3)
})

t.test('it gives up where it would read more than is worth it', async (t) => {
  const foreign = Array.from({ length: 50 }, (_, index) => `b${String(index).padStart(2, '0')}/1`)
  const { to, asked } = readerOf(['a/1', ...foreign, 'c/1'], 2)
  t.strictSame(await to(['a'], 2), [['a', '1']])
  t.equal(await to(['c'], 4), undefined)
  t.equal(asked.length, 4)
})

t.test('a token that expires', async (t) => {
  const expired = (rest?: string) => (token: string | undefined) =>
    token === '2' ? new CatalogueError('ContinueExpired', 'too old', rest === undefined ? {} : { rest }) : undefined
  const going = readerOf(['a/1', 'a/2', 'b/1', 'b/2'], 2, expired('rest-2'))
  t.strictSame(
    await going.to(['a', 'b']),
    [
      ['a', '1 2'],
      ['b', '1 2'],
    ],
    'the rest as it is now',
  )
  const lost = readerOf(['a/1', 'a/2', 'b/1', 'b/2'], 2, expired())
  t.equal(await lost.to(['a', 'b']), undefined, 'without a way to go on it gives up')
})

t.test('a kind that is not served has no lists; any other failure is thrown', async (t) => {
  const unserved = readerOf([], 2, () => new CatalogueError('KindNotServed', 'no such kind'))
  t.strictSame(await unserved.to(['a', 'b']), [])
  t.strictSame(await unserved.to(['c']), [])
  t.equal(unserved.asked.length, 1, 'it is not asked for again')
  const failing = readerOf([], 2, () => new CatalogueError('ApiUnreachable', 'nobody at home'))
  await t.rejects(failing.to(['a']), { code: 'ApiUnreachable' })
})
