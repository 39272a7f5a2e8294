import assert from 'node:assert/strict'
import { type Bench, type Hook, mustBe } from '../bench.ts'
import { section } from '../contract-check.ts'
import { GROUP } from '../contract-crds.ts'
import { eventually } from '../eventually.ts'
import { allow, deny } from '../review-answers.ts'
import type { Behaviour, ReviewRequest } from '../webhook-receiver.ts'
import { only } from './only.ts'
import { assertAccepted, assertGivenUp, assertRefused } from './refused.ts'

const FINALIZER = 'contract.test/hold'
const withStatus = [
  {
    apiGroups: [GROUP],
    apiVersions: ['v1'],
    resources: ['widgets', 'widgets/status'],
    operations: ['CREATE', 'UPDATE', 'DELETE'],
  },
]

interface Both {
  mutating: Hook
  validating: Hook
  /** The one request each of them got. */
  requests(): { M: ReviewRequest; V: ReviewRequest }
  counts(): [number, number]
}

async function both(bench: Bench, more: { rules?: Record<string, unknown>[]; fields?: Record<string, unknown> } = {}) {
  const mutating = await bench.hook({ phase: 'mutating', ...more })
  const validating = await bench.hook({ phase: 'validating', ...more })
  const result: Both = {
    mutating,
    validating,
    requests: () => ({ M: only(mutating.reviews).request, V: only(validating.reviews).request }),
    counts: () => [mutating.reviews.length, validating.reviews.length],
  }
  return result
}

function names(request: ReviewRequest): (string | undefined)[] {
  return [request.operation, request.name]
}

/** §1.8: what is known at each stage of each flow. */
export const admissionStageChecks = [
  ...section('1.8 create', {
    'CREATE, mutating: no uid, no generation, no resourceVersion': async (bench) => {
      const { requests } = await both(bench)
      await bench.create(bench.widget('a'))
      const { uid, generation, resourceVersion } = requests().M.object?.metadata ?? {}
      assert.deepEqual([uid, generation, resourceVersion], [undefined, undefined, undefined])
    },
    'CREATE, validating: uid and generation 1 as stored, no resourceVersion': async (bench) => {
      const { requests } = await both(bench)
      const stored = await bench.create(bench.widget('a'))
      const { uid, generation, resourceVersion, creationTimestamp } = requests().V.object?.metadata ?? {}
      assert.deepEqual([uid, generation, resourceVersion], [stored.metadata.uid, 1, undefined])
      assert.equal(creationTimestamp, stored.metadata.creationTimestamp)
    },
    'CREATE: uid and creationTimestamp of the client are not taken': async (bench) => {
      const own = { uid: '00000000-0000-4000-8000-000000000000', creationTimestamp: '2000-01-01T00:00:00Z' }
      const stored = await bench.create(bench.widget('a', {}, { ...own, generation: 7 }))
      assert.notEqual(stored.metadata.uid, own.uid)
      assert.notEqual(stored.metadata.creationTimestamp, own.creationTimestamp)
      assert.equal(stored.metadata.generation, 1)
    },
    'CREATE: deletionTimestamp of the client is not taken': async (bench) => {
      const stored = await bench.create(bench.widget('a', {}, { deletionTimestamp: '2000-01-01T00:00:00Z' }))
      assert.equal(stored.metadata.deletionTimestamp, undefined)
    },
    'CREATE with a resourceVersion is refused at the end': async (bench) => {
      const { counts } = await both(bench)
      const answer = await bench.admin.post(bench.path('widgets'), bench.widget('a', {}, { resourceVersion: '1' }))
      assertRefused(answer, { code: 500, message: 'resourceVersion should not be set on objects to be created' })
      assert.deepEqual(counts(), [1, 1])
    },
    'generateName: no name for mutating webhooks, the name for validating ones': async (bench) => {
      const { requests } = await both(bench)
      const stored = await bench.create(bench.widget('x', {}, { name: undefined, generateName: 'gen-' }))
      const { M, V } = requests()
      assert.equal(M.name, undefined)
      assert.equal(M.object?.metadata.name, undefined)
      assert.match(stored.metadata.name ?? '', /^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
      assert.deepEqual([V.name, V.object?.metadata.name], [stored.metadata.name, stored.metadata.name])
    },
    'CREATE of a name that is taken: both called, then 409': async (bench) => {
      const first = await bench.create(bench.widget('a'))
      const { counts, requests } = await both(bench)
      const answer = await bench.admin.post(bench.path('widgets'), bench.widget('a'))
      assertRefused(answer, { code: 409, reason: 'AlreadyExists', message: 'widgets.contract.test "a" already exists' })
      assert.deepEqual(counts(), [1, 1])
      assert.notEqual(requests().V.object?.metadata.uid, first.metadata.uid)
    },
    'server-side apply that creates: CREATE, name from the URL': async (bench) => {
      const { requests } = await both(bench)
      const path = `${bench.path('widgets', 'a')}?fieldManager=me`
      assertAccepted(await bench.admin.patch('apply-patch', path, bench.widget('a')), 201)
      const { M, V } = requests()
      assert.deepEqual(
        [names(M), names(V)],
        [
          ['CREATE', 'a'],
          ['CREATE', 'a'],
        ],
      )
      assert.equal(M.object?.metadata.uid, undefined)
      assert.equal(V.object?.metadata.generation, 1)
      assert.equal(M.options?.['kind'], 'CreateOptions')
    },
    'CREATE on dry run: both called with dryRun, nothing stored': async (bench) => {
      const { requests } = await both(bench)
      const answer = await bench.admin.post(`${bench.path('widgets')}?dryRun=All`, bench.widget('a'))
      assertAccepted(answer, 201)
      assert.notEqual(answer.body.metadata.uid, undefined)
      assert.equal(answer.body.metadata.resourceVersion, undefined)
      const { M, V } = requests()
      assert.deepEqual([M.dryRun, V.dryRun], [true, true])
      assert.deepEqual(V.options?.['dryRun'], ['All'])
      assert.equal((await bench.admin.get(bench.path('widgets', 'a'))).code, 404)
    },
    'CREATE of what is too large to be stored: the validating webhook is asked twice, then 500': async (bench) => {
      const { counts } = await both(bench)
      const wide = bench.widget('a', { free: { x: 'x'.repeat(1_800_000) } })
      const answer = await bench.admin.post(bench.path('widgets'), wide)
      assertRefused(answer, { code: 500, message: 'etcdserver: request is too large' })
      assert.deepEqual(counts(), [1, 2])
    },
  }),
  ...section('1.8 update', {
    'PUT without uid: mutating does not know it from the object, validating does': async (bench) => {
      const stored = await bench.create(bench.widget('a'))
      const { requests } = await both(bench)
      const { resourceVersion } = stored.metadata
      await mustBe(
        200,
        bench.admin.put(bench.path('widgets', 'a'), bench.widget('a', { size: 2 }, { resourceVersion })),
      )
      const { M, V } = requests()
      assert.equal(M.oldObject?.metadata.uid, stored.metadata.uid)
      assert.equal(V.object?.metadata.uid, stored.metadata.uid)
    },
    'UPDATE, mutating: generation as before; validating: one more when the spec changed': async (bench) => {
      await bench.create(bench.widget('a'))
      const { requests } = await both(bench)
      await mustBe(200, bench.admin.patch('merge-patch', bench.path('widgets', 'a'), { spec: { size: 2 } }))
      const { M, V } = requests()
      assert.deepEqual([M.object?.metadata.generation, V.object?.metadata.generation], [1, 2])
      assert.equal(V.oldObject?.metadata.generation, 1)
    },
    'UPDATE of metadata only: the generation stays': async (bench) => {
      await bench.create(bench.widget('a'))
      const { requests } = await both(bench)
      await mustBe(
        200,
        bench.admin.patch('merge-patch', bench.path('widgets', 'a'), { metadata: { labels: { a: 'b' } } }),
      )
      assert.equal(requests().V.object?.metadata.generation, 1)
    },
    'UPDATE: webhooks see the resourceVersion before the change': async (bench) => {
      const { metadata } = await bench.create(bench.widget('a'))
      const { requests } = await both(bench)
      const after = await mustBe(
        200,
        bench.admin.patch('merge-patch', bench.path('widgets', 'a'), { spec: { size: 2 } }),
      )
      const { M, V } = requests()
      const seen = [M.object, M.oldObject, V.object, V.oldObject].map((object) => object?.metadata.resourceVersion)
      assert.deepEqual(seen, Array(4).fill(metadata.resourceVersion))
      assert.notEqual(after.metadata.resourceVersion, metadata.resourceVersion)
    },
    'PUT without resourceVersion is refused': async (bench) => {
      await bench.create(bench.widget('a'))
      const answer = await bench.admin.put(bench.path('widgets', 'a'), bench.widget('a', { size: 2 }))
      assertRefused(answer, {
        code: 422,
        reason: 'Invalid',
        message:
          'widgets.contract.test "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
      })
    },
    'PUT with a stale resourceVersion is 409': async (bench) => {
      const stale = await bench.create(bench.widget('a'))
      await mustBe(200, bench.admin.patch('merge-patch', bench.path('widgets', 'a'), { spec: { size: 2 } }))
      const { counts } = await both(bench)
      const answer = await bench.admin.put(bench.path('widgets', 'a'), { ...stale, spec: { title: 'x' } })
      assertRefused(answer, {
        code: 409,
        reason: 'Conflict',
        message:
          'Operation cannot be fulfilled on widgets.contract.test "a": the object has been modified; please apply your changes to the latest version and try again',
      })
      assert.equal(counts()[1], 0)
    },
    'a change in between: PATCH runs both again with new uids and a fresh oldObject': async (bench) => {
      await bench.create(bench.widget('a'))
      const path = bench.path('widgets', 'a')
      const { mutating, validating } = await both(bench)
      let interfered = false
      const interfere: Behaviour = async (received) => {
        if (!interfered) {
          interfered = true
          await mustBe(200, bench.admin.patch('merge-patch', path, { metadata: { labels: { between: 'yes' } } }))
        }
        return allow(received)
      }
      validating.answer(interfere)
      await mustBe(200, bench.admin.patch('merge-patch', path, { spec: { size: 2 } }))
      // Ours, the one in between, and ours again.
      assert.deepEqual([mutating.reviews.length, validating.reviews.length], [3, 3])
      const ours = validating.reviews.filter(({ request }) => request.object?.spec?.['size'] === 2)
      assert.equal(ours.length, 2)
      const [first, second] = ours.map(({ request }) => request)
      assert.notEqual(first?.uid, second?.uid)
      assert.equal(first?.oldObject?.metadata.labels, undefined)
      assert.deepEqual(second?.oldObject?.metadata.labels, { between: 'yes' })
    },
    'UPDATE that changes nothing: both called, resourceVersion stays': async (bench) => {
      const before = await bench.create(bench.widget('a'))
      const { counts } = await both(bench)
      const after = await mustBe(200, bench.admin.put(bench.path('widgets', 'a'), before))
      assert.deepEqual(counts(), [1, 1])
      assert.equal(after.metadata.resourceVersion, before.metadata.resourceVersion)
    },
    'PATCH that changes nothing: both called, resourceVersion stays': async (bench) => {
      const before = await bench.create(bench.widget('a'))
      const { counts } = await both(bench)
      const after = await mustBe(
        200,
        bench.admin.patch('merge-patch', bench.path('widgets', 'a'), { spec: { size: 1 } }),
      )
      assert.deepEqual(counts(), [1, 1])
      assert.equal(after.metadata.resourceVersion, before.metadata.resourceVersion)
    },
    'server-side apply that updates: UPDATE': async (bench) => {
      const path = `${bench.path('widgets', 'a')}?fieldManager=me`
      assertAccepted(await bench.admin.patch('apply-patch', path, bench.widget('a')), 201)
      const { requests } = await both(bench)
      assertAccepted(await bench.admin.patch('apply-patch', path, bench.widget('a', { size: 2 })))
      assert.deepEqual(names(requests().V), ['UPDATE', 'a'])
    },
    'UPDATE on dry run: both called with dryRun, nothing stored': async (bench) => {
      const before = await bench.create(bench.widget('a'))
      const { requests } = await both(bench)
      const path = `${bench.path('widgets', 'a')}?dryRun=All`
      const answer = await bench.admin.patch('merge-patch', path, { spec: { size: 2 } })
      assert.equal(answer.body.spec?.['size'], 2)
      assert.deepEqual([requests().M.dryRun, requests().V.dryRun], [true, true])
      assert.deepEqual(await bench.read('widgets', 'a'), before)
    },
    'PUT and PATCH of a missing object are 404, nobody is asked': async (bench) => {
      const { counts } = await both(bench)
      const put = await bench.admin.put(bench.path('widgets', 'a'), bench.widget('a', {}, { resourceVersion: '1' }))
      const patched = await bench.admin.patch('merge-patch', bench.path('widgets', 'a'), { spec: { size: 2 } })
      assert.deepEqual([put.code, patched.code], [404, 404])
      assert.deepEqual(counts(), [0, 0])
    },
    'a JSON Patch that does not apply: nobody is asked': async (bench) => {
      await bench.create(bench.widget('a'))
      const { counts } = await both(bench)
      const test = [{ op: 'test', path: '/spec/size', value: 99 }]
      assert.equal((await bench.admin.patch('json-patch', bench.path('widgets', 'a'), test)).code, 422)
      assert.deepEqual(counts(), [0, 0])
    },
    'after a timeout of the client the write has happened once or not at all': async (bench) => {
      await bench.create(bench.widget('a'))
      const slow: Behaviour = (received) =>
        new Promise((resolve) => setTimeout(() => resolve(allow(received) as never), 1_500))
      await bench.hook({ phase: 'validating', answer: slow, fields: { failurePolicy: 'Ignore' } })
      const path = `${bench.path('widgets', 'a')}?timeout=1s`
      await assertGivenUp(bench.admin.patch('merge-patch', path, { spec: { size: 2 } }))
      const { metadata } = await bench.read('widgets', 'a')
      assert.ok(metadata.generation === 1 || metadata.generation === 2)
    },
  }),
  ...section('1.8 status', {
    'a rule for widgets does not match widgets/status': async (bench) => {
      await bench.create(bench.widget('a'))
      const { counts } = await both(bench)
      await mustBe(200, patchStatus(bench, { phase: 'Ready' }))
      assert.deepEqual(counts(), [0, 0])
    },
    'a rule that lists widgets/status is told the subresource': async (bench) => {
      await bench.create(bench.widget('a'))
      const { requests } = await both(bench, { rules: withStatus })
      await mustBe(200, patchStatus(bench, { phase: 'Ready' }))
      const { M, V } = requests()
      assert.deepEqual([M.subResource, M.requestSubResource, V.subResource], ['status', 'status', 'status'])
      assert.equal(V.object?.metadata.generation, 1)
      assert.deepEqual(V.object?.status, { phase: 'Ready' })
    },
    'a rule for */* matches widgets/status': async (bench) => {
      await bench.create(bench.widget('a'))
      const rules = [{ apiGroups: [GROUP], apiVersions: ['*'], resources: ['*/*'], operations: ['UPDATE'] }]
      const { counts } = await both(bench, { rules })
      await mustBe(200, patchStatus(bench, { phase: 'Ready' }))
      assert.deepEqual(counts(), [1, 1])
    },
    'a rule for * does not match widgets/status': async (bench) => {
      await bench.create(bench.widget('a'))
      const rules = [{ apiGroups: [GROUP], apiVersions: ['*'], resources: ['*'], operations: ['UPDATE'] }]
      const { counts } = await both(bench, { rules })
      await mustBe(200, patchStatus(bench, { phase: 'Ready' }))
      assert.deepEqual(counts(), [0, 0])
    },
    'PUT of status: validating sees spec and metadata as they were': async (bench) => {
      const stored = await bench.create(bench.widget('a'))
      const { requests } = await both(bench, { rules: withStatus })
      const sent = {
        ...stored,
        metadata: { ...stored.metadata, labels: { a: 'b' } },
        spec: { title: 'other' },
        status: { phase: 'X' },
      }
      await mustBe(200, bench.admin.put(bench.path('widgets', 'a', 'status'), sent))
      const { V } = requests()
      assert.deepEqual(V.object?.spec, stored.spec)
      assert.equal(V.object?.metadata.labels, undefined)
      assert.deepEqual(V.object?.status, { phase: 'X' })
    },
    'an update through the main resource: validating sees the status as it was': async (bench) => {
      await bench.create(bench.widget('a'))
      await mustBe(200, patchStatus(bench, { phase: 'Ready' }))
      const { requests } = await both(bench)
      await mustBe(
        200,
        bench.admin.patch('merge-patch', bench.path('widgets', 'a'), {
          spec: { size: 2 },
          status: { phase: 'Forged' },
        }),
      )
      assert.deepEqual(requests().V.object?.status, { phase: 'Ready' })
    },
  }),
  ...section('1.8 delete', {
    'DELETE without finalizers: both called, then gone': async (bench) => {
      const stored = await bench.create(bench.widget('a'))
      const { requests } = await both(bench)
      const answer = await bench.admin.delete(bench.path('widgets', 'a'))
      assertAccepted(answer)
      const { M, V } = requests()
      for (const request of [M, V]) {
        assert.deepEqual(names(request), ['DELETE', 'a'])
        assert.equal(request.object, null)
        assert.equal(request.oldObject?.metadata.resourceVersion, stored.metadata.resourceVersion)
      }
      assert.equal((await bench.admin.get(bench.path('widgets', 'a'))).code, 404)
    },
    'DELETE with finalizers: both called before deletionTimestamp is set': async (bench) => {
      await bench.create(bench.widget('a', {}, { finalizers: [FINALIZER] }))
      const { requests } = await both(bench)
      assertAccepted(await bench.admin.delete(bench.path('widgets', 'a')))
      assert.equal(requests().V.oldObject?.metadata.deletionTimestamp, undefined)
      const { metadata } = await bench.read('widgets', 'a')
      assert.notEqual(metadata.deletionTimestamp, undefined)
      assert.deepEqual([metadata.deletionGracePeriodSeconds, metadata.generation], [0, 2])
    },
    'DELETE again while terminating: both called, nothing written': async (bench) => {
      await bench.create(bench.widget('a', {}, { finalizers: [FINALIZER] }))
      await bench.admin.delete(bench.path('widgets', 'a'))
      const before = await bench.read('widgets', 'a')
      const { requests } = await both(bench)
      assertAccepted(await bench.admin.delete(bench.path('widgets', 'a')))
      assert.equal(requests().V.oldObject?.metadata.deletionTimestamp, before.metadata.deletionTimestamp)
      assert.deepEqual(await bench.read('widgets', 'a'), before)
    },
    'the last finalizer goes: UPDATE, and the object is gone without a DELETE': async (bench) => {
      await bench.create(bench.widget('a', {}, { finalizers: [FINALIZER] }))
      await bench.admin.delete(bench.path('widgets', 'a'))
      const { requests } = await both(bench)
      assertAccepted(
        await bench.admin.patch('merge-patch', bench.path('widgets', 'a'), { metadata: { finalizers: null } }),
      )
      const { V } = requests()
      assert.deepEqual(names(V), ['UPDATE', 'a'])
      assert.notEqual(V.oldObject?.metadata.deletionTimestamp, undefined)
      assert.equal(V.object?.metadata.finalizers, undefined)
      assert.equal((await bench.admin.get(bench.path('widgets', 'a'))).code, 404)
    },
    'a denied last update keeps the object': async (bench) => {
      await bench.create(bench.widget('a', {}, { finalizers: [FINALIZER] }))
      await bench.admin.delete(bench.path('widgets', 'a'))
      await bench.hook({ phase: 'validating', answer: deny() })
      const answer = await bench.admin.patch('merge-patch', bench.path('widgets', 'a'), {
        metadata: { finalizers: null },
      })
      assertRefused(answer, { code: 400 })
      await bench.read('widgets', 'a')
    },
    'deletecollection: one DELETE an object, without a name': async (bench) => {
      for (const name of ['a', 'b']) await bench.create(bench.widget(name))
      const { mutating, validating } = await both(bench)
      assertAccepted(await bench.admin.delete(bench.path('widgets')))
      for (const hook of [mutating, validating]) {
        const requests = hook.reviews.map(({ request }) => request)
        assert.deepEqual(requests.map(names), Array(2).fill(['DELETE', undefined]))
        assert.deepEqual(requests.map(({ oldObject }) => oldObject?.metadata.name).sort(), ['a', 'b'])
        assert.ok(requests.every((request) => !('name' in request)))
      }
    },
    'deletecollection: a denial of one ends it with that denial': async (bench) => {
      for (const name of ['a', 'b', 'c']) await bench.create(bench.widget(name))
      const denyB: Behaviour = (received) =>
        (received.request.oldObject?.metadata.name === 'b' ? deny({ message: 'not b' }) : allow)(received)
      await bench.hook({ phase: 'validating', answer: denyB })
      assertRefused(await bench.admin.delete(bench.path('widgets')), { code: 400, message: /not b/ })
      await bench.read('widgets', 'b')
    },
    'DELETE of a missing object is 404, nobody is asked': async (bench) => {
      const { counts } = await both(bench)
      assert.equal((await bench.admin.delete(bench.path('widgets', 'a'))).code, 404)
      assert.deepEqual(counts(), [0, 0])
    },
    'DELETE on dry run: both called with dryRun, nothing deleted': async (bench) => {
      await bench.create(bench.widget('a'))
      const { requests } = await both(bench)
      assertAccepted(await bench.admin.delete(`${bench.path('widgets', 'a')}?dryRun=All`))
      assert.deepEqual([requests().M.dryRun, requests().V.dryRun], [true, true])
      await bench.read('widgets', 'a')
    },
    'a DELETE whose precondition fails is 409': async (bench) => {
      await bench.create(bench.widget('a'))
      const { counts } = await both(bench)
      const options = { preconditions: { uid: '00000000-0000-4000-8000-000000000000' } }
      assertRefused(await bench.admin.delete(bench.path('widgets', 'a'), options), { code: 409, reason: 'Conflict' })
      assert.deepEqual(counts(), [0, 0])
    },
    'the deletion of a CRD deletes its objects without asking anybody': async (bench) => {
      const plural = `doomed${bench.namespace.replaceAll('-', '')}s`
      const kind = 'Doomed'
      const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
      const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
      await mustBe(
        201,
        bench.admin.post(definitions, {
          metadata: { name: `${plural}.doomed.test` },
          spec: {
            group: 'doomed.test',
            scope: 'Namespaced',
            names: { plural, kind, singular: plural.slice(0, -1), listKind: 'DoomedList' },
            versions: [{ name: 'v1', served: true, storage: true, schema }],
          },
        }),
      )
      const collection = `/apis/doomed.test/v1/namespaces/${bench.namespace}/${plural}`
      await eventually(() => mustBe(200, bench.admin.get(collection)))
      const object = { apiVersion: 'doomed.test/v1', kind, metadata: { name: 'a', finalizers: [FINALIZER] } }
      await mustBe(201, bench.admin.post(collection, object))
      await mustBe(201, bench.admin.post(collection, { ...object, metadata: { name: 'b' } }))
      const rules = [{ apiGroups: ['doomed.test'], apiVersions: ['*'], resources: ['*'], operations: ['*'] }]
      const { mutating, validating, counts } = await both(bench, { rules })

      assertAccepted(await bench.admin.delete(`${definitions}/${plural}.doomed.test`))
      // What holds it is its finalizer; it is told so by a deletionTimestamp.
      await eventually(async () => {
        const { metadata } = await mustBe(200, bench.admin.get(`${collection}/a`))
        assert.notEqual(metadata.deletionTimestamp, undefined)
        assert.equal((await bench.admin.get(`${collection}/b`)).code, 404)
      })
      assert.deepEqual(counts(), [0, 0])

      await mustBe(200, bench.admin.patch('merge-patch', `${collection}/a`, { metadata: { finalizers: null } }))
      assert.deepEqual(
        [mutating, validating].map(({ reviews }) => only(reviews).request.operation),
        ['UPDATE', 'UPDATE'],
      )
      await eventually(async () => {
        assert.equal((await bench.admin.get(`${definitions}/${plural}.doomed.test`)).code, 404)
      }, 30_000)
    },
  }),
]

function patchStatus(bench: Bench, status: Record<string, unknown>) {
  return bench.admin.patch('merge-patch', bench.path('widgets', 'a', 'status'), { status })
}
