import assert from 'node:assert/strict'
import { type Bench, mustBe } from '../bench.ts'
import { section } from '../contract-check.ts'
import { GROUP } from '../contract-crds.ts'
import { eventually } from '../eventually.ts'
import { assertAccepted, assertRefused } from './refused.ts'

/** Kinds the API server brings along, as far as we use them, and server-side apply. */
export const coreKindChecks = [
  ...section('namespaces', {
    'a namespace carries its name as a label, a finalizer in its spec, and is active': async (bench) => {
      const namespace = await mustBe(200, bench.admin.get(`/api/v1/namespaces/${bench.namespace}`))
      assert.deepEqual(namespace.metadata.labels, { 'kubernetes.io/metadata.name': bench.namespace })
      assert.deepEqual([namespace.spec, namespace.status], [{ finalizers: ['kubernetes'] }, { phase: 'Active' }])
    },
    'a deleted namespace is Terminating while something in it has finalizers': async (bench) => {
      const { status, metadata } = await terminating(bench)
      assert.equal((status as { phase: string }).phase, 'Terminating')
      assert.notEqual(metadata.deletionTimestamp, undefined)
    },
    'nothing can be created in a namespace that is Terminating': async (bench) => {
      await terminating(bench)
      const answer = await bench.admin.post(bench.path('widgets'), bench.widget('b'))
      assertRefused(answer, {
        code: 403,
        reason: 'Forbidden',
        message: `widgets.contract.test "b" is forbidden: unable to create new content in namespace ${bench.namespace} because it is being terminated`,
      })
      assert.deepEqual(answer.body.details?.causes, [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${bench.namespace} is being terminated`,
          field: 'metadata.namespace',
        },
      ])
    },
    'in a namespace that is Terminating objects can be changed and deleted': async (bench) => {
      await terminating(bench)
      assertAccepted(await bench.admin.patch('merge-patch', bench.path('widgets', 'a'), { spec: { size: 2 } }))
      assertAccepted(await bench.admin.delete(bench.path('widgets', 'a')))
    },
    'an Event cannot be created in a namespace that is Terminating': async (bench) => {
      await terminating(bench)
      assertRefused(await bench.admin.post(bench.core('events'), event(bench)), { code: 403, reason: 'Forbidden' })
    },
    'default and kube-system are there': async (bench) => {
      for (const name of ['default', 'kube-system']) await mustBe(200, bench.admin.get(`/api/v1/namespaces/${name}`))
    },
    'the default namespace cannot be deleted': async (bench) => {
      assertRefused(await bench.admin.delete('/api/v1/namespaces/default'), { code: 403, reason: 'Forbidden' })
    },
  }),
  ...section('events', {
    'an Event is created and counted up': async (bench) => {
      await mustBe(201, bench.admin.post(bench.core('events'), event(bench)))
      const answer = await bench.admin.patch('merge-patch', bench.core('events', 'seen'), { count: 2 })
      assertAccepted(answer)
      assert.equal(answer.body['count'], 2)
    },
    'an Event of a name that is taken is 409': async (bench) => {
      await mustBe(201, bench.admin.post(bench.core('events'), event(bench)))
      assertRefused(await bench.admin.post(bench.core('events'), event(bench)), { code: 409, reason: 'AlreadyExists' })
    },
    'an Event about an object of another namespace is 422': async (bench) => {
      const other = { ...event(bench), involvedObject: { kind: 'Widget', namespace: 'default', name: 'a' } }
      assertRefused(await bench.admin.post(bench.core('events'), other), {
        code: 422,
        reason: 'Invalid',
        message: /involvedObject\.namespace: Invalid value/,
      })
    },
    'an Event about a cluster-scoped object belongs into default': async (bench) => {
      const about = { ...event(bench), involvedObject: { kind: 'Globe', name: 'a' } }
      assertRefused(await bench.admin.post(bench.core('events'), about), { code: 422, reason: 'Invalid' })
    },
  }),
  ...section('leases', {
    'a Lease keeps its times to the microsecond': async (bench) => {
      const stored = await mustBe(201, bench.admin.post(leases(bench), lease()))
      assert.equal(stored.spec?.['renewTime'], '2026-01-02T03:04:05.678901Z')
    },
    'a taken name is 409: of two who create it one holds it': async (bench) => {
      const answers = await Promise.all(['one', 'two'].map((holder) => bench.admin.post(leases(bench), lease(holder))))
      assert.deepEqual(answers.map(({ code }) => code).sort(), [201, 409])
    },
    'of two who take it over from the same resourceVersion one holds it': async (bench) => {
      const stored = await mustBe(201, bench.admin.post(leases(bench), lease()))
      const takeOver = (holder: string) =>
        bench.admin.put(`${leases(bench)}/lock`, { ...lease(holder), metadata: stored.metadata })
      const answers = await Promise.all(['two', 'three'].map(takeOver))
      assert.deepEqual(answers.map(({ code }) => code).sort(), [200, 409])
      const { spec } = await mustBe(200, bench.admin.get(`${leases(bench)}/lock`))
      const winner = answers.find(({ code }) => code === 200)?.body.spec?.['holderIdentity']
      assert.equal(spec?.['holderIdentity'], winner)
    },
    'a deletion by resourceVersion fails once somebody has written': async (bench) => {
      const { metadata } = await mustBe(201, bench.admin.post(leases(bench), lease()))
      const { resourceVersion } = metadata
      const path = `${leases(bench)}/lock`
      await mustBe(200, bench.admin.patch('merge-patch', path, { metadata: { annotations: { again: 'yes' } } }))
      assertRefused(await bench.admin.delete(path, { preconditions: { resourceVersion } }), {
        code: 409,
        reason: 'Conflict',
      })
    },
    'a PUT without resourceVersion is refused': async (bench) => {
      await mustBe(201, bench.admin.post(leases(bench), lease()))
      const answer = await bench.admin.put(`${leases(bench)}/lock`, lease('two'))
      assertRefused(answer, { code: 422, reason: 'Invalid', message: /metadata\.resourceVersion/ })
    },
    'leaseDurationSeconds must be positive': async (bench) => {
      const wrong = { metadata: { name: 'lock' }, spec: { holderIdentity: 'a', leaseDurationSeconds: 0 } }
      assertRefused(await bench.admin.post(leases(bench), wrong), {
        code: 422,
        reason: 'Invalid',
        message: /spec\.leaseDurationSeconds: Invalid value: 0: must be greater than 0/,
      })
    },
    'a patch with a stale resourceVersion is 409': async (bench) => {
      await mustBe(201, bench.admin.post(leases(bench), lease()))
      const patch = { metadata: { resourceVersion: '1' }, spec: { holderIdentity: 'two' } }
      assertRefused(await bench.admin.patch('merge-patch', `${leases(bench)}/lock`, patch), {
        code: 409,
        reason: 'Conflict',
      })
    },
  }),
  ...section('services', {
    'a Service gets its defaults and an address': async (bench) => {
      const { spec } = await mustBe(
        201,
        bench.admin.post(bench.core('services'), { metadata: { name: 'a' }, spec: { ports: [{ port: 80 }] } }),
      )
      assert.equal(spec?.['type'], 'ClusterIP')
      assert.match(String(spec?.['clusterIP']), /^\d+\.\d+\.\d+\.\d+$/)
      assert.deepEqual(spec?.['ports'], [{ port: 80, protocol: 'TCP', targetPort: 80 }])
      assert.deepEqual([spec?.['sessionAffinity'], spec?.['internalTrafficPolicy']], ['None', 'Cluster'])
    },
    'a Service of type LoadBalancer gets node ports': async (bench) => {
      const { spec } = await mustBe(
        201,
        bench.admin.post(bench.core('services'), {
          metadata: { name: 'a' },
          spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
        }),
      )
      assert.equal(spec?.['allocateLoadBalancerNodePorts'], true)
      assert.equal(spec?.['externalTrafficPolicy'], 'Cluster')
      const [port] = (spec?.['ports'] ?? []) as { nodePort?: number }[]
      assert.ok((port?.nodePort ?? 0) >= 30_000)
    },
    'a Service without ports is 422': async (bench) => {
      const answer = await bench.admin.post(bench.core('services'), { metadata: { name: 'a' }, spec: {} })
      assertRefused(answer, { code: 422, reason: 'Invalid', message: /spec\.ports: Required value/ })
    },
    'loadBalancerClass cannot change while the type stays': async (bench) => {
      const service = {
        metadata: { name: 'a' },
        spec: { type: 'LoadBalancer', loadBalancerClass: 'contract.test/one', ports: [{ port: 80 }] },
      }
      await mustBe(201, bench.admin.post(bench.core('services'), service))
      const patch = { spec: { loadBalancerClass: 'contract.test/two' } }
      const answer = await bench.admin.patch('merge-patch', bench.core('services', 'a'), patch)
      assertRefused(answer, { code: 422, reason: 'Invalid', message: /spec\.loadBalancerClass: Invalid value/ })
    },
    'a Service reviewed: the same stages as for custom kinds': async (bench) => {
      const rules = [
        { apiGroups: [''], apiVersions: ['v1'], resources: ['services'], operations: ['CREATE', 'DELETE'] },
      ]
      const mutating = await bench.hook({ phase: 'mutating', rules })
      const validating = await bench.hook({ phase: 'validating', rules })
      const { metadata } = await mustBe(
        201,
        bench.admin.post(bench.core('services'), { metadata: { name: 'a' }, spec: { ports: [{ port: 80 }] } }),
      )
      await mustBe(200, bench.admin.delete(bench.core('services', 'a')))
      const operations = [mutating, validating].map(({ reviews }) => reviews.map(({ request }) => request.operation))
      assert.deepEqual(operations, [
        ['CREATE', 'DELETE'],
        ['CREATE', 'DELETE'],
      ])
      assert.equal(validating.reviews[0]?.request.object?.metadata.uid, metadata.uid)
      assert.equal(mutating.reviews[0]?.request.object?.metadata.uid, undefined)
    },
    'a ConfigMap may be replaced without a resourceVersion': async (bench) => {
      await bench.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } })
      const answer = await bench.admin.put(bench.core('configmaps', 'a'), { metadata: { name: 'a' }, data: { x: 'y' } })
      assertAccepted(answer)
    },
    'stringData of a Secret becomes data': async (bench) => {
      const secret = { metadata: { name: 'a' }, stringData: { word: 'open' } }
      const stored = await mustBe(201, bench.admin.post(bench.core('secrets'), secret))
      assert.deepEqual(
        [stored['data'], stored['stringData'], stored['type']],
        [{ word: 'b3Blbg==' }, undefined, 'Opaque'],
      )
    },
    'who asks may ask what they may do': async (bench) => {
      const review = { spec: { resourceAttributes: { verb: 'list', resource: 'widgets', group: GROUP } } }
      const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
      const answer = await bench.admin.post(path, {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        ...review,
      })
      assertAccepted(answer, 201)
      assert.equal((answer.body.status as { allowed: boolean }).allowed, true)
    },
  }),
  ...section('server-side apply', {
    'apply needs a fieldManager': async (bench) => {
      const answer = await bench.admin.patch('apply-patch', bench.path('widgets', 'a'), bench.widget('a'))
      assertRefused(answer, { code: 422, reason: 'Invalid', message: /fieldManager: Required value/ })
    },
    'apply creates with 201 and changes with 200': async (bench) => {
      assertAccepted(await apply(bench, 'me', { title: 'one' }), 201)
      const answer = await apply(bench, 'me', { title: 'two' })
      assertAccepted(answer)
      assert.equal(answer.body.spec?.['title'], 'two')
    },
    'applying the same again changes nothing': async (bench) => {
      const first = await apply(bench, 'me', { title: 'one' })
      const second = await apply(bench, 'me', { title: 'one' })
      assert.equal(second.body.metadata.resourceVersion, first.body.metadata.resourceVersion)
    },
    'what a manager no longer applies goes': async (bench) => {
      await apply(bench, 'me', { title: 'one', color: 'red' })
      const answer = await apply(bench, 'me', { title: 'one' })
      assert.equal(answer.body.spec?.['color'], undefined)
    },
    'a field of another manager is a conflict': async (bench) => {
      await apply(bench, 'me', { title: 'one' })
      const answer = await apply(bench, 'other', { title: 'two' })
      assertRefused(answer, { code: 409, reason: 'Conflict', message: /conflict with "me": \.spec\.title/ })
      assert.deepEqual(
        answer.body.details?.causes?.map(({ reason, field }) => [reason, field]),
        [['FieldManagerConflict', '.spec.title']],
      )
    },
    'the same value is no conflict': async (bench) => {
      await apply(bench, 'me', { title: 'one' })
      assertAccepted(await apply(bench, 'other', { title: 'one' }))
    },
    'force takes it over': async (bench) => {
      await apply(bench, 'me', { title: 'one' })
      const answer = await apply(bench, 'other', { title: 'two' }, '&force=true')
      assertAccepted(answer)
      assert.equal(answer.body.spec?.['title'], 'two')
    },
    'managedFields tell who applied what': async (bench) => {
      const { body } = await apply(bench, 'me', { title: 'one' })
      const managers = body.metadata.managedFields?.map(({ manager, operation }) => [manager, operation])
      assert.deepEqual(managers, [['me', 'Apply']])
    },
    'an apply with managedFields is refused': async (bench) => {
      const object = bench.widget('a', {}, { managedFields: [{ manager: 'x', operation: 'Apply' }] })
      const answer = await bench.admin.patch('apply-patch', `${bench.path('widgets', 'a')}?fieldManager=me`, object)
      assertRefused(answer, { code: 400, reason: 'BadRequest', message: /managedFields must be nil/ })
    },
    'conditions: each manager keeps its own': async (bench) => {
      await bench.create(bench.widget('a'))
      assertAccepted(await applyConditions(bench, 'one', [{ type: 'Ready', status: 'True' }]))
      const both = await applyConditions(bench, 'two', [{ type: 'Synced', status: 'False' }])
      assert.deepEqual(typesOf(both.body.status), ['Ready', 'Synced'])
      const without = await applyConditions(bench, 'one', [])
      assert.deepEqual(typesOf(without.body.status), ['Synced'])
    },
    'conditions: an empty list for the only one is refused, where another manager has had something in the status':
      async (bench) => {
        await bench.create(bench.widget('a'))
        const write = (phase: string | null) =>
          bench.admin.patch('merge-patch', bench.path('widgets', 'a', 'status'), { status: { phase } })
        await mustBe(200, write('Done'))
        await applyConditions(bench, 'one', [{ type: 'Ready', status: 'True' }])
        await mustBe(200, write(null))
        const answer = await applyConditions(bench, 'one', [])
        assertRefused(answer, { code: 422, reason: 'Invalid', message: /status: Invalid value: "?null"?/ })
      },
    'conditions: one that another manager wrote stays as it is': async (bench) => {
      await bench.create(bench.widget('a'))
      await mustBe(
        200,
        bench.admin.patch('merge-patch', bench.path('widgets', 'a', 'status'), {
          status: { conditions: [{ type: 'Core', status: 'True', reason: 'Theirs' }] },
        }),
      )
      const answer = await applyConditions(bench, 'one', [{ type: 'Ready', status: 'True' }])
      assert.deepEqual((answer.body.status as { conditions: unknown }).conditions, [
        { type: 'Core', status: 'True', reason: 'Theirs' },
        { type: 'Ready', status: 'True' },
      ])
    },
    'conditions: applying the same again changes nothing': async (bench) => {
      await bench.create(bench.widget('a'))
      const first = await applyConditions(bench, 'one', [{ type: 'Ready', status: 'True' }])
      const second = await applyConditions(bench, 'one', [{ type: 'Ready', status: 'True' }])
      assert.equal(second.body.metadata.resourceVersion, first.body.metadata.resourceVersion)
    },
    'conditions: one of another manager with another value is a conflict': async (bench) => {
      await bench.create(bench.widget('a'))
      await applyConditions(bench, 'one', [{ type: 'Ready', status: 'True' }])
      const answer = await applyConditions(bench, 'two', [{ type: 'Ready', status: 'False' }])
      assertRefused(answer, { code: 409, reason: 'Conflict' })
      assert.deepEqual(
        answer.body.details?.causes?.map(({ field }) => field),
        ['.status.conditions[type="Ready"].status'],
      )
    },
    'apply of the status of a missing object is 404': async (bench) => {
      assert.equal((await applyConditions(bench, 'one', [])).code, 404)
    },
    'apply with another uid is 422': async (bench) => {
      await bench.create(bench.widget('a'))
      const object = bench.widget('a', {}, { uid: '00000000-0000-4000-8000-000000000000' })
      const path = `${bench.path('widgets', 'a')}?fieldManager=me&force=true`
      const answer = await bench.admin.patch('apply-patch', path, object)
      assertRefused(answer, { code: 422, reason: 'Invalid', message: /metadata\.uid: .*: field is immutable/ })
    },
    'apply with a stale resourceVersion is 409': async (bench) => {
      await bench.create(bench.widget('a'))
      const path = `${bench.path('widgets', 'a')}?fieldManager=me&force=true`
      const answer = await bench.admin.patch('apply-patch', path, bench.widget('a', {}, { resourceVersion: '1' }))
      assertRefused(answer, { code: 409, reason: 'Conflict' })
    },
    'apply with a resourceVersion creates what is missing nevertheless': async (bench) => {
      const object = bench.widget('a', {}, { resourceVersion: '1' })
      assertAccepted(
        await bench.admin.patch('apply-patch', `${bench.path('widgets', 'a')}?fieldManager=me`, object),
        201,
      )
    },
    'lists with keys merge by key': async (bench) => {
      await apply(bench, 'me', { title: 'one', ports: [{ port: 80, name: 'http' }] })
      const answer = await apply(bench, 'other', { title: 'one', ports: [{ port: 443, name: 'https' }] })
      assert.deepEqual(answer.body.spec?.['ports'], [
        { port: 80, name: 'http' },
        { port: 443, name: 'https' },
      ])
    },
  }),
]

async function terminating(bench: Bench) {
  const path = `/api/v1/namespaces/${bench.namespace}`
  await bench.create(bench.widget('a', {}, { finalizers: ['contract.test/hold'] }))
  await mustBe(200, bench.admin.delete(path))
  return await eventually(async () => {
    const namespace = await mustBe(200, bench.admin.get(path))
    // Admission learns of it a moment later than readers.
    const probe = await bench.admin.post(`${bench.core('configmaps')}?dryRun=All`, { metadata: { name: 'probe' } })
    assert.equal(probe.code, 403, 'not yet Terminating for everyone')
    return namespace
  })
}

function event({ namespace }: Bench) {
  return {
    metadata: { name: 'seen' },
    involvedObject: { kind: 'Widget', apiVersion: `${GROUP}/v1`, namespace, name: 'a' },
    reason: 'Seen',
    message: 'seen',
    type: 'Normal',
    count: 1,
    firstTimestamp: '2026-01-02T03:04:05Z',
    lastTimestamp: '2026-01-02T03:04:05Z',
    source: { component: 'contract' },
  }
}

function leases({ namespace }: Bench): string {
  return `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`
}

function lease(holderIdentity = 'one') {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'lock' },
    spec: { holderIdentity, leaseDurationSeconds: 15, renewTime: '2026-01-02T03:04:05.678901Z' },
  }
}

function apply(bench: Bench, manager: string, spec: Record<string, unknown>, query = '') {
  const object = { apiVersion: `${GROUP}/v1`, kind: 'Widget', metadata: { name: 'a' }, spec }
  return bench.admin.patch('apply-patch', `${bench.path('widgets', 'a')}?fieldManager=${manager}${query}`, object)
}

function applyConditions(bench: Bench, manager: string, conditions: Record<string, unknown>[]) {
  const object = { apiVersion: `${GROUP}/v1`, kind: 'Widget', metadata: { name: 'a' }, status: { conditions } }
  return bench.admin.patch('apply-patch', `${bench.path('widgets', 'a', 'status')}?fieldManager=${manager}`, object)
}

function typesOf(status: unknown): string[] {
  return ((status as { conditions?: { type: string }[] }).conditions ?? []).map(({ type }) => type).sort()
}
