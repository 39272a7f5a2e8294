import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HTTP, type CloudEvent as SdkEvent } from 'cloudevents'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { createCertificateAuthority } from '../../src/adapters/certificates/certificate-authority.ts'
import { encodeCloudEvent } from '../../src/adapters/cloudevents/encode-cloud-event.ts'
import { createEventOutbox } from '../../src/adapters/cloudevents/event-outbox.ts'
import type { Delivery } from '../../src/adapters/cloudevents/event-sender.ts'
import { addPending, type ObjectEvent } from '../../src/adapters/cloudevents/pending-events.ts'
import { readSink } from '../../src/adapters/cloudevents/read-sink.ts'
import { decodeCloudEvents } from '../../src/adapters/http/decode-cloud-event.ts'
import { interpretCloudEvent } from '../../src/adapters/http/interpret-cloud-event.ts'
import { nextWatchStep, type WatchEnding, type WatchStep } from '../../src/adapters/kubernetes/next-watch-step.ts'
import { changesAtSight } from '../../src/adapters/kubernetes/watch-changes.ts'
import { WatchError, watchErrorOfStatus } from '../../src/adapters/kubernetes/watch-error.ts'
import { watchKind } from '../../src/adapters/kubernetes/watch-kind.ts'
import { watchLines } from '../../src/adapters/kubernetes/watch-lines.ts'
import type { WatchedResource } from '../../src/adapters/kubernetes/watched-resource.ts'
import { createSystemClock } from '../../src/adapters/system/system-clock.ts'
import { runCli } from '../../src/cli/run-cli.ts'
import { startLocal } from '../../src/compose/start-local.ts'
import { isCatalogueError } from '../../src/domain/catalogue-error.ts'
import { createFakeProvider } from '../../src/providers/fake/fake-provider.ts'
import { eventually } from '../contracts/kubernetes-api/eventually.ts'
import { createCore } from '../support/breakable-api.ts'
import { isTaken } from '../support/event-receiver.ts'
import { clock, createWatchedWorld, INGRESSES, USER, type WatchedWorld } from '../support/watched-world.ts'

const CLUSTERS: WatchedResource = {
  group: 'cluster.karmada.io',
  version: 'v1alpha1',
  plural: 'clusters',
  kind: 'Cluster',
  metadataOnly: false,
}
const SECRETS: WatchedResource = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret', metadataOnly: true }

/** Until the sink has taken these, of each object in this order, and nothing else. */
function untilTaken(t: Test, { sink }: WatchedWorld, expected: string[]): Promise<void> {
  const sorted = (labels: string[]) => labels.toSorted((a, b) => objectOf(a).localeCompare(objectOf(b)))
  return eventually(() => {
    const taken = sink.taken()
    if (taken.length < expected.length) throw new Error(`${taken.length} of ${expected.length}: ${taken.join(', ')}`)
  }).finally(() => t.strictSame(sorted(sink.taken()), sorted(expected)))
}

const objectOf = (label: string) => label.split(' ')[1] ?? ''

t.test('each change is told once, with an id that says which', async (t) => {
  const world = await createWatchedWorld(t)
  const { sink } = world
  const before = await world.create('before')
  world.start()
  await untilTaken(t, world, ['add shop/before'])
  const added = await world.create('web')
  await untilTaken(t, world, ['add shop/before', 'add shop/web'])
  const edited = await world.edit('web')
  await untilTaken(t, world, ['add shop/before', 'add shop/web', 'update shop/web'])
  await world.remove('web')
  await untilTaken(t, world, ['add shop/before', 'add shop/web', 'update shop/web', 'delete shop/web'])
  const last = await world.create('last')
  await untilTaken(t, world, ['add shop/before', 'add shop/web', 'update shop/web', 'delete shop/web', 'add shop/last'])
  const idOf = ({ metadata }: { metadata: { uid?: string; resourceVersion?: string } }, verb: string) =>
    `${metadata.uid}.${metadata.resourceVersion}.${verb}`
  const ids = sink.received.map(({ event }) => event.id)
  for (const id of [idOf(before, 'add'), idOf(added, 'add'), idOf(edited, 'update'), idOf(last, 'add')]) {
    t.ok(ids.includes(id), id)
  }
  t.match(sink.received[0]?.event, {
    source: /^https:\/\/127\.0\.0\.1:\d+$/,
    type: 'dev.knative.apiserver.resource.add',
    subject: '/apis/networking.karmada.io/v1alpha1/namespaces/shop/multiclusteringresses/before',
    data: { kind: 'json', value: { kind: 'MultiClusterIngress', metadata: { name: 'before' }, spec: {} } },
  })
  t.strictSame(Object.fromEntries(sink.received[0]?.event.extensions ?? []), {
    apiversion: 'networking.karmada.io/v1alpha1',
    kind: 'MultiClusterIngress',
    namespace: 'shop',
    name: 'before',
  })
  for (const { event, headers, body } of sink.received) {
    t.equal(interpretCloudEvent(event, 0).purpose, 'change', event.id)
    const sdk = HTTP.toEvent({ headers, body }) as SdkEvent<unknown>
    t.ok(sdk.validate())
    t.equal(sdk.id, event.id)
    t.equal(sdk['name'], event.extensions.get('name'))
    t.equal(sdk.subject, event.subject)
    t.notMatch(body, /managedFields/)
  }
})

t.test('nothing is lost, and nothing told twice', async (t) => {
  const refuse =
    (status: number, body: object, headers = {}) =>
    (world: WatchedWorld) =>
      world.api.answerWith((_request, response) => {
        response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
        return true
      })
  const initializing = { kind: 'Status', code: 429, message: 'storage is (re)initializing', reason: 'TooManyRequests' }
  const failing = refuse(503, { kind: 'Status', code: 503 })
  const resume = ({ api }: WatchedWorld) => api.answerWith(undefined)
  const ERROR_410 = '{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}}'

  /** How the watch is broken while things change, and how it can go on. */
  const gaps: { name: string; begin(world: WatchedWorld): unknown; end(world: WatchedWorld): unknown }[] = [
    {
      name: 'the stream was cut',
      begin(world) {
        failing(world)
        world.api.cut()
      },
      end: resume,
    },
    {
      name: 'an ERROR 410 in the stream',
      begin(world) {
        failing(world)
        world.api.say(ERROR_410)
      },
      end: resume,
    },
    {
      name: 'a line that is no JSON',
      begin(world) {
        failing(world)
        world.api.say('{"type":"ADDED","obj')
      },
      end: resume,
    },
    {
      name: 'a line that is no event',
      begin(world) {
        failing(world)
        world.api.say('{"type":"ADDED","object":{"metadata":{"name":"x"}}}')
      },
      end: resume,
    },
    {
      name: 'the history was compacted',
      begin: ({ api }) => api.down(),
      async end({ api }) {
        api.core.compact()
        await api.up()
      },
    },
    { name: 'the API server was down', begin: ({ api }) => api.down(), end: ({ api }) => api.up() },
    {
      name: 'the API server came back with storage that is (re)initializing',
      begin: ({ api }) => api.down(),
      async end(world) {
        refuse(429, { ...initializing, details: { retryAfterSeconds: 0 } }, { 'retry-after': '0' })(world)
        await world.api.up()
        const asked = world.api.requests.length
        await eventually(() => {
          if (world.api.requests.length < asked + 3) throw new Error('not asked again')
        })
        resume(world)
      },
    },
    {
      name: 'every list and watch was refused with 403, 404 and HTML from a proxy',
      begin(world) {
        const answers = [403, 404, 502]
        world.api.answerWith((_request, response) => {
          response.writeHead(answers[world.api.requests.length % 3] ?? 403).end('<html>')
          return true
        })
        world.api.cut()
      },
      async end(world) {
        const asked = world.api.requests.length
        await eventually(() => {
          if (world.api.requests.length < asked + 6) throw new Error('not asked again')
        })
        resume(world)
      },
    },
    {
      name: 'the sink was down',
      begin: ({ sink }) => sink.down(),
      end: ({ sink }) => sink.up(),
    },
    {
      name: 'both were down',
      begin: async ({ api, sink }) => {
        await sink.down()
        await api.down()
      },
      async end({ api, sink }) {
        await api.up()
        await sink.up()
      },
    },
  ]
  for (const { name, begin, end } of gaps) {
    t.test(name, async (t) => {
      const world = await createWatchedWorld(t)
      for (const each of ['kept', 'edited', 'removed', 'replaced']) await world.create(each)
      world.start()
      const before = ['add shop/kept', 'add shop/edited', 'add shop/removed', 'add shop/replaced']
      await untilTaken(t, world, before)
      await eventually(() => {
        if (world.api.openWatches() !== 1) throw new Error('no watch')
      })

      await begin(world)
      await world.edit('edited')
      const edited = await world.edit('edited')
      await world.remove('removed')
      await world.remove('replaced')
      await world.create('replaced')
      await world.create('created')
      await world.create('passing')
      await world.remove('passing')
      await end(world)

      await eventually(() => world.sink.taken().includes('add shop/created') || fail('not yet'))
      await world.create('last')
      await eventually(() => world.sink.taken().includes('add shop/last') || fail('not yet'))
      const taken = world.sink.taken().filter((label) => !before.includes(label) || label === 'add shop/replaced')
      // What came and went in the gap may be told or not: nobody can need it.
      const told = taken.filter((label) => !label.endsWith('passing'))
      // A resumed watch tells both edits, a list their sum.
      const edits = told.filter((label) => label === 'update shop/edited')
      t.ok(edits.length === 1 || edits.length === 2, `${edits.length} edits`)
      t.strictSame(
        told.filter((label) => label !== 'update shop/edited').toSorted(),
        [
          'add shop/created',
          'add shop/last',
          'add shop/replaced',
          'add shop/replaced',
          'delete shop/removed',
          'delete shop/replaced',
        ].toSorted(),
      )
      t.strictSame(
        told.filter((label) => label.endsWith('replaced')),
        ['add shop/replaced', 'delete shop/replaced', 'add shop/replaced'],
      )
      const ids = world.sink.received.filter(isTaken).map(({ event }) => event.id)
      t.equal(new Set(ids).size, ids.length, 'no change twice')
      t.ok(ids.includes(`${edited.metadata.uid}.${edited.metadata.resourceVersion}.update`), 'the last state is told')
    })
  }
})

/** Until a watch that begins from now on has its list. */
function untilWatched({ api }: WatchedWorld): Promise<unknown> {
  const before = api.requests.filter(({ query }) => query.has('watch')).length
  return eventually(
    () => api.requests.filter(({ query }) => query.has('watch')).length > before || fail('not watched yet'),
  )
}

function fail(message: string): never {
  throw new Error(message)
}

t.test('a restart tells of everything again, under the same ids', async (t) => {
  const world = await createWatchedWorld(t)
  await world.create('a')
  await world.create('b')
  const first = world.start()
  await untilTaken(t, world, ['add shop/a', 'add shop/b'])
  const ids = world.sink.received.map(({ event }) => event.id)
  t.match(await first.stop(), { sent: 2, refused: 0, left: 0 })

  await world.edit('b')
  world.api.core.compact()
  world.start()
  await untilTaken(t, world, ['add shop/a', 'add shop/a', 'add shop/b', 'add shop/b'])
  const again = world.sink.received.slice(2).map(({ event }) => event.id)
  t.ok(again.includes(ids[0] ?? ''), 'the same state has the same id')
  t.notOk(again.includes(ids[1] ?? ''), 'another state has another id')
})

t.test('another history under the same address is found by the next list', async (t) => {
  const world = await createWatchedWorld(t)
  for (const name of ['a', 'b', 'c']) await world.create(name)
  for (let edits = 0; edits < 30; edits++) await world.edit('a')
  world.start({ tuning: { timeoutSeconds: 1, relistMs: 100 } })
  await untilTaken(t, world, ['add shop/a', 'add shop/b', 'add shop/c'])
  await world.api.down()
  await world.api.up(createCore(clock))
  await world.create('a')
  await eventually(() => world.sink.taken().length >= 7 || fail(world.sink.taken().join()))
  t.strictSame(world.sink.taken().slice(3).toSorted(), [
    'add shop/a',
    'delete shop/a',
    'delete shop/b',
    'delete shop/c',
  ])
})

t.test('long lists come in pages; a token that expires in between loses nothing', async (t) => {
  const world = await createWatchedWorld(t)
  const names = Array.from({ length: 23 }, (_, index) => `n${index}`)
  for (const name of names) await world.create(name)
  let expired = 0
  world.api.answerWith(({ query }, response) => {
    if (!query.has('continue') || query.get('limit') !== '5' || expired >= 2) return false
    expired += 1
    const status = {
      kind: 'Status',
      code: 410,
      reason: 'Expired',
      message: 'The provided continue parameter is too old',
    }
    response.writeHead(410, { 'content-type': 'application/json' }).end(JSON.stringify(status))
    return true
  })
  world.start({ tuning: { pageSize: 5 } })
  await untilTaken(
    t,
    world,
    names.map((name) => `add shop/${name}`),
  )
  t.equal(expired, 2)
})

t.test('only a list can be empty', async (t) => {
  const world = await createWatchedWorld(t)
  await world.create('web')
  world.start()
  await untilTaken(t, world, ['add shop/web'])
  const answers = ['{}', '{"items":[],"metadata":{"resourceVersion":"5"}}', '{"kind":"List"}', '[]', 'null', '<html>']
  let strange = 0
  world.api.answerWith(({ query }, response) => {
    const answer = query.has('watch') ? undefined : answers[strange]
    if (answer === undefined) return false
    strange += 1
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
    return true
  })
  const expired = '{"type":"ERROR","object":{"kind":"Status","code":410}}'
  await eventually(() => world.api.openWatches() === 1 || fail('no watch'))
  world.api.say(expired)
  await eventually(() => (strange === answers.length && world.api.openWatches() === 1) || fail('no watch'))
  t.strictSame(world.sink.taken(), ['add shop/web'], 'nothing is gone')

  // As the API server writes an empty list of metadata.
  const metadata = { resourceVersion: world.api.core.resourceVersion() }
  answers.push(JSON.stringify({ kind: 'PartialObjectMetadataList', items: null, metadata }))
  world.api.say(expired)
  await untilTaken(t, world, ['add shop/web', 'delete shop/web'])
})

t.test('a watch that is silent for too long is begun anew', async (t) => {
  const world = await createWatchedWorld(t)
  let swallowed = 0
  world.api.answerWith(({ query }, response) => {
    if (!query.has('watch') || swallowed > 0) return false
    swallowed += 1
    response.writeHead(200).flushHeaders()
    return true
  })
  world.start({ tuning: { timeoutSeconds: 1, marginMs: 20 } })
  await eventually(() => swallowed === 1 || fail('no watch'))
  await world.create('web')
  await untilTaken(t, world, ['add shop/web'])
  const watches = world.api.requests.filter(({ query }) => query.has('watch'))
  t.match(watches[0]?.query.get('timeoutSeconds'), '1')
  t.equal(watches[1]?.query.get('resourceVersion'), watches[0]?.query.get('resourceVersion'), 'from where it was')
})

t.test('bookmarks move the place to go on from', async (t) => {
  const world = await createWatchedWorld(t)
  await world.create('web')
  world.start()
  await eventually(() => world.api.openWatches() === 1 || fail('no watch'))
  world.api.say('{"type":"BOOKMARK","object":{"kind":"MultiClusterIngress","metadata":{"resourceVersion":"4711"}}}')
  await eventually(
    () =>
      world.api.requests.some(({ query }) => query.get('resourceVersion') === '4711') || fail('not watched from there'),
  )
})

t.test('of Secrets only metadata is asked for, and only a reference is sent', async (t) => {
  for (const metadataOnly of [true, false]) {
    const world = await createWatchedWorld(t, [{ ...SECRETS, metadataOnly }])
    const { core } = world.api
    const target = { group: '', version: 'v1', plural: 'secrets', namespace: 'shop' }
    const secret = (name: string) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name,
        namespace: 'shop',
        annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"tls.key":"SGlkZGVu"}}' },
      },
      data: { 'tls.key': 'SGlkZGVu' },
    })
    await core.create(target, secret('first'), USER)
    world.start()
    await untilTaken(t, world, ['add shop/first'])
    await core.create(target, secret('second'), USER)
    const body = { data: { 'tls.key': 'SGlkZGVuMg==' } }
    await untilTaken(t, world, ['add shop/first', 'add shop/second'])
    await core.patch({ ...target, name: 'second' }, { type: 'merge', body }, USER)
    await untilTaken(t, world, ['add shop/first', 'add shop/second', 'update shop/second'])
    await core.delete({ ...target, name: 'second' }, USER)
    await untilTaken(t, world, ['add shop/first', 'add shop/second', 'update shop/second', 'delete shop/second'])
    for (const { path, query, accept } of world.api.requests) {
      t.equal(path, '/api/v1/secrets')
      const as = query.has('watch') ? 'PartialObjectMetadata' : 'PartialObjectMetadataList'
      t.equal(accept, `application/json;as=${as};g=meta.k8s.io;v=v1`)
    }
    for (const { event, body, headers } of world.sink.received) {
      t.match(event.type, /^dev\.knative\.apiserver\.ref\./)
      t.equal(event.subject, `/apis/v1/namespaces/shop/secrets/${event.extensions.get('name')}`)
      const name = event.extensions.get('name')
      t.strictSame(JSON.parse(body), { apiVersion: 'v1', kind: 'Secret', namespace: 'shop', name })
      t.notMatch(JSON.stringify(headers), /SGlkZGVu|last-applied/)
    }
    t.notMatch(JSON.stringify(world.log), /SGlkZGVu|last-applied/)
  }
})

t.test('cluster-scoped kinds, selectors and one namespace', async (t) => {
  const world = await createWatchedWorld(t, [
    { ...CLUSTERS, labelSelector: 'tier in (a,b)' },
    { ...INGRESSES, namespace: 'shop', fieldSelector: 'metadata.name=web' },
  ])
  const { core } = world.api
  const target = { group: 'cluster.karmada.io', version: 'v1alpha1', plural: 'clusters' }
  const cluster = (name: string, tier: string) => ({
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name, labels: { tier } },
    spec: { syncMode: 'Push' },
  })
  await core.create(target, cluster('m1', 'a'), USER)
  await core.create(target, cluster('m2', 'c'), USER)
  await world.create('web')
  await world.create('other')
  world.start()
  await untilTaken(t, world, ['add m1', 'add shop/web'])
  const relabel = (name: string, tier: string) =>
    core.patch({ ...target, name }, { type: 'merge', body: { metadata: { labels: { tier } } } }, USER)
  await relabel('m2', 'b')
  await relabel('m1', 'c')
  await untilTaken(t, world, ['add m1', 'add shop/web', 'add m2', 'delete m1'])
  const event = world.sink.received.find(({ event }) => event.extensions.get('name') === 'm1')?.event
  t.equal(event?.subject, '/apis/cluster.karmada.io/v1alpha1/clusters/m1')
  t.notOk(event?.extensions.has('namespace'))
  t.ok(world.api.requests.some(({ path }) => path.endsWith('/namespaces/shop/multiclusteringresses')))
})

t.test('what the sink answers', async (t) => {
  const again = [
    undefined,
    { status: 301, headers: { location: '/elsewhere' } },
    { status: 401 },
    { status: 404 },
    { status: 408 },
    { status: 409 },
    { status: 429, headers: { 'retry-after': '0' } },
    { status: 500 },
    { status: 503, headers: { 'retry-after': new Date(0).toUTCString() }, body: '{"error":"x"}' },
  ]
  for (const answer of again) {
    t.test(`${answer?.status ?? 'no answer'}: again, in order`, async (t) => {
      const world = await createWatchedWorld(t)
      let attempts = 0
      world.sink.answer(({ extensions }) => {
        if (extensions.get('name') !== 'web' || attempts >= 3) return { status: 202 }
        attempts += 1
        return answer
      })
      await world.create('web')
      await world.create('other')
      world.start()
      await untilTaken(t, world, ['add shop/web', 'add shop/other'])
      t.equal(attempts, 3)
      const ids = world.sink.received.filter(({ event }) => event.extensions.get('name') === 'web')
      t.equal(new Set(ids.map(({ event }) => event.id)).size, 1, 'the same id each time')
    })
  }
  for (const status of [400, 403, 413, 415, 422]) {
    t.test(`${status}: never again, logged and counted`, async (t) => {
      const world = await createWatchedWorld(t)
      world.sink.answer(({ extensions }) => ({ status: extensions.get('name') === 'bad' ? status : 204 }))
      await world.create('bad')
      await world.create('good')
      const watch = world.start()
      await untilTaken(t, world, ['add shop/good'])
      await world.create('last')
      await untilTaken(t, world, ['add shop/good', 'add shop/last'])
      t.match(await watch.stop(), { sent: 2, refused: 1, left: 0 })
      t.equal(world.sink.received.filter((each) => each.status === status).length, 1)
      t.match(
        world.log.filter(({ level }) => level === 'error'),
        [{ fields: { status, subject: /bad$/ } }],
      )
    })
  }
})

t.test('Retry-After is kept to, for all events', async (t) => {
  const sent: number[] = []
  let answers: Delivery[] = [{ kind: 'again', reason: 'HTTP 429', whole: true, afterMs: 200 }]
  const outbox = createEventOutbox({
    sender: {
      async post() {
        sent.push(performance.now())
        return answers.shift() ?? { kind: 'delivered' }
      },
      close: async () => {},
    },
    capacity: 10,
    concurrency: 1,
    backoffMs: () => 1,
    clock,
    logger: silent,
  })
  await outbox.put(objectEvent('a', 'add'))
  await outbox.put(objectEvent('b', 'add'))
  await eventually(() => sent.length === 3 || fail(`${sent.length} sent`))
  t.ok((sent[1] ?? 0) - (sent[0] ?? 0) >= 199, 'nothing before that')
  answers = []
  await outbox.drain(0)
})

t.test('10,000 changes of one object while the sink is down are one event', async (t) => {
  const world = await createWatchedWorld(t)
  await world.create('web')
  world.start()
  await untilTaken(t, world, ['add shop/web'])
  await world.sink.down()
  let last = await world.edit('web')
  for (let edits = 1; edits < 10_000; edits++) {
    last = await world.edit('web')
    // Lets the stream flow, as it would between requests.
    if (edits % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  await eventually(() => world.log.some(({ message }) => message.includes('does not take')) || fail('not noticed'))
  await world.sink.up()
  const lastId = `${last.metadata.uid}.${last.metadata.resourceVersion}.update`
  await eventually(() => world.sink.received.some(({ event }) => event.id === lastId) || fail('not yet'))
  const updates = world.sink.received.filter(({ event }) => event.type.endsWith('update'))
  t.ok(updates.length <= 2, `${updates.length} updates were held`)
  t.equal(updates.at(-1)?.event.id, lastId, 'the last is the last')
  const held = world.log.flatMap(({ fields }) => (typeof fields['held'] === 'number' ? [fields['held']] : []))
  t.ok(held.length > 0 && held.every((count) => count <= 2), `held: ${held}`)
})

t.test('with many objects waiting, the watch waits too', async (t) => {
  const world = await createWatchedWorld(t)
  const names = Array.from({ length: 30 }, (_, index) => `n${index}`)
  for (const name of names) await world.create(name)
  await world.sink.down()
  world.start({ tuning: { capacity: 4 } })
  await eventually(() => world.log.some(({ message }) => message.includes('does not take')) || fail('not noticed'))
  for (const name of names) await world.edit(name)
  await world.sink.up()
  await eventually(() => new Set(world.sink.taken().map(objectOf)).size === 30 || fail('not yet'))
  const held = world.log.flatMap(({ fields }) => (typeof fields['held'] === 'number' ? [fields['held']] : []))
  t.ok(
    held.every((count) => count <= 4),
    `held: ${held}`,
  )
  const current = world.api.core.list({ group: INGRESSES.group, version: 'v1alpha1', plural: INGRESSES.plural }).items
  await eventually(() => {
    for (const { metadata } of current) {
      const of = world.sink.received.filter(({ event }) => event.extensions.get('name') === metadata.name)
      const version = of.at(-1)?.event.id.split('.')[1]
      if (version !== metadata.resourceVersion) throw new Error(`${metadata.name} is told as of ${version}`)
    }
  })
})

t.test('any history with any faults ends with the last state of every object told', async (t) => {
  const step = fc.oneof(
    { weight: 8, arbitrary: fc.record({ do: fc.constant('change' as const), name: fc.constantFrom('a', 'b', 'c') }) },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constantFrom('cut', 'expire', 'garble', 'compact', 'flap', 'sinkFails', 'sinkWorks', 'restart', 'wait'),
      }),
    },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      const world = await createWatchedWorld(t)
      const { api, sink } = world
      let watch = world.start({ drainMs: 20 })
      const versions = new Map<string, string>()
      const exists = new Set<string>()
      // What was deleted while no watch knew of it, no list can show.
      let mustBeTold = new Set<string>()
      let restartedAt = 0
      for (const each of steps) {
        switch (each.do) {
          case 'change':
            if (!exists.has(each.name)) {
              versions.set(each.name, (await world.create(each.name)).metadata.resourceVersion ?? '')
              exists.add(each.name)
            } else if (Number(versions.get(each.name)) % 3 === 0) {
              await world.remove(each.name)
              exists.delete(each.name)
            } else versions.set(each.name, (await world.edit(each.name)).metadata.resourceVersion ?? '')
            break
          case 'cut':
            api.cut()
            break
          case 'expire':
            api.say('{"type":"ERROR","object":{"kind":"Status","code":410}}')
            break
          case 'garble':
            api.say('}{')
            break
          case 'compact':
            api.core.compact()
            break
          case 'flap':
            await api.down()
            await api.up()
            break
          case 'sinkFails':
            sink.answer(() => undefined)
            break
          case 'sinkWorks':
            sink.answer(() => ({ status: 202 }))
            break
          case 'restart':
            await watch.stop()
            mustBeTold = new Set(exists)
            restartedAt = sink.received.length
            watch = world.start({ drainMs: 20 })
            await untilWatched(world)
            break
          case 'wait':
            await eventually(() => api.openWatches() > 0 || fail('no watch'))
        }
      }
      sink.answer(() => ({ status: 202 }))
      await eventually(() => {
        const told = sink.received.slice(restartedAt).filter(isTaken)
        const lastOf = (name: string) => told.filter(({ event }) => event.extensions.get('name') === name).at(-1)
        for (const name of exists) {
          const id = lastOf(name)?.event.id ?? 'nothing'
          if (id.split('.')[1] !== versions.get(name) || id.endsWith('delete')) throw new Error(`${name}: ${id}`)
        }
        for (const name of ['a', 'b', 'c'].filter((name) => !exists.has(name))) {
          const id = lastOf(name)?.event.id ?? (mustBeTold.has(name) ? 'nothing' : 'delete')
          if (!id.endsWith('delete')) throw new Error(`${name}: ${id}`)
        }
      })
      await watch.stop()
      const order = new Map<string, number>()
      for (const { event } of sink.received) {
        const [uid = '', version] = event.id.split('.')
        if (Number(version) < (order.get(uid) ?? 0)) throw new Error(`${event.id} after ${order.get(uid)}`)
        order.set(uid, Number(version))
      }
      await world.close()
    }),
    { numRuns: 40, endOnFailure: true },
  )
})

t.test('told to stop, it sends what is due, and says what is left', async (t) => {
  const world = await createWatchedWorld(t)
  let fails = true
  world.sink.answer(() => (fails ? undefined : { status: 204 }))
  await world.create('web')
  const watch = world.start({ tuning: { backoff: { firstMs: 60_000, longestMs: 60_000 } } })
  await eventually(() => world.log.some(({ message }) => message.includes('does not take')) || fail('not tried'))
  fails = false
  t.match(await watch.stop(), { sent: 1, left: 0 }, 'without the pause between attempts')

  fails = true
  const other = world.start({ drainMs: 50 })
  await eventually(() => world.sink.received.length > 2 || fail('not tried'))
  t.match(await other.stop(), { sent: 0, left: 1 })
})

t.test('sweeps are asked for by a ping; one whose time ran out goes on', async (t) => {
  const world = await createWatchedWorld(t)
  const pings = () => world.sink.received.filter(({ event }) => event.type === 'dev.knative.sources.ping')
  world.sink.answer(() =>
    pings().length === 0 ? { status: 503, body: '{"outcomes":{},"continue":"token-1"}' } : { status: 204 },
  )
  world.start({ sweep: { everyMs: 10, scope: 'pending' } })
  await eventually(() => pings().length >= 3 || fail('no pings'))
  const [first, second, third] = pings().map(({ event }) => interpretCloudEvent(event, 0))
  t.strictSame(first, { purpose: 'sweep', request: { scope: 'pending' } })
  t.strictSame(second, { purpose: 'sweep', request: { scope: 'pending', continue: 'token-1' } })
  t.strictSame(third, { purpose: 'sweep', request: { scope: 'pending' } })
})

t.test('what is sent can be read: by our door and by the SDK', async (t) => {
  const event = {
    id: 'uid.1.add',
    source: 'https://api.example:6443',
    type: 'dev.knative.apiserver.ref.add',
    subject: '/apis/v1/x',
    extensions: { name: 'web' },
    data: { name: 'Euro €' },
  }
  const { headers, body } = encodeCloudEvent(event, { name: 'overridden', team: 'a "b" 100% €' })
  t.equal(headers['ce-team'], 'a%20%22b%22%20100%25%20%E2%82%AC')
  const rawHeaders = Object.entries(headers).flat()
  const [decoded] = decodeCloudEvents({ headers, rawHeaders, body: Buffer.from(body) }).events
  t.match(decoded, { id: 'uid.1.add', data: { kind: 'json', value: { name: 'Euro €' } } })
  t.equal(decoded?.extensions.get('name'), 'overridden')
  const sdk = HTTP.toEvent({ headers, body }) as SdkEvent<unknown>
  t.match(sdk, { id: 'uid.1.add', source: event.source, type: event.type, subject: event.subject, name: 'overridden' })
  t.strictSame(sdk.data, event.data)

  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
      if (/[\p{Cc}\p{Noncharacter_Code_Point}\p{Cs}]/u.test(text)) return
      const encoded = encodeCloudEvent({ ...event, extensions: { text } })
      for (const value of Object.values(encoded.headers)) t.match(value, /^[\x21-\x7e]*$/)
      const read = { headers: encoded.headers, rawHeaders: Object.entries(encoded.headers).flat() }
      t.equal(decodeCloudEvents({ ...read, body: Buffer.from(body) }).events[0]?.extensions.get('text'), text)
    }),
  )
})

t.test('the sink: command line, then SinkBinding', async (t) => {
  const K_SINK = 'http://broker.example/default'
  t.match(readSink({}, { K_SINK }), { url: K_SINK, extensions: {} })
  t.equal(readSink({ url: 'https://f.example/events' }, { K_SINK }).url, 'https://f.example/events')
  t.strictSame(readSink({}, { K_SINK, K_CE_OVERRIDES: '{"extensions":{"team":"a"}}' }).extensions, { team: 'a' })
  t.strictSame(readSink({}, { K_SINK, K_CE_OVERRIDES: '{"extensions":null}' }).extensions, {})
  const authority = async () => (await createCertificateAuthority(createSystemClock().now())).caPem
  const [first, second] = [await authority(), await authority()]
  const { ca = [] } = readSink({}, { K_SINK, K_CA_CERTS: `# a bundle\n${first}\n${second}` })
  t.strictSame(ca.slice(-2), [first.trim(), second.trim()])
  t.ok(ca.length > 2, 'beside the well-known ones')
  const faults: [Parameters<typeof readSink>[0], Parameters<typeof readSink>[1], string][] = [
    [{}, {}, '--sink'],
    [{ url: 'nonsense' }, {}, '--sink'],
    [{}, { K_SINK: 'ftp://x' }, 'K_SINK'],
    [{ url: 'https://user:password@x' }, {}, '--sink'],
    [{ caFile: '/nowhere' }, { K_SINK }, '--ca'],
    [{}, { K_SINK, K_CA_CERTS: 'PEM' }, 'K_CA_CERTS'],
    [{}, { K_SINK, K_CA_CERTS: first.replace(/[A-Za-z]{20}/, 'A') }, 'K_CA_CERTS'],
    [{}, { K_SINK, K_CE_OVERRIDES: '{' }, 'K_CE_OVERRIDES'],
    [{}, { K_SINK, K_CE_OVERRIDES: '{"extensions":{"id":"x"}}' }, 'K_CE_OVERRIDES'],
    [{}, { K_SINK, K_CE_OVERRIDES: '{"extensions":{"Team":"x"}}' }, 'K_CE_OVERRIDES'],
    [{}, { K_SINK, K_CE_OVERRIDES: '{"extensions":{"n":1}}' }, 'K_CE_OVERRIDES'],
  ]
  for (const [options, environment, field] of faults) {
    try {
      readSink(options, environment)
      t.fail(field)
    } catch (error) {
      t.ok(isCatalogueError(error, 'ConfigurationInvalid'))
      t.equal(isCatalogueError(error) && error.field, field)
      t.notMatch(String(error), /password/)
    }
  }
})

t.test('K_CE_OVERRIDES go with every event', async (t) => {
  const world = await createWatchedWorld(t)
  await world.create('web')
  const K_CE_OVERRIDES = '{"extensions":{"environment":"test stage"}}'
  world.start({ sink: readSink({}, { K_SINK: world.sink.url, K_CE_OVERRIDES }) })
  await untilTaken(t, world, ['add shop/web'])
  t.equal(world.sink.received[0]?.event.extensions.get('environment'), 'test stage')
})

const silent = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }

function objectEvent(id: string, type: 'add' | 'update' | 'delete'): ObjectEvent {
  const event = { id, source: '/s', type: `t.${type}`, extensions: {}, data: {} }
  return { key: id, isDelete: type === 'delete', event }
}

t.test('pending events of one key: two at most, a delete is not lost', async (t) => {
  const verbs = (types: ('add' | 'update' | 'delete')[]) =>
    types
      .map((type) => objectEvent(type, type))
      .reduce<ObjectEvent[]>(addPending, [])
      .map(({ event }) => event.id)
  t.strictSame(verbs(['add', 'update']), ['update'])
  t.strictSame(verbs(['update', 'delete']), ['delete'])
  t.strictSame(verbs(['delete', 'add']), ['delete', 'add'])
  t.strictSame(verbs(['delete', 'add', 'update', 'update']), ['delete', 'update'])
  t.strictSame(verbs(['delete', 'add', 'delete']), ['delete'])
})

t.test('what comes while an attempt is under way comes after it', async (t) => {
  const attempts: { id: string; answer(delivery: Delivery): void }[] = []
  const outbox = createEventOutbox({
    sender: {
      post: ({ id }) => new Promise<Delivery>((answer) => attempts.push({ id, answer })),
      close: async () => {},
    },
    capacity: 10,
    concurrency: 4,
    backoffMs: () => 1,
    clock,
    logger: silent,
  })
  const put = (id: string, type: 'add' | 'update' | 'delete') => outbox.put({ ...objectEvent(id, type), key: 'web' })
  const answerNext = async (id: string, delivery: Delivery) => {
    await eventually(() => attempts.length > 0 || fail(`${id} is not sent`))
    const [attempt] = attempts.splice(0)
    t.equal(attempt?.id, id)
    attempt?.answer(delivery)
  }
  const again: Delivery = { kind: 'again', reason: 'HTTP 500', whole: false }
  await put('add', 'add')
  await put('update 1', 'update')
  await put('update 2', 'update')
  await answerNext('add', again)
  await answerNext('update 2', again)
  await answerNext('update 2', { kind: 'delivered' })
  await put('delete', 'delete')
  await put('add again', 'add')
  await answerNext('delete', again)
  await answerNext('delete', { kind: 'delivered' })
  await put('update again', 'update')
  await answerNext('update again', { kind: 'delivered' })
  await eventually(() => outbox.size() === 0 || fail('not empty'))
  t.strictSame(outbox.counts(), { sent: 3, refused: 0 })
})

t.test('a list now and then finds what a watch left out', async (t) => {
  let now = 0
  let lists = 0
  const item = (resourceVersion: string) => ({ identity: { namespace: '', name: 'x', uid: 'u', resourceVersion } })
  const stop = new AbortController()
  const changes = watchKind(CLUSTERS, {
    client: {
      server: '',
      list: async () => ({ items: [item(String(++lists))], resourceVersion: '9' }),
      // Never anything but bookmarks.
      async *watch() {
        now += 290_000
        yield { type: 'BOOKMARK', resourceVersion: '9' }
      },
      close: async () => {},
    },
    settings: {
      pageSize: 1,
      timeoutSeconds: 290,
      marginMs: 1,
      relistMs: 3_600_000,
      backoffMs: () => 0,
    },
    clock: { now: () => now, after: () => () => {} },
    random: () => 0.5,
    logger: silent,
    signal: stop.signal,
  })
  t.match(await changes.next(), { value: { type: 'add' } })
  t.match(await changes.next(), { value: { type: 'update' } })
  t.equal(now, 13 * 290_000, 'after an hour')
  stop.abort()
  t.match(await changes.next(), { done: true })
})

t.test('what the sight of an object tells', async (t) => {
  const at = (uid: string, resourceVersion: string) => ({ namespace: '', name: 'x', uid, resourceVersion })
  const known = new Map([['/x', at('u1', '5')]])
  const tells = (uid: string, version: string, of = known) =>
    changesAtSight(of, { identity: at(uid, version) }).map(({ type, identity }) => `${type} ${identity.uid}`)
  t.strictSame(tells('u1', '5', new Map()), ['add u1'])
  t.strictSame(tells('u1', '5'), [])
  t.strictSame(tells('u1', '6'), ['update u1'])
  t.strictSame(tells('u2', '7'), ['delete u1', 'add u2'])
})

t.test('what follows a list or a watch that ended', async (t) => {
  const backoff = (failures: number) => failures * 10
  const watching = (failures: number): WatchStep => ({
    do: 'watch',
    resourceVersion: '5',
    afterMs: 0,
    reason: '',
    failures,
  })
  const failed = (error: WatchError, heard = false): WatchEnding => ({
    how: 'failed',
    error,
    heard,
    resourceVersion: '7',
  })
  const refused = new WatchError('refused', 'HTTP 503')
  const cases: [string, WatchStep, WatchEnding, Partial<WatchStep>][] = [
    ['listed', watching(2), { how: 'listed', resourceVersion: '9' }, { do: 'watch', afterMs: 0, failures: 2 }],
    [
      'ended in time',
      watching(2),
      { how: 'ended', reason: 'r', heard: true, resourceVersion: '7' },
      { do: 'watch', afterMs: 0, failures: 0 },
    ],
    [
      'ended at once',
      watching(0),
      { how: 'ended', reason: 'r', heard: false, resourceVersion: '7' },
      { do: 'watch', afterMs: 10, failures: 1 },
    ],
    [
      'ended at once, again and again',
      watching(2),
      { how: 'ended', reason: 'r', heard: false, resourceVersion: '7' },
      { do: 'list', afterMs: 30, failures: 3 },
    ],
    ['expired', watching(0), failed(new WatchError('expired', '')), { do: 'list', afterMs: 0, failures: 1 }],
    ['expired again', watching(1), failed(new WatchError('expired', '')), { do: 'list', afterMs: 20, failures: 2 }],
    ['garbled', watching(0), failed(new WatchError('garbled', ''), true), { do: 'watch', failures: 1 }],
    ['garbled at once', watching(0), failed(new WatchError('garbled', '')), { do: 'list', failures: 1 }],
    ['unreachable', watching(9), failed(new WatchError('unreachable', '')), { do: 'watch', afterMs: 100 }],
    ['refused', watching(0), failed(refused), { do: 'watch', afterMs: 10 }],
    ['refused a third time', watching(2), failed(refused), { do: 'list', afterMs: 30 }],
    [
      'asked to wait',
      watching(0),
      failed(new WatchError('refused', '', { afterMs: 500 })),
      { do: 'watch', afterMs: 500 },
    ],
    [
      'a list that failed',
      { do: 'list', afterMs: 0, reason: '', failures: 0 },
      { how: 'failed', error: refused, heard: false, resourceVersion: undefined },
      { do: 'list', afterMs: 10, failures: 1 },
    ],
  ]
  for (const [name, step, ending, expected] of cases) t.match(nextWatchStep(step, ending, backoff), expected, name)
})

t.test('what a Status means', async (t) => {
  const fault = (body: unknown, code: number) => watchErrorOfStatus(body, code).fault
  t.equal(fault({ code: 410 }, 500), 'expired')
  t.equal(fault(undefined, 410), 'expired')
  t.equal(fault({ code: 504, message: 'Timeout: Too large resource version: 9, current: 1' }, 504), 'expired')
  t.equal(fault({ code: 400, message: 'invalid resource version "x"' }, 400), 'expired')
  t.equal(fault({ code: 403, message: 'forbidden' }, 403), 'refused')
  t.equal(watchErrorOfStatus({ details: { retryAfterSeconds: 3 } }, 429).afterMs, 3_000)
  t.equal(watchErrorOfStatus(undefined, 429, '2').afterMs, 2_000)
  t.equal(watchErrorOfStatus(undefined, 429).afterMs, undefined)
  t.equal(watchErrorOfStatus(undefined, 429, 'Wed, 21 Oct 2026 07:28:00 GMT').afterMs, undefined)
})

t.test('lines of a stream, however it is cut into chunks', async (t) => {
  const text = '{"a":"€"}\n\n{"b":1}\n{"cut'
  for (let size = 1; size < 12; size++) {
    const bytes = Buffer.from(text)
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, at * size + size),
    )
    const lines: unknown[] = []
    for await (const line of watchLines(streamOf(chunks))) lines.push(line)
    t.strictSame(lines, [{ a: '€' }, { b: 1 }])
  }
  await t.rejects(async () => {
    for await (const _ of watchLines(streamOf([Buffer.from('{"secret": x}\n')])));
  }, /^a line is not JSON$/)
  await t.rejects(async () => {
    for await (const _ of watchLines(streamOf(Array.from({ length: 20 }, () => Buffer.alloc(1024 * 1024, 97)))));
  }, /longer than/)
})

async function* streamOf(chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}

t.test('a change that no webhook reports is reconciled', async (t) => {
  const directory = t.testdir()
  const provider = createFakeProvider({ delayMs: 0, failure: () => undefined, clock })
  const local = await startLocal({ directory, port: 0, provider, clock, logger: silent })
  const admin = { user: { username: 'admin', groups: ['system:masters'] } }
  for (const plural of ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations']) {
    const target = { group: 'admissionregistration.k8s.io', version: 'v1', plural }
    await local.core.deleteCollection(target, {}, admin)
    t.equal(local.core.list(target).items.length, 0)
  }
  const config = join(directory, 'watch.yaml')
  const resources = [INGRESSES, CLUSTERS, SECRETS]
  writeFileSync(config, JSON.stringify({ provider: { name: 'fake' }, watch: { resources } }))
  const terminal = cliConsole({ KUBECONFIG: local.kubeconfigPath })
  const running = runCli(
    ['watch', '--config', config, '--sink', `${local.functionUrl}/events`, '--ca', local.caPath],
    terminal.console,
  )
  t.teardown(() => local.close())

  const target = { group: INGRESSES.group, version: 'v1alpha1', plural: INGRESSES.plural, namespace: 'default' }
  const ingress = {
    apiVersion: 'networking.karmada.io/v1alpha1',
    kind: 'MultiClusterIngress',
    metadata: { name: 'web', namespace: 'default' },
    spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } },
  }
  await local.core.create(target, ingress, admin)
  await eventually(() => {
    const { status } = local.core.get({ ...target, name: 'web' }) as { status?: { loadBalancer?: object } }
    if (status?.loadBalancer === undefined) fail('no status')
  })
  t.equal(provider.cloud.balancers().length, 1)
  await local.core.delete({ ...target, name: 'web' }, admin)
  await eventually(() => local.core.list(target).items.length === 0 || fail('still there'))
  t.equal(provider.cloud.balancers().length, 0)

  terminal.interrupt()
  t.equal(await running, 0, terminal.lines.join('\n'))
  t.ok(terminal.lines.some((line) => JSON.parse(line).msg === 'stopped'))
})

t.test('the command: usage, exit codes, and no path of the sink in the log', async (t) => {
  const directory = t.testdir()
  const world = await createWatchedWorld(t)
  const config = join(directory, 'config.yaml')
  writeFileSync(
    config,
    JSON.stringify({
      provider: { name: 'fake' },
      kubernetes: { kubeconfig: world.kubeconfigPath },
      watch: { resources: [INGRESSES] },
      shutdown: { drainMs: 50 },
    }),
  )
  const bad = join(directory, 'bad.yaml')
  writeFileSync(bad, JSON.stringify({ provider: { name: 'fake' }, watch: { resources: [{ plural: 'x', kinds: 1 }] } }))
  const sink = ['--sink', world.sink.url]
  const wrong: [string[], RegExp][] = [
    [[...sink], /--config FILE or WCP_CONFIG/],
    [['--config', config], /--sink: give the URL/],
    [['--config', config, '--sink', 'nonsense'], /--sink: must be an http/],
    [['--config', config, ...sink, '--sweep-every', '0'], /--sweep-every/],
    [['--config', config, ...sink, '--scope', 'some'], /--scope/],
    [['--config', config, ...sink, '--what'], /--what/],
    [['--config', bad, ...sink], /watch\.resources\.0\.kind/],
  ]
  for (const [args, message] of wrong) {
    const { console, lines } = cliConsole({})
    t.equal(await runCli(['watch', ...args], console), 2, args.join(' '))
    t.match(lines.join('\n'), message)
  }

  world.sink.answer(() => ({ status: 503 }))
  await world.create('web')
  const secretPath = `${world.sink.url}/hidden-prefix`
  const tokenFile = join(directory, 'token')
  writeFileSync(tokenFile, 'bearer-of-news\n')
  const { console, lines, interrupt } = cliConsole({ K_SINK: secretPath })
  const running = runCli(['watch', '--config', config, '--token-file', tokenFile], console)
  await eventually(() => world.sink.received.length > 0 || fail('nothing sent'))
  interrupt()
  t.equal(await running, 1, 'an event was left')
  t.equal(world.sink.received[0]?.headers.authorization, 'Bearer bearer-of-news')
  t.notMatch(lines.join('\n'), /hidden-prefix|bearer-of-news/)
})

function cliConsole(env: Record<string, string>) {
  const lines: string[] = []
  const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<void>()
  const write = (line: string) => void lines.push(line)
  return { console: { out: write, err: write, env, interrupted }, lines, interrupt }
}
