import assert from 'node:assert/strict'
import type { Body, WatchEvent } from '../api-client.ts'
import { type Bench, mustBe } from '../bench.ts'
import { type ContractCheck, section } from '../contract-check.ts'
import { GROUP } from '../contract-crds.ts'
import { only } from './only.ts'
import { assertRefused } from './refused.ts'

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const METADATA_ONLY = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'

/** Lists, watches and other forms of an answer. */
export const readingChecks = [
  ...section('lists', {
    'a list has kind, apiVersion, a resourceVersion and its items by name': async (bench) => {
      for (const name of ['c', 'a', 'b']) await bench.create(bench.widget(name))
      const list = await listWidgets(bench)
      assert.deepEqual([list.apiVersion, list.kind], [`${GROUP}/v1`, 'WidgetList'])
      assert.match(list.metadata.resourceVersion ?? '', /^\d+$/)
      assert.deepEqual(namesOf(list), ['a', 'b', 'c'])
    },
    'items of a custom kind carry kind and apiVersion, those of core kinds do not': async (bench) => {
      await bench.create(bench.widget('a'))
      await bench.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } })
      assert.equal(only((await listWidgets(bench)).items ?? []).kind, 'Widget')
      const list = await mustBe(200, bench.admin.get(bench.core('configmaps')))
      assert.deepEqual([list.kind, only(list.items ?? []).kind], ['ConfigMapList', undefined])
    },
    'a list over all namespaces': async (bench) => {
      const { metadata } = await bench.create(bench.widget('a', {}, { labels: { of: bench.namespace } }))
      const list = await mustBe(200, bench.admin.get(`/apis/${GROUP}/v1/widgets?labelSelector=of%3D${bench.namespace}`))
      assert.equal(only(list.items ?? []).metadata.uid, metadata.uid)
    },
    'pages: limit, continue and what remains': async (bench) => {
      await fiveWidgets(bench)
      const first = await listWidgets(bench, 'limit=2')
      assert.deepEqual([namesOf(first), first.metadata.remainingItemCount], [['a', 'b'], 3])
      const second = await listWidgets(bench, `limit=2&continue=${first.metadata.continue}`)
      assert.deepEqual([namesOf(second), second.metadata.remainingItemCount], [['c', 'd'], 1])
      const third = await listWidgets(bench, `limit=2&continue=${second.metadata.continue}`)
      assert.deepEqual(
        [namesOf(third), third.metadata.continue || undefined, third.metadata.remainingItemCount],
        [['e'], undefined, undefined],
      )
    },
    'all pages show the moment of the first': async (bench) => {
      await fiveWidgets(bench)
      const first = await listWidgets(bench, 'limit=2')
      await mustBe(200, bench.admin.delete(bench.path('widgets', 'c')))
      await bench.create(bench.widget('cc'))
      const rest = await listWidgets(bench, `continue=${first.metadata.continue}`)
      assert.deepEqual(namesOf(rest), ['c', 'd', 'e'])
      assert.equal(rest.metadata.resourceVersion, first.metadata.resourceVersion)
    },
    'with a selector it is not told what remains': async (bench) => {
      await fiveWidgets(bench)
      const first = await listWidgets(bench, 'limit=2&labelSelector=five')
      assert.deepEqual([namesOf(first), first.metadata.remainingItemCount], [['a', 'b'], undefined])
      assert.notEqual(first.metadata.continue, undefined)
    },
    'a continue token that is none is 400': async (bench) => {
      assertRefused(await bench.admin.get(`${bench.path('widgets')}?limit=1&continue=nonsense`), {
        code: 400,
        reason: 'BadRequest',
      })
    },
    'a negative limit is no limit': async (bench) => {
      await fiveWidgets(bench)
      assert.equal((await listWidgets(bench, 'limit=-1')).items?.length, 5)
    },
    'a resourceVersion from the future is 504 with a hint to retry': async (bench) => {
      const answer = await bench.admin.get(`${bench.path('widgets')}?resourceVersion=999999999`)
      assertRefused(answer, {
        code: 504,
        reason: 'Timeout',
        message: /Too large resource version: 999999999, current: \d+/,
      })
      assert.ok((answer.body.details?.retryAfterSeconds ?? 0) > 0)
    },
    'a resourceVersion that is none is 400': async (bench) => {
      assertRefused(await bench.admin.get(`${bench.path('widgets')}?resourceVersion=x`), {
        code: 400,
        reason: 'BadRequest',
      })
    },
    'resourceVersionMatch Exact shows that moment': async (bench) => {
      const { metadata } = await bench.create(bench.widget('a'))
      await bench.create(bench.widget('b'))
      const list = await listWidgets(bench, `resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact`)
      assert.deepEqual(namesOf(list), ['a'])
      assert.equal(list.metadata.resourceVersion, metadata.resourceVersion)
    },
    'resourceVersionMatch needs a resourceVersion': async (bench) => {
      const answer = await bench.admin.get(`${bench.path('widgets')}?resourceVersionMatch=Exact`)
      assertRefused(answer, { code: 422, reason: 'Invalid', message: /resourceVersionMatch: Forbidden/ })
    },
  }),
  ...alone(
    section('lists', {
      'an expired continue token is 410 with a token for the inconsistent rest': async (bench) => {
        await fiveWidgets(bench)
        const first = await listWidgets(bench, 'limit=2')
        await bench.create(bench.widget('f'))
        await bench.server.forget()
        const expired = await bench.admin.get(`${bench.path('widgets')}?limit=2&continue=${first.metadata.continue}`)
        assertRefused(expired, {
          code: 410,
          reason: 'Expired',
          message: /^The provided continue parameter is too old to display a consistent list result\./,
        })
        const rest = await listWidgets(bench, `continue=${expired.body.metadata.continue}`)
        assert.deepEqual(namesOf(rest), ['c', 'd', 'e', 'f'])
      },
      'an exact resourceVersion that is forgotten is 410': async (bench) => {
        const { metadata } = await bench.create(bench.widget('a'))
        await bench.create(bench.widget('b'))
        await bench.server.forget()
        const answer = await bench.admin.get(
          `${bench.path('widgets')}?resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact`,
        )
        assertRefused(answer, { code: 410, reason: 'Expired' })
      },
    }),
  ),
  ...section('selectors', {
    'labels: equal, unequal, in, notin, there, not there': async (bench) => {
      await bench.create(bench.widget('a', {}, { labels: { tier: 'gold' } }))
      await bench.create(bench.widget('b', {}, { labels: { tier: 'lead' } }))
      await bench.create(bench.widget('c'))
      const expected: Record<string, string[]> = {
        'tier=gold': ['a'],
        'tier==gold': ['a'],
        'tier!=gold': ['b', 'c'],
        'tier in (gold,lead)': ['a', 'b'],
        'tier notin (gold)': ['b', 'c'],
        tier: ['a', 'b'],
        '!tier': ['c'],
        'tier,tier!=lead': ['a'],
      }
      for (const [selector, names] of Object.entries(expected)) {
        const list = await listWidgets(bench, `labelSelector=${encodeURIComponent(selector)}`)
        assert.deepEqual(namesOf(list), names, selector)
      }
    },
    'a label selector that is none is 400': async (bench) => {
      const answer = await bench.admin.get(`${bench.path('widgets')}?labelSelector=${encodeURIComponent('a in b')}`)
      assertRefused(answer, { code: 400, reason: 'BadRequest' })
    },
    'fields: metadata.name': async (bench) => {
      for (const name of ['a', 'b']) await bench.create(bench.widget(name))
      assert.deepEqual(namesOf(await listWidgets(bench, 'fieldSelector=metadata.name%3Db')), ['b'])
      assert.deepEqual(namesOf(await listWidgets(bench, 'fieldSelector=metadata.name!%3Db')), ['a'])
    },
    'fields: metadata.namespace, over all namespaces': async (bench) => {
      await bench.create(bench.widget('a'))
      const path = `/apis/${GROUP}/v1/widgets?fieldSelector=metadata.namespace%3D${bench.namespace}`
      assert.deepEqual(namesOf(await mustBe(200, bench.admin.get(path))), ['a'])
    },
    'fields: a selectable field of a CRD': async (bench) => {
      await bench.create(bench.widget('a', { color: 'red' }))
      await bench.create(bench.widget('b', { color: 'blue' }))
      assert.deepEqual(namesOf(await listWidgets(bench, 'fieldSelector=spec.color%3Dred')), ['a'])
    },
    'fields: one that cannot be selected by is 400': async (bench) => {
      const answer = await bench.admin.get(`${bench.path('widgets')}?fieldSelector=spec.size%3D1`)
      assertRefused(answer, { code: 400, reason: 'BadRequest', message: /field label not supported: spec\.size/ })
    },
    'fields: Events by the object they are about': async (bench) => {
      for (const name of ['a', 'b']) await mustBe(201, bench.admin.post(bench.core('events'), eventAbout(bench, name)))
      const list = await mustBe(200, bench.admin.get(`${bench.core('events')}?fieldSelector=involvedObject.name%3Db`))
      assert.deepEqual(namesOf(list), ['event-b'])
    },
  }),
  ...section('watches', {
    'from a list on: what happens after it, in order': async (bench) => {
      await bench.create(bench.widget('before'))
      const { metadata } = await listWidgets(bench)
      await bench.create(bench.widget('a'))
      await mustBe(200, bench.admin.patch('merge-patch', bench.path('widgets', 'a'), { spec: { size: 2 } }))
      await mustBe(200, bench.admin.delete(bench.path('widgets', 'a')))
      assert.deepEqual(await eventsOf(bench, `resourceVersion=${metadata.resourceVersion}`, 3), [
        'ADDED a',
        'MODIFIED a',
        'DELETED a',
      ])
    },
    'without resourceVersion: first what is there': async (bench) => {
      for (const name of ['b', 'a']) await bench.create(bench.widget(name))
      assert.deepEqual((await eventsOf(bench, '', 2)).sort(), ['ADDED a', 'ADDED b'])
    },
    'resourceVersion 0: first what is there': async (bench) => {
      const { metadata } = await bench.create(bench.widget('a'))
      // The cache behind 0 may lag; a watch from a known moment shows that it has caught up.
      await listWidgets(bench, `resourceVersion=${metadata.resourceVersion}`)
      assert.deepEqual(await eventsOf(bench, 'resourceVersion=0', 1), ['ADDED a'])
    },
    'a deletion carries a newer resourceVersion than the last state': async (bench) => {
      const { metadata } = await bench.create(bench.widget('a'))
      const watch = await bench.admin.watch(
        `${bench.path('widgets')}?watch=true&resourceVersion=${metadata.resourceVersion}`,
      )
      await mustBe(200, bench.admin.delete(bench.path('widgets', 'a')))
      const event = await watch.next()
      watch.close()
      assert.equal(event?.type, 'DELETED')
      assert.ok(BigInt(event?.object.metadata.resourceVersion ?? 0) > BigInt(metadata.resourceVersion ?? 0))
    },
    'an object with finalizers: MODIFIED when deleted, DELETED when let go': async (bench) => {
      const { metadata } = await bench.create(bench.widget('a', {}, { finalizers: ['contract.test/hold'] }))
      await mustBe(200, bench.admin.delete(bench.path('widgets', 'a')))
      await mustBe(
        200,
        bench.admin.patch('merge-patch', bench.path('widgets', 'a'), { metadata: { finalizers: null } }),
      )
      assert.deepEqual(await eventsOf(bench, `resourceVersion=${metadata.resourceVersion}`, 2), [
        'MODIFIED a',
        'DELETED a',
      ])
    },
    'a write that changes nothing is no event': async (bench) => {
      const stored = await bench.create(bench.widget('a'))
      await mustBe(200, bench.admin.put(bench.path('widgets', 'a'), stored))
      await bench.create(bench.widget('b'))
      assert.deepEqual(await eventsOf(bench, `resourceVersion=${stored.metadata.resourceVersion}`, 1), ['ADDED b'])
    },
    'with a label selector: coming in is ADDED, going out is DELETED': async (bench) => {
      const { metadata } = await bench.create(bench.widget('a'))
      const label = (value: string | null) =>
        mustBe(
          200,
          bench.admin.patch('merge-patch', bench.path('widgets', 'a'), { metadata: { labels: { on: value } } }),
        )
      await label('yes')
      await label(null)
      const query = `resourceVersion=${metadata.resourceVersion}&labelSelector=on`
      assert.deepEqual(await eventsOf(bench, query, 2), ['ADDED a', 'DELETED a'])
    },
    'with a field selector: one object': async (bench) => {
      const { metadata } = await listWidgets(bench)
      for (const name of ['a', 'b']) await bench.create(bench.widget(name))
      const query = `resourceVersion=${metadata.resourceVersion}&fieldSelector=metadata.name%3Db`
      assert.deepEqual(await eventsOf(bench, query, 1), ['ADDED b'])
    },
    'timeoutSeconds ends it': async (bench) => {
      const { metadata } = await listWidgets(bench)
      const query = `watch=true&timeoutSeconds=1&resourceVersion=${metadata.resourceVersion}`
      const watch = await bench.admin.watch(`${bench.path('widgets')}?${query}`)
      assert.equal(await watch.next(), undefined)
    },
    'sendInitialEvents: what is there, then a bookmark that says so': async (bench) => {
      await bench.create(bench.widget('a'))
      const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
      const watch = await bench.admin.watch(`${bench.path('widgets')}?${query}`)
      const added = await watch.next()
      const bookmark = await watch.next()
      watch.close()
      assert.deepEqual([added?.type, bookmark?.type], ['ADDED', 'BOOKMARK'])
      assert.deepEqual(bookmark?.object.metadata.annotations, { 'k8s.io/initial-events-end': 'true' })
      assert.equal(bookmark?.object.kind, 'Widget')
      assert.match(bookmark?.object.metadata.resourceVersion ?? '', /^\d+$/)
    },
    'a watch can go on from a bookmark': async (bench) => {
      await bench.create(bench.widget('a'))
      const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
      const watch = await bench.admin.watch(`${bench.path('widgets')}?${query}`)
      const { object } = await watch.until(({ type }) => type === 'BOOKMARK')
      watch.close()
      await bench.create(bench.widget('b'))
      assert.deepEqual(await eventsOf(bench, `resourceVersion=${object.metadata.resourceVersion}`, 1), ['ADDED b'])
    },
    'without being asked for there are no bookmarks': async (bench) => {
      const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan'
      const answer = await bench.admin.get(`${bench.path('widgets')}?${query}&timeoutSeconds=1`)
      assert.ok(!answer.text.includes('BOOKMARK'))
    },
    'a resourceVersion that is none is refused': async (bench) => {
      const { code, body } = await bench.admin.get(`${bench.path('widgets')}?watch=true&resourceVersion=x`)
      assert.ok(code >= 400)
      assert.equal(body.kind, 'Status')
    },
  }),
  ...alone(
    section('watches', {
      'from a resourceVersion that is forgotten: 410, as an answer or as an event': async (bench) => {
        const { metadata } = await bench.create(bench.widget('a'))
        await bench.create(bench.widget('b'))
        await bench.server.forget()
        const query = `watch=true&timeoutSeconds=5&resourceVersion=${metadata.resourceVersion}`
        const { code, text, body } = await bench.admin.get(`${bench.path('widgets')}?${query}`)
        const status = code === 200 ? (JSON.parse(text.split('\n')[0] ?? '') as WatchEvent).object : body
        assert.deepEqual([status.kind, status.code, status.reason], ['Status', 410, 'Expired'])
        assert.match(status.message ?? '', /^too old resource version: /)
      },
    }),
  ),
  ...section('other forms', {
    'a Table: columns of the CRD, one row an object': async (bench) => {
      await bench.create(bench.widget('a', { size: 7 }))
      const table = await mustBe(200, bench.admin.get(bench.path('widgets'), TABLE))
      assert.deepEqual([table.kind, table.apiVersion], ['Table', 'meta.k8s.io/v1'])
      const columns = table['columnDefinitions'] as { name: string; type: string }[]
      assert.deepEqual(
        columns.map(({ name, type }) => `${name} ${type}`),
        ['Name string', 'Title string', 'Size integer', 'Age date'],
      )
      const row = only(table['rows'] as { cells: unknown[]; object: Body }[])
      assert.deepEqual(row.cells.slice(0, 3), ['a', 'widget', 7])
      assert.match(String(row.cells[3]), /^\d+s$/)
      assert.deepEqual([row.object.kind, row.object.metadata.name], ['PartialObjectMetadata', 'a'])
    },
    'a Table of one object': async (bench) => {
      await bench.create(bench.widget('a'))
      const table = await mustBe(200, bench.admin.get(bench.path('widgets', 'a'), TABLE))
      assert.equal(only(table['rows'] as unknown[]) !== undefined, true)
    },
    'a Table without objects': async (bench) => {
      await bench.create(bench.widget('a'))
      const table = await mustBe(200, bench.admin.get(`${bench.path('widgets')}?includeObject=None`, TABLE))
      const row = only(table['rows'] as { object: unknown }[])
      assert.equal(row.object, null)
    },
    'a Table of a core kind': async (bench) => {
      await bench.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { x: 'y' } })
      const table = await mustBe(200, bench.admin.get(bench.core('configmaps'), TABLE))
      const row = only(table['rows'] as { cells: unknown[] }[])
      assert.deepEqual(row.cells.slice(0, 2), ['a', 1])
    },
    'metadata only': async (bench) => {
      const stored = await bench.create(bench.widget('a'))
      const { body } = await bench.admin.get(bench.path('widgets', 'a'), METADATA_ONLY)
      assert.deepEqual([body.kind, body.apiVersion], ['PartialObjectMetadata', 'meta.k8s.io/v1'])
      assert.deepEqual([body.metadata, body.spec], [stored.metadata, undefined])
    },
    'a list of metadata only': async (bench) => {
      await bench.create(bench.widget('a'))
      const { body } = await bench.admin.get(bench.path('widgets'), METADATA_LIST)
      assert.equal(body.kind, 'PartialObjectMetadataList')
      assert.equal(only(body.items ?? []).spec, undefined)
    },
    'discovery of a group lists its resources': async (bench) => {
      const { body } = await bench.admin.get(`/apis/${GROUP}/v1`)
      assert.equal(body.kind, 'APIResourceList')
      const resources = body['resources'] as { name: string; kind: string; namespaced: boolean; verbs: string[] }[]
      const widgets = resources.find(({ name }) => name === 'widgets')
      assert.deepEqual([widgets?.kind, widgets?.namespaced], ['Widget', true])
      assert.deepEqual([...(widgets?.verbs ?? [])].sort(), [
        'create',
        'delete',
        'deletecollection',
        'get',
        'list',
        'patch',
        'update',
        'watch',
      ])
      assert.ok(resources.some(({ name }) => name === 'widgets/status'))
      assert.ok(resources.every(({ name }) => name !== 'gizmos/status'))
    },
    'every answer has a Date': async (bench) => {
      const { headers } = await bench.admin.get(bench.path('widgets'))
      assert.ok(Math.abs(Date.parse(String(headers['date'])) - Date.now()) < 60_000)
    },
    'readyz, livez and healthz say ok': async (bench) => {
      for (const path of ['/readyz', '/livez', '/healthz']) assert.equal((await bench.admin.get(path)).text, 'ok', path)
    },
    'version tells major and minor': async (bench) => {
      const { body } = await bench.admin.get('/version')
      assert.equal(body['major'], '1')
      assert.match(String(body['minor']), /^\d+/)
    },
  }),
]

function alone(checks: readonly ContractCheck[]): ContractCheck[] {
  return checks.map((check) => ({ ...check, alone: true }))
}

function listWidgets(bench: Bench, query = ''): Promise<Body> {
  return mustBe(200, bench.admin.get(`${bench.path('widgets')}?${query}`))
}

function namesOf({ items = [] }: Body): (string | undefined)[] {
  return items.map(({ metadata }) => metadata.name)
}

async function fiveWidgets(bench: Bench): Promise<void> {
  for (const name of ['a', 'b', 'c', 'd', 'e']) await bench.create(bench.widget(name, {}, { labels: { five: '' } }))
}

async function eventsOf(bench: Bench, query: string, count: number): Promise<string[]> {
  const watch = await bench.admin.watch(`${bench.path('widgets')}?watch=true&${query}`)
  const events: (WatchEvent | undefined)[] = []
  while (events.length < count) events.push(await watch.next())
  watch.close()
  return events.map((event) => `${event?.type} ${event?.object.metadata.name}`)
}

function eventAbout({ namespace }: Bench, name: string) {
  return {
    metadata: { name: `event-${name}` },
    involvedObject: { kind: 'Widget', apiVersion: `${GROUP}/v1`, namespace, name },
    reason: 'Seen',
    message: 'seen',
    type: 'Normal',
  }
}
