import assert from 'node:assert/strict'
import { type Bench, mustBe } from '../bench.ts'
import { section } from '../contract-check.ts'
import { GROUP } from '../contract-crds.ts'
import { assertAccepted, assertRefused } from './refused.ts'

const HOLD = 'contract.test/hold'
const MORE = 'contract.test/more'

/** Finalizers, generation, resourceVersion, status, deletion. */
export const lifecycleChecks = [
  ...section('finalizers', {
    'while an object is being deleted none can be added': async (bench) => {
      await deleting(bench)
      const answer = await setFinalizers(bench, [HOLD, MORE])
      assertRefused(answer, {
        code: 422,
        reason: 'Invalid',
        message: `Widget.contract.test "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"${MORE}"}`,
      })
    },
    'while an object is being deleted one can go and others stay': async (bench) => {
      await deleting(bench, [HOLD, MORE])
      const answer = await setFinalizers(bench, [MORE])
      assertAccepted(answer)
      assert.deepEqual((await bench.read('widgets', 'a')).metadata.finalizers, [MORE])
    },
    'the answer to the last update is the object': async (bench) => {
      await deleting(bench)
      const answer = await setFinalizers(bench, [])
      assertAccepted(answer)
      assert.equal(answer.body.kind, 'Widget')
      assert.notEqual(answer.body.metadata.deletionTimestamp, undefined)
      assert.equal((await bench.admin.get(bench.path('widgets', 'a'))).code, 404)
    },
    'a PUT may take the last one away too': async (bench) => {
      await deleting(bench)
      const object = await bench.read('widgets', 'a')
      const { finalizers: _gone, ...metadata } = object.metadata
      assertAccepted(await bench.admin.put(bench.path('widgets', 'a'), { ...object, metadata }))
      assert.equal((await bench.admin.get(bench.path('widgets', 'a'))).code, 404)
    },
    'while an object is being deleted its spec can change': async (bench) => {
      await deleting(bench)
      const answer = await bench.admin.patch('merge-patch', bench.path('widgets', 'a'), { spec: { size: 5 } })
      assertAccepted(answer)
      assert.equal(answer.body.metadata.generation, 3)
    },
    'while an object is being deleted its status can change': async (bench) => {
      await deleting(bench)
      const path = bench.path('widgets', 'a', 'status')
      assertAccepted(await bench.admin.patch('merge-patch', path, { status: { phase: 'Leaving' } }))
    },
    'deletionTimestamp can neither be set nor taken away': async (bench) => {
      await bench.create(bench.widget('a', {}, { finalizers: [HOLD] }))
      const path = bench.path('widgets', 'a')
      const set = { metadata: { deletionTimestamp: '2000-01-01T00:00:00Z' } }
      await bench.admin.patch('merge-patch', path, set)
      assert.equal((await bench.read('widgets', 'a')).metadata.deletionTimestamp, undefined)
      await mustBe(200, bench.admin.delete(path))
      await bench.admin.patch('merge-patch', path, { metadata: { deletionTimestamp: null } })
      assert.notEqual((await bench.read('widgets', 'a')).metadata.deletionTimestamp, undefined)
    },
    'finalizers can be changed freely before that': async (bench) => {
      await bench.create(bench.widget('a', {}, { finalizers: [HOLD] }))
      assertAccepted(await setFinalizers(bench, [MORE, HOLD]))
      assertAccepted(await setFinalizers(bench, []))
      await bench.read('widgets', 'a')
    },
    'a finalizer that is no qualified name is 422': async (bench) => {
      const answer = await bench.admin.post(bench.path('widgets'), bench.widget('a', {}, { finalizers: ['no spaces'] }))
      assertRefused(answer, {
        code: 422,
        reason: 'Invalid',
        message: /metadata\.finalizers: Invalid value: "no spaces"/,
      })
    },
    'a finalizer without a domain is taken with a warning': async (bench) => {
      const answer = await bench.admin.post(bench.path('widgets'), bench.widget('a', {}, { finalizers: ['plain'] }))
      assertAccepted(answer, 201)
      assert.deepEqual(answer.warnings, [
        'metadata.finalizers: "plain": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers',
      ])
    },
    'an object can be created again once it is gone, with another uid': async (bench) => {
      const first = await bench.create(bench.widget('a'))
      await mustBe(200, bench.admin.delete(bench.path('widgets', 'a')))
      const second = await bench.create(bench.widget('a'))
      assert.notEqual(second.metadata.uid, first.metadata.uid)
    },
    'while an object is being deleted its name is taken': async (bench) => {
      await deleting(bench)
      const answer = await bench.admin.post(bench.path('widgets'), bench.widget('a'))
      assertRefused(answer, { code: 409, reason: 'AlreadyExists', message: /already exists/ })
    },
  }),
  ...section('generation and resourceVersion', {
    'generation counts changes of the spec': async (bench) => {
      await bench.create(bench.widget('a'))
      assert.equal(await generationAfter(bench, { spec: { size: 2 } }), 2)
      assert.equal(await generationAfter(bench, { spec: { size: 3 } }), 3)
    },
    'labels, annotations and finalizers do not count': async (bench) => {
      await bench.create(bench.widget('a'))
      assert.equal(await generationAfter(bench, { metadata: { labels: { a: 'b' } } }), 1)
      assert.equal(await generationAfter(bench, { metadata: { annotations: { a: 'b' } } }), 1)
      assert.equal(await generationAfter(bench, { metadata: { finalizers: [HOLD] } }), 1)
    },
    'the status does not count': async (bench) => {
      await bench.create(bench.widget('a'))
      const path = bench.path('widgets', 'a', 'status')
      const answer = await bench.admin.patch('merge-patch', path, { status: { phase: 'Ready' } })
      assert.equal(answer.body.metadata.generation, 1)
    },
    'a deletion that waits for finalizers counts': async (bench) => {
      await deleting(bench)
      assert.equal((await bench.read('widgets', 'a')).metadata.generation, 2)
    },
    'without a status subresource the status counts': async (bench) => {
      await mustBe(201, bench.admin.post(bench.path('gizmos'), gizmo()))
      const answer = await bench.admin.patch('merge-patch', bench.path('gizmos', 'a'), { status: { phase: 'Ready' } })
      assertAccepted(answer)
      assert.deepEqual([answer.body.metadata.generation, answer.body.status], [2, { phase: 'Ready' }])
    },
    'a Service has no generation': async (bench) => {
      const service = { metadata: { name: 'a' }, spec: { ports: [{ port: 80 }] } }
      const { metadata } = await mustBe(201, bench.admin.post(bench.core('services'), service))
      assert.equal(metadata.generation, undefined)
    },
    'every write gives a new resourceVersion, in the answer and for readers': async (bench) => {
      const before = await bench.create(bench.widget('a'))
      const after = await mustBe(
        200,
        bench.admin.patch('merge-patch', bench.path('widgets', 'a'), { metadata: { labels: { a: 'b' } } }),
      )
      assert.notEqual(after.metadata.resourceVersion, before.metadata.resourceVersion)
      assert.deepEqual(await bench.read('widgets', 'a'), after)
    },
    'a write that changes nothing gives none': async (bench) => {
      const before = await bench.create(bench.widget('a', {}, { labels: { a: 'b' } }))
      const path = bench.path('widgets', 'a')
      for (const patch of [{}, { metadata: { labels: { a: 'b' } } }, { spec: { size: 1 } }]) {
        const after = await mustBe(200, bench.admin.patch('merge-patch', path, patch))
        assert.equal(after.metadata.resourceVersion, before.metadata.resourceVersion)
      }
    },
    'a status write that changes nothing gives none': async (bench) => {
      await bench.create(bench.widget('a'))
      const path = bench.path('widgets', 'a', 'status')
      const first = await mustBe(200, bench.admin.patch('merge-patch', path, { status: { phase: 'Ready' } }))
      const second = await mustBe(200, bench.admin.patch('merge-patch', path, { status: { phase: 'Ready' } }))
      assert.equal(second.metadata.resourceVersion, first.metadata.resourceVersion)
    },
    'resourceVersions are decimal numbers that grow over all kinds': async (bench) => {
      const first = await bench.create(bench.widget('a'))
      const second = await bench.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } })
      const [a, b] = [first, second].map(({ metadata }) => BigInt(metadata.resourceVersion ?? ''))
      assert.ok(a !== undefined && b !== undefined && b > a)
    },
  }),
  ...section('status', {
    'through /status only the status changes': async (bench) => {
      const before = await bench.create(bench.widget('a'))
      const answer = await bench.admin.patch('merge-patch', bench.path('widgets', 'a', 'status'), {
        metadata: { labels: { a: 'b' }, finalizers: [HOLD] },
        spec: { size: 7 },
        status: { phase: 'Ready' },
      })
      assertAccepted(answer)
      assert.deepEqual([answer.body.spec, answer.body.status], [before.spec, { phase: 'Ready' }])
      assert.deepEqual([answer.body.metadata.labels, answer.body.metadata.finalizers], [undefined, undefined])
    },
    'through the object the status does not change': async (bench) => {
      await bench.create(bench.widget('a'))
      await mustBe(
        200,
        bench.admin.patch('merge-patch', bench.path('widgets', 'a', 'status'), { status: { phase: 'Ready' } }),
      )
      const answer = await bench.admin.patch('merge-patch', bench.path('widgets', 'a'), {
        spec: { size: 7 },
        status: { phase: 'Forged' },
      })
      assert.deepEqual([answer.body.spec?.['size'], answer.body.status], [7, { phase: 'Ready' }])
    },
    'GET of /status is the whole object': async (bench) => {
      const stored = await bench.create(bench.widget('a'))
      assert.deepEqual(await mustBe(200, bench.admin.get(bench.path('widgets', 'a', 'status'))), stored)
    },
    'PUT of /status needs a resourceVersion': async (bench) => {
      await bench.create(bench.widget('a'))
      const sent = { ...bench.widget('a'), status: { phase: 'Ready' } }
      const answer = await bench.admin.put(bench.path('widgets', 'a', 'status'), sent)
      assertRefused(answer, { code: 422, reason: 'Invalid', message: /resourceVersion/ })
    },
    'a stale resourceVersion on /status is 409': async (bench) => {
      await bench.create(bench.widget('a'))
      const patch = { metadata: { resourceVersion: '1' }, status: { phase: 'Ready' } }
      const answer = await bench.admin.patch('merge-patch', bench.path('widgets', 'a', 'status'), patch)
      assertRefused(answer, { code: 409, reason: 'Conflict' })
    },
    'a uid on /status guards nothing: another one is not looked at': async (bench) => {
      await bench.create(bench.widget('a'))
      const patch = { metadata: { uid: '00000000-0000-4000-8000-000000000000' }, status: { phase: 'Ready' } }
      const answer = await bench.admin.patch('merge-patch', bench.path('widgets', 'a', 'status'), patch)
      assertAccepted(answer)
      assert.deepEqual(answer.body.status, { phase: 'Ready' })
    },
    'another uid in a PUT of /status is 409': async (bench) => {
      const stored = await bench.create(bench.widget('a'))
      const metadata = { ...stored.metadata, uid: '00000000-0000-4000-8000-000000000000' }
      const answer = await bench.admin.put(bench.path('widgets', 'a', 'status'), { ...stored, metadata })
      assertRefused(answer, { code: 409, reason: 'Conflict' })
    },
    'another uid on the /status of a Service': async (bench) => {
      await mustBe(
        201,
        bench.admin.post(bench.core('services'), { metadata: { name: 'a' }, spec: { ports: [{ port: 80 }] } }),
      )
      const patch = { metadata: { uid: '00000000-0000-4000-8000-000000000000' }, status: { loadBalancer: {} } }
      const answer = await bench.admin.patch('merge-patch', bench.core('services', 'a', 'status'), patch)
      assertRefused(answer, { code: 422, reason: 'Invalid', message: /metadata\.uid/ })
    },
    'a resourceVersion of an object that was created anew is 409 on /status': async (bench) => {
      const { metadata } = await bench.create(bench.widget('a'))
      await mustBe(200, bench.admin.delete(bench.path('widgets', 'a')))
      await bench.create(bench.widget('a'))
      const patch = { metadata: { resourceVersion: metadata.resourceVersion }, status: { phase: 'Ready' } }
      const answer = await bench.admin.patch('merge-patch', bench.path('widgets', 'a', 'status'), patch)
      assertRefused(answer, { code: 409, reason: 'Conflict' })
    },
    'a status the schema refuses is 422': async (bench) => {
      await bench.create(bench.widget('a'))
      const patch = { status: { conditions: [{ type: 'Ready', status: 'Perhaps' }] } }
      const answer = await bench.admin.patch('merge-patch', bench.path('widgets', 'a', 'status'), patch)
      assertRefused(answer, {
        code: 422,
        reason: 'Invalid',
        message: /status\.conditions\[0\]\.status: Unsupported value/,
      })
    },
    'null clears a status': async (bench) => {
      await bench.create(bench.widget('a'))
      const path = bench.path('widgets', 'a', 'status')
      await mustBe(200, bench.admin.patch('merge-patch', path, { status: { phase: 'Ready' } }))
      const answer = await bench.admin.patch('merge-patch', path, { status: { phase: null } })
      assertAccepted(answer)
      assert.deepEqual(answer.body.status, {})
    },
    'a Service: status through /status only': async (bench) => {
      const service = { metadata: { name: 'a' }, spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } }
      await mustBe(201, bench.admin.post(bench.core('services'), service))
      const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } }
      const main = await mustBe(200, bench.admin.patch('merge-patch', bench.core('services', 'a'), { status }))
      assert.deepEqual(main.status, { loadBalancer: {} })
      const sub = await mustBe(200, bench.admin.patch('merge-patch', bench.core('services', 'a', 'status'), { status }))
      assert.deepEqual(sub.status, { loadBalancer: { ingress: [{ ip: '192.0.2.1', ipMode: 'VIP' }] } })
    },
  }),
  ...section('deletion', {
    'an object without finalizers is gone at once, the answer is a Status with its uid': async (bench) => {
      const { metadata } = await bench.create(bench.widget('a'))
      const { body } = await bench.admin.delete(bench.path('widgets', 'a'))
      assert.deepEqual([body.kind, body.status], ['Status', 'Success'])
      assert.deepEqual(body.details, { name: 'a', group: GROUP, kind: 'widgets', uid: metadata.uid })
    },
    'an object with finalizers stays, the answer is the object': async (bench) => {
      await bench.create(bench.widget('a', {}, { finalizers: [HOLD] }))
      const answer = await bench.admin.delete(bench.path('widgets', 'a'))
      assertAccepted(answer)
      assert.equal(answer.body.kind, 'Widget')
      assert.notEqual(answer.body.metadata.deletionTimestamp, undefined)
    },
    'preconditions: the right uid deletes': async (bench) => {
      const { metadata } = await bench.create(bench.widget('a'))
      const { uid } = metadata
      assertAccepted(await bench.admin.delete(bench.path('widgets', 'a'), { preconditions: { uid } }))
    },
    'preconditions: another uid is 409': async (bench) => {
      const { metadata } = await bench.create(bench.widget('a'))
      const uid = '00000000-0000-4000-8000-000000000000'
      const answer = await bench.admin.delete(bench.path('widgets', 'a'), { preconditions: { uid } })
      assertRefused(answer, {
        code: 409,
        reason: 'Conflict',
        message: `Operation cannot be fulfilled on Widget.contract.test "a": the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
      })
    },
    'preconditions: another resourceVersion is 409': async (bench) => {
      const { metadata } = await bench.create(bench.widget('a'))
      const answer = await bench.admin.delete(bench.path('widgets', 'a'), { preconditions: { resourceVersion: '1' } })
      assertRefused(answer, {
        code: 409,
        reason: 'Conflict',
        message: `Operation cannot be fulfilled on Widget.contract.test "a": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
      })
    },
    'propagationPolicy Foreground leaves a finalizer': async (bench) => {
      await bench.create(bench.widget('a'))
      assertAccepted(await bench.admin.delete(bench.path('widgets', 'a'), { propagationPolicy: 'Foreground' }))
      const { metadata } = await bench.read('widgets', 'a')
      assert.deepEqual(metadata.finalizers, ['foregroundDeletion'])
    },
    'an unknown propagationPolicy is 422': async (bench) => {
      await bench.create(bench.widget('a'))
      const answer = await bench.admin.delete(bench.path('widgets', 'a'), { propagationPolicy: 'Sometime' })
      assertRefused(answer, { code: 422, reason: 'Invalid', message: /propagationPolicy: Unsupported value/ })
    },
    'options in the query count too': async (bench) => {
      await bench.create(bench.widget('a'))
      assertAccepted(await bench.admin.delete(`${bench.path('widgets', 'a')}?propagationPolicy=Foreground`))
      assert.deepEqual((await bench.read('widgets', 'a')).metadata.finalizers, ['foregroundDeletion'])
    },
    'a second deletion does not move the deletionTimestamp': async (bench) => {
      await deleting(bench)
      const before = await bench.read('widgets', 'a')
      assertAccepted(await bench.admin.delete(bench.path('widgets', 'a')))
      assert.deepEqual(await bench.read('widgets', 'a'), before)
    },
    'deletecollection takes what a selector matches and answers with the list': async (bench) => {
      await bench.create(bench.widget('a', {}, { labels: { go: 'yes' } }))
      await bench.create(bench.widget('b'))
      const answer = await bench.admin.delete(`${bench.path('widgets')}?labelSelector=go%3Dyes`)
      assertAccepted(answer)
      assert.equal(answer.body.kind, 'WidgetList')
      const left = await mustBe(200, bench.admin.get(bench.path('widgets')))
      assert.deepEqual(
        left.items?.map(({ metadata }) => metadata.name),
        ['b'],
      )
    },
    'deletecollection leaves what has finalizers, being deleted': async (bench) => {
      await bench.create(bench.widget('a', {}, { finalizers: [HOLD] }))
      assertAccepted(await bench.admin.delete(bench.path('widgets')))
      assert.notEqual((await bench.read('widgets', 'a')).metadata.deletionTimestamp, undefined)
    },
    'the deletion of a Service answers with the Service': async (bench) => {
      await mustBe(
        201,
        bench.admin.post(bench.core('services'), { metadata: { name: 'a' }, spec: { ports: [{ port: 80 }] } }),
      )
      const answer = await bench.admin.delete(bench.core('services', 'a'))
      assertAccepted(answer)
      assert.equal(answer.body.kind, 'Service')
    },
  }),
]

async function deleting(bench: Bench, finalizers: string[] = [HOLD]): Promise<void> {
  await bench.create(bench.widget('a', {}, { finalizers }))
  await mustBe(200, bench.admin.delete(bench.path('widgets', 'a')))
}

function setFinalizers(bench: Bench, finalizers: string[]) {
  return bench.admin.patch('merge-patch', bench.path('widgets', 'a'), { metadata: { finalizers } })
}

async function generationAfter(bench: Bench, patch: unknown): Promise<number | undefined> {
  const { metadata } = await mustBe(200, bench.admin.patch('merge-patch', bench.path('widgets', 'a'), patch))
  return metadata.generation
}

function gizmo() {
  return { apiVersion: `${GROUP}/v1`, kind: 'Gizmo', metadata: { name: 'a' } }
}
