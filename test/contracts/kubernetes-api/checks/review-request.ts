import assert from 'node:assert/strict'
import { type Bench, clientOf, type Hook, mustBe } from '../bench.ts'
import { section } from '../contract-check.ts'
import { GROUP } from '../contract-crds.ts'
import type { ReceivedReview } from '../webhook-receiver.ts'
import { only } from './only.ts'

/** §1.1 and §1.2: what the API server sends. */
export const reviewRequestChecks = [
  ...section('1.1 wire', {
    'a review is POSTed to the path of the URL': async (bench) => {
      const { method, review, path } = await reviewOfCreate(bench)
      assert.equal(method, 'POST')
      assert.match(path, /^\/contract-\d+\/x-0$/)
      assert.deepEqual([review.apiVersion, review.kind], ['admission.k8s.io/v1', 'AdmissionReview'])
    },
    'a trailing slash of the URL is dropped': async (bench) => {
      const { main } = bench.receivers
      const hook = await bench.hook({ phase: 'validating', clientConfig: (path) => clientOf(main, `${path}/`) })
      await bench.create(bench.widget('a'))
      only(hook.reviews)
    },
    'the query is the timeout, 10s unless the webhook says otherwise, and nothing else': async (bench) => {
      assert.equal((await reviewOfCreate(bench)).query, 'timeout=10s')
    },
    'timeoutSeconds arrives as the timeout': async (bench) => {
      assert.equal((await reviewOfCreate(bench, { timeoutSeconds: 3 })).query, 'timeout=3s')
    },
    'what is left of the whole request bounds the timeout, rounded up to seconds': async (bench) => {
      const hook = await bench.hook({ phase: 'mutating' })
      await bench.create(bench.widget('a'), '?timeout=2s')
      assert.equal(only(hook.reviews).query, 'timeout=2s')
    },
    'the headers of a review': async (bench) => {
      const { headers, text } = await reviewOfCreate(bench)
      // Who calls is §1.4's; how the connection is kept is between the two HTTP libraries.
      const { host, authorization, connection, 'content-length': length, ...rest } = headers
      assert.equal(host, `127.0.0.1:${bench.receivers.main.port}`)
      assert.equal(Number(length), Buffer.byteLength(text))
      assert.deepEqual(
        { ...rest },
        {
          'content-type': 'application/json',
          accept: 'application/json, */*',
          'user-agent': 'kube-apiserver-admission',
          'accept-encoding': 'gzip',
        },
      )
    },
    'HTTP/1.1 is spoken with a webhook that offers nothing else': async (bench) => {
      assert.equal((await reviewOfCreate(bench)).httpVersion, '1.1')
    },
    'a webhook on a loopback address is offered HTTP/2 too': async (bench) => {
      await reviewOfCreate(bench)
      assert.deepEqual(bench.receivers.main.offeredProtocols(), ['h2', 'http/1.1'])
    },
    'reviews share a kept connection': async (bench) => {
      const hook = await bench.hook({ phase: 'mutating', receiver: bench.receivers.wildcard })
      for (const name of ['a', 'b', 'c']) await bench.create(bench.widget(name))
      assert.equal(hook.reviews.length, 3)
      assert.ok(new Set(hook.reviews.map(({ connection }) => connection)).size < 3)
    },
    'the first review version that the server knows is used': async (bench) => {
      const { review } = await reviewOfCreate(bench, { admissionReviewVersions: ['v7', 'v1', 'v1beta1'] })
      assert.equal(review.apiVersion, 'admission.k8s.io/v1')
    },
  }),
  ...section('1.2 request fields', {
    'CREATE: object, oldObject null, CreateOptions, dryRun false': async (bench) => {
      const { request } = await reviewOfCreate(bench)
      assert.equal(request.operation, 'CREATE')
      assert.equal(request.object?.kind, 'Widget')
      assert.equal(request.oldObject, null)
      assert.equal(request.dryRun, false)
      assert.deepEqual(
        [request.options?.['apiVersion'], request.options?.['kind']],
        ['meta.k8s.io/v1', 'CreateOptions'],
      )
    },
    'UPDATE by PUT: object, oldObject, UpdateOptions': async (bench) => {
      const { hook } = await hookAfterCreate(bench)
      const stored = await bench.read('widgets', 'a')
      await mustBe(200, bench.admin.put(`${bench.path('widgets', 'a')}?fieldManager=me`, { ...stored, spec: spec(5) }))
      const { request } = only(hook.reviews)
      assert.equal(request.operation, 'UPDATE')
      assert.equal(request.object?.spec?.['size'], 5)
      assert.equal(request.oldObject?.spec?.['size'], 1)
      const expected = { apiVersion: 'meta.k8s.io/v1', kind: 'UpdateOptions', fieldManager: 'me' }
      assert.deepEqual(request.options, expected)
    },
    'PATCH arrives as UPDATE with UpdateOptions': async (bench) => {
      const { hook } = await hookAfterCreate(bench)
      await mustBe(200, bench.admin.patch('merge-patch', bench.path('widgets', 'a'), { spec: { size: 5 } }))
      const { request } = only(hook.reviews)
      assert.equal(request.operation, 'UPDATE')
      assert.equal(request.options?.['kind'], 'UpdateOptions')
    },
    'DELETE: object null, oldObject, DeleteOptions as sent': async (bench) => {
      const { hook } = await hookAfterCreate(bench)
      await mustBe(
        200,
        bench.admin.delete(bench.path('widgets', 'a'), {
          apiVersion: 'v1',
          kind: 'DeleteOptions',
          propagationPolicy: 'Background',
        }),
      )
      const { request } = only(hook.reviews)
      assert.equal(request.operation, 'DELETE')
      assert.equal(request.object, null)
      assert.equal(request.oldObject?.metadata.name, 'a')
      assert.deepEqual(request.options, {
        apiVersion: 'meta.k8s.io/v1',
        kind: 'DeleteOptions',
        propagationPolicy: 'Background',
      })
    },
    'object, oldObject and options are there even when null; empty names are left out': async (bench) => {
      const { request } = await reviewOfCreate(bench)
      const keys = Object.keys(request)
      for (const key of ['object', 'oldObject', 'options', 'dryRun']) assert.ok(keys.includes(key), key)
      for (const key of ['subResource', 'requestSubResource']) assert.ok(!keys.includes(key), key)
    },
    'a cluster-scoped object has no namespace': async (bench) => {
      const name = `${bench.namespace}-globe`
      const hook = await bench.hook({
        phase: 'mutating',
        rules: [{ apiGroups: [GROUP], apiVersions: ['v1'], resources: ['globes'], operations: ['CREATE'] }],
        fields: { objectSelector: { matchLabels: { of: bench.namespace } } },
      })
      const metadata = { name, labels: { of: bench.namespace } }
      await mustBe(
        201,
        bench.admin.post(`/apis/${GROUP}/v1/globes`, { apiVersion: `${GROUP}/v1`, kind: 'Globe', metadata }),
      )
      const { request } = only(hook.reviews)
      assert.equal('namespace' in request, false)
      assert.equal(request.name, name)
    },
    'a namespaceSelector does not exempt cluster-scoped objects': async (bench) => {
      const metadata = { name: `${bench.namespace}-globe`, labels: { of: bench.namespace } }
      const hook = await bench.hook({
        phase: 'validating',
        rules: [{ apiGroups: [GROUP], apiVersions: ['v1'], resources: ['globes'], operations: ['CREATE'] }],
        fields: {
          namespaceSelector: { matchLabels: { no: 'such-label' } },
          objectSelector: { matchLabels: { of: bench.namespace } },
        },
      })
      await mustBe(
        201,
        bench.admin.post(`/apis/${GROUP}/v1/globes`, { apiVersion: `${GROUP}/v1`, kind: 'Globe', metadata }),
      )
      only(hook.reviews)
    },
    'every call has a uid of its own, which is not the object’s': async (bench) => {
      const mutating = await bench.hook({ phase: 'mutating' })
      const validating = await bench.hook({ phase: 'validating' })
      const { metadata } = await bench.create(bench.widget('a'))
      const uids = [only(mutating.reviews).request.uid, only(validating.reviews).request.uid, metadata.uid]
      assert.equal(new Set(uids).size, 3)
      for (const uid of uids) assert.match(uid ?? '', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    },
    'userInfo tells who asked': async (bench) => {
      const hook = await bench.hook({ phase: 'validating' })
      await mustBe(201, bench.plain.post(bench.path('widgets'), bench.widget('a')))
      const { userInfo } = only(hook.reviews).request
      assert.equal(userInfo.username, bench.server.plain.username)
      assert.deepEqual(userInfo.groups, bench.server.plain.groups)
    },
    'userInfo carries the groups of an admin': async (bench) => {
      const { userInfo } = (await reviewOfCreate(bench)).request
      assert.equal(userInfo.username, bench.server.admin.username)
      assert.deepEqual(userInfo.groups, bench.server.admin.groups)
    },
    'kind and resource, as asked for and as matched': async (bench) => {
      const { request } = await reviewOfCreate(bench)
      const kind = { group: GROUP, version: 'v1', kind: 'Widget' }
      const resource = { group: GROUP, version: 'v1', resource: 'widgets' }
      assert.deepEqual(
        [request.kind, request.requestKind, request.resource, request.requestResource],
        [kind, kind, resource, resource],
      )
    },
    'matchPolicy Equivalent: another version is converted, and told': async (bench) => {
      const hook = await gearHook(bench, 'Equivalent')
      await createOldGear(bench)
      const { request } = only(hook.reviews)
      assert.equal(request.kind['version'], 'v1')
      assert.equal(request.object?.apiVersion, `${GROUP}/v1`)
      assert.equal(request.requestKind?.['version'], 'v1beta1')
      assert.equal(request.requestResource?.['version'], 'v1beta1')
    },
    'matchPolicy Exact: another version is not matched': async (bench) => {
      const hook = await gearHook(bench, 'Exact')
      await createOldGear(bench)
      assert.equal(hook.reviews.length, 0)
    },
    'the objects of a review carry their managedFields': async (bench) => {
      const { request } = await reviewOfCreate(bench)
      assert.ok(request.object?.metadata.managedFields?.length)
    },
  }),
]

async function reviewOfCreate(bench: Bench, fields: Record<string, unknown> = {}): Promise<ReceivedReview> {
  const hook = await bench.hook({ phase: 'mutating', fields })
  await bench.create(bench.widget('a'))
  return only(hook.reviews)
}

async function hookAfterCreate(bench: Bench): Promise<{ hook: Hook }> {
  await bench.create(bench.widget('a'))
  return { hook: await bench.hook({ phase: 'validating' }) }
}

function spec(size: number): Record<string, unknown> {
  return { title: 'widget', size }
}

function gearHook(bench: Bench, matchPolicy: string): Promise<Hook> {
  return bench.hook({
    phase: 'mutating',
    rules: [{ apiGroups: [GROUP], apiVersions: ['v1'], resources: ['gears'], operations: ['CREATE'] }],
    fields: { matchPolicy },
  })
}

async function createOldGear(bench: Bench): Promise<void> {
  const gear = { apiVersion: `${GROUP}/v1beta1`, kind: 'Gear', metadata: { name: 'a' } }
  await mustBe(201, bench.admin.post(bench.path('gears').replace('/v1/', '/v1beta1/'), gear))
}
