import assert from 'node:assert/strict'
import { type Answer, createApiClient } from '../api-client.ts'
import { type Bench, mustBe } from '../bench.ts'
import { section } from '../contract-check.ts'
import { GROUP } from '../contract-crds.ts'
import { assertAccepted, assertRefused } from './refused.ts'

function assertNotFoundObject(answer: Answer, resource: string, name: string): void {
  const [kind = '', ...rest] = resource.split('.')
  const group = rest.join('.')
  assertRefused(answer, { code: 404, reason: 'NotFound', message: `${resource} "${name}" not found` })
  assert.deepEqual(answer.body.details, { name, ...(group === '' ? {} : { group }), kind })
}

function assertUnknownKind(answer: Answer): void {
  assert.equal(answer.code, 404, answer.text)
  // No Status for what is not served at all, only text; none of it names an object.
  assert.equal(answer.body.details?.name, undefined)
}

/** How the API server says no. */
export const errorChecks = [
  ...section('errors: not there', {
    'GET of a missing object names it': async (bench) =>
      assertNotFoundObject(await bench.admin.get(bench.path('widgets', 'a')), 'widgets.contract.test', 'a'),
    'GET of a missing core object names it': async (bench) =>
      assertNotFoundObject(await bench.admin.get(bench.core('configmaps', 'a')), 'configmaps', 'a'),
    'DELETE of a missing object names it': async (bench) =>
      assertNotFoundObject(await bench.admin.delete(bench.path('widgets', 'a')), 'widgets.contract.test', 'a'),
    'PATCH of a missing object names it': async (bench) =>
      assertNotFoundObject(
        await bench.admin.patch('merge-patch', bench.path('widgets', 'a'), {}),
        'widgets.contract.test',
        'a',
      ),
    'PATCH of the status of a missing object names it': async (bench) =>
      assertNotFoundObject(
        await bench.admin.patch('merge-patch', bench.path('widgets', 'a', 'status'), { status: {} }),
        'widgets.contract.test',
        'a',
      ),
    'PUT of a missing object names it': async (bench) =>
      assertNotFoundObject(
        await bench.admin.put(bench.path('widgets', 'a'), bench.widget('a', {}, { resourceVersion: '1' })),
        'widgets.contract.test',
        'a',
      ),
    'an unknown kind names no object': async (bench) =>
      assertUnknownKind(await bench.admin.get(bench.path('nosuches', 'a'))),
    'an unknown group names no object': async (bench) =>
      assertUnknownKind(await bench.admin.get(`/apis/nowhere.test/v1/namespaces/${bench.namespace}/widgets/a`)),
    'an unknown version names no object': async (bench) =>
      assertUnknownKind(await bench.admin.get(bench.path('widgets', 'a').replace('/v1/', '/v9/'))),
    'an unknown core kind is a Status without a name': async (bench) => {
      const answer = await bench.admin.get(bench.core('nosuches', 'a'))
      const message = 'the server could not find the requested resource'
      assertRefused(answer, { code: 404, reason: 'NotFound', message })
      assert.equal(answer.body.details?.name, undefined)
    },
    'a status that a kind does not have is 404 in the words of a missing object': async (bench) => {
      const gizmo = { apiVersion: `${GROUP}/v1`, kind: 'Gizmo', metadata: { name: 'a' } }
      await mustBe(201, bench.admin.post(bench.path('gizmos'), gizmo))
      const answer = await bench.admin.get(bench.path('gizmos', 'a', 'status'))
      assertNotFoundObject(answer, 'gizmos.contract.test', 'a')
    },
    'creating in a missing namespace': async (bench) =>
      assertNotFoundObject(
        await bench.admin.post(
          `/apis/${GROUP}/v1/namespaces/nowhere/widgets`,
          bench.widget('a', {}, { namespace: 'nowhere' }),
        ),
        'namespaces',
        'nowhere',
      ),
    'creating a core object in a missing namespace': async (bench) =>
      assertNotFoundObject(
        await bench.admin.post('/api/v1/namespaces/nowhere/configmaps', { metadata: { name: 'a' } }),
        'namespaces',
        'nowhere',
      ),
    'listing in a missing namespace is an empty list': async (bench) => {
      const list = await mustBe(200, bench.admin.get(`/apis/${GROUP}/v1/namespaces/nowhere/widgets`))
      assert.deepEqual(list.items, [])
    },
  }),
  ...section('errors: conflicts', {
    'POST of a name that is taken': async (bench) => {
      await bench.create(bench.widget('a'))
      const answer = await bench.admin.post(bench.path('widgets'), bench.widget('a'))
      assertRefused(answer, { code: 409, reason: 'AlreadyExists', message: 'widgets.contract.test "a" already exists' })
      assert.deepEqual(answer.body.details, { name: 'a', group: GROUP, kind: 'widgets' })
    },
    'POST of a core name that is taken': async (bench) => {
      const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
      await bench.create(configMap)
      const answer = await bench.admin.post(bench.core('configmaps'), configMap)
      assertRefused(answer, { code: 409, reason: 'AlreadyExists', message: 'configmaps "a" already exists' })
    },
  }),
  ...section('errors: who', {
    'an unknown token is 401': async (bench) => {
      const stranger = createApiClient({ url: bench.server.url, caPem: bench.server.caPem, token: 'nobody' })
      const answer = await stranger.get(bench.path('widgets'))
      await stranger.close()
      assertRefused(answer, { code: 401, reason: 'Unauthorized', message: 'Unauthorized' })
    },
    'what RBAC does not allow is 403, with user, verb and resource': async (bench) => {
      const answer = await bench.plain.get(bench.core('secrets'))
      const message = `secrets is forbidden: User "plain" cannot list resource "secrets" in API group "" in the namespace "${bench.namespace}"`
      assertRefused(answer, { code: 403, reason: 'Forbidden', message })
    },
  }),
  ...section('errors: requests', {
    'a body that is no JSON is 400': async (bench) => {
      const answer = await bench.admin.call('POST', bench.path('widgets'), { body: '{' })
      assertRefused(answer, { code: 400, reason: 'BadRequest' })
    },
    'an empty body is 400': async (bench) => {
      const answer = await bench.admin.call('POST', bench.path('widgets'), { body: '' })
      assertRefused(answer, { code: 400, reason: 'BadRequest' })
    },
    'another name than in the path is 400': async (bench) => {
      const { metadata } = await bench.create(bench.widget('a'))
      const { resourceVersion } = metadata
      const answer = await bench.admin.put(bench.path('widgets', 'a'), bench.widget('b', {}, { resourceVersion }))
      assertRefused(answer, {
        code: 400,
        reason: 'BadRequest',
        message: 'the name of the object (b) does not match the name on the URL (a)',
      })
    },
    'another namespace than in the path is 400': async (bench) => {
      const answer = await bench.admin.post(bench.path('widgets'), bench.widget('a', {}, { namespace: 'default' }))
      assertRefused(answer, {
        code: 400,
        reason: 'BadRequest',
        message: `the namespace of the provided object does not match the namespace sent on the request`,
      })
    },
    'another kind than in the path is 422': async (bench) => {
      const answer = await bench.admin.post(bench.path('widgets'), { ...bench.widget('a'), kind: 'Gizmo' })
      assertRefused(answer, {
        code: 422,
        reason: 'Invalid',
        message: 'Gizmo.contract.test "a" is invalid: kind: Invalid value: "Gizmo": must be Widget',
      })
    },
    'another apiVersion than in the path is 400': async (bench) => {
      const answer = await bench.admin.post(bench.path('widgets'), {
        ...bench.widget('a'),
        apiVersion: 'other.test/v1',
      })
      assertRefused(answer, { code: 400, reason: 'BadRequest' })
    },
    'a custom object without kind is 400': async (bench) => {
      const answer = await bench.admin.post(bench.path('widgets'), { metadata: { name: 'a' }, spec: { title: 'a' } })
      assertRefused(answer, { code: 400, reason: 'BadRequest' })
    },
    'a core object needs neither kind nor apiVersion': async (bench) =>
      assertAccepted(await bench.admin.post(bench.core('configmaps'), { metadata: { name: 'a' } }), 201),
    'neither name nor generateName is 422': async (bench) => {
      const answer = await bench.admin.post(bench.path('widgets'), bench.widget('a', {}, { name: undefined }))
      assertRefused(answer, { code: 422, reason: 'Invalid', message: /name or generateName is required/ })
    },
    'a name that is no DNS name is 422': async (bench) => {
      const answer = await bench.admin.post(bench.path('widgets'), bench.widget('A_b'))
      assertRefused(answer, { code: 422, reason: 'Invalid', message: /metadata\.name: Invalid value: "A_b"/ })
    },
    'a label that is none is 422': async (bench) => {
      const answer = await bench.admin.post(
        bench.path('widgets'),
        bench.widget('a', {}, { labels: { a: 'no spaces' } }),
      )
      assertRefused(answer, { code: 422, reason: 'Invalid', message: /metadata\.labels: Invalid value: "no spaces"/ })
    },
    'an annotation key that is none is 422': async (bench) => {
      const answer = await bench.admin.post(
        bench.path('widgets'),
        bench.widget('a', {}, { annotations: { 'a b': '' } }),
      )
      assertRefused(answer, { code: 422, reason: 'Invalid', message: /metadata\.annotations: Invalid value: "a b"/ })
    },
    'POST to a core object is 405': async (bench) => {
      const answer = await bench.admin.post(bench.core('configmaps', 'a'), { metadata: { name: 'a' } })
      assertRefused(answer, { code: 405, reason: 'MethodNotAllowed' })
    },
    'PUT to a collection of core objects is 405': async (bench) => {
      const answer = await bench.admin.put(bench.core('configmaps'), { metadata: { name: 'a' } })
      assertRefused(answer, { code: 405, reason: 'MethodNotAllowed' })
    },
    'POST to a custom object is as to its collection': async (bench) => {
      await bench.create(bench.widget('a'))
      const answer = await bench.admin.post(bench.path('widgets', 'a'), bench.widget('a'))
      assertRefused(answer, { code: 409, reason: 'AlreadyExists' })
    },
    'PUT to a collection of custom objects is 400': async (bench) => {
      const answer = await bench.admin.put(bench.path('widgets'), bench.widget('a'))
      assertRefused(answer, { code: 400, reason: 'BadRequest', message: 'name must be provided' })
    },
    'POST to a status is 405': async (bench) => {
      await bench.create(bench.widget('a'))
      const answer = await bench.admin.post(bench.path('widgets', 'a', 'status'), bench.widget('a'))
      assertRefused(answer, { code: 405, reason: 'MethodNotAllowed' })
    },
    'an answer that nobody can give is 406': async (bench) => {
      const answer = await bench.admin.get(bench.path('widgets'), 'image/png')
      assertRefused(answer, { code: 406, reason: 'NotAcceptable' })
    },
    'a body of another media type is 415': async (bench) => {
      const options = { body: 'a', contentType: 'text/plain' }
      const answer = await bench.admin.call('POST', bench.path('widgets'), options)
      assertRefused(answer, { code: 415, reason: 'UnsupportedMediaType' })
    },
    'a body beyond 3 MiB is 413, and the next request is answered': async (bench) => {
      const { url, caPem, admin } = bench.server
      // A client of its own, whose connections are no other check's.
      const client = createApiClient({ url, caPem, token: admin.token, limitMs: 10_000 })
      const wide = bench.widget('a', { free: { x: 'x'.repeat(3_200_000) } })
      try {
        assertRefused(await client.post(bench.path('widgets'), wide), { code: 413, reason: 'RequestEntityTooLarge' })
        for (let turn = 0; turn < 3; turn++) assertAccepted(await client.get(bench.path('widgets')))
      } finally {
        await client.close()
      }
    },
    'YAML is understood': async (bench) => {
      const body = JSON.stringify(bench.widget('a'))
      assertAccepted(
        await bench.admin.call('POST', bench.path('widgets'), { body, contentType: 'application/yaml' }),
        201,
      )
    },
    'an unknown dryRun is refused': async (bench) => {
      const answer = await bench.admin.post(`${bench.path('widgets')}?dryRun=Some`, bench.widget('a'))
      assertRefused(answer, { code: 422, reason: 'Invalid', message: /dryRun: Unsupported value/ })
    },
  }),
  ...section('errors: schema', {
    'a missing required field': (bench) => refusesSpec(bench, { title: undefined }, /spec\.title: Required value/),
    'another type': (bench) =>
      refusesSpec(
        bench,
        { size: 'x' },
        /spec\.size: Invalid value: "string": spec\.size in body must be of type integer: "string"/,
      ),
    'below the minimum': (bench) =>
      refusesSpec(
        bench,
        { size: -1 },
        /spec\.size: Invalid value: -1: spec\.size in body should be greater than or equal to 0/,
      ),
    'not among the values': (bench) =>
      refusesSpec(
        bench,
        { color: 'pink' },
        /spec\.color: Unsupported value: "pink": supported values: "red", "green", "blue"/,
      ),
    'not of the pattern': (bench) => refusesSpec(bench, { title: 'Upper' }, /spec\.title: Invalid value: "Upper"/),
    'too long': (bench) =>
      refusesSpec(bench, { title: 'x'.repeat(21) }, /spec\.title: Too long: may not be more than 20 bytes/),
    'too many': (bench) =>
      refusesSpec(bench, { tags: ['a', 'b', 'c', 'd'] }, /spec\.tags: Too many: 4: must have at most 3 items/),
    'two entries of the same key': (bench) =>
      refusesSpec(bench, { ports: [{ port: 1 }, { port: 1 }] }, /spec\.ports\[1\]: Duplicate value: \{"port":1\}/),
    'the causes name field and reason': async (bench) => {
      const answer = await bench.admin.post(bench.path('widgets'), bench.widget('a', { size: 101, title: undefined }))
      assertRefused(answer, { code: 422, reason: 'Invalid' })
      const { details } = answer.body
      assert.deepEqual([details?.name, details?.group, details?.kind], ['a', GROUP, 'Widget'])
      const causes = details?.causes?.map(({ field, reason }) => [field, reason]).sort()
      assert.deepEqual(causes, [
        ['spec.size', 'FieldValueInvalid'],
        ['spec.title', 'FieldValueRequired'],
      ])
    },
    'null for a field that may not be null is dropped where there is a default': async (bench) => {
      const stored = await bench.create(bench.widget('a', { size: null }))
      assert.equal(stored.spec?.['size'], 1)
    },
    'null for a field without default is dropped too': async (bench) => {
      const stored = await bench.create(bench.widget('a', { color: null }))
      assert.equal('color' in (stored.spec ?? {}), false)
    },
    'null for a nullable field is kept': async (bench) => {
      const stored = await bench.create(bench.widget('a', { nothing: null }))
      assert.equal(stored.spec?.['nothing'], null)
    },
    'what a schema leaves open is kept': async (bench) => {
      const free = { deep: { deeper: [1, { a: null }] } }
      const stored = await bench.create(bench.widget('a', { free, labels: { x: 'y' }, amount: '50%' }))
      assert.deepEqual(
        [stored.spec?.['free'], stored.spec?.['labels'], stored.spec?.['amount']],
        [free, { x: 'y' }, '50%'],
      )
    },
    'an unknown field is dropped without a word': async (bench) => {
      const answer = await bench.admin.post(
        `${bench.path('widgets')}?fieldValidation=Ignore`,
        bench.widget('a', { x: 1 }),
      )
      assertAccepted(answer, 201)
      assert.deepEqual(answer.warnings, [])
    },
    'fieldValidation Warn: an unknown field is dropped with a warning': async (bench) => {
      const answer = await bench.admin.post(
        `${bench.path('widgets')}?fieldValidation=Warn`,
        bench.widget('a', { x: 1 }),
      )
      assertAccepted(answer, 201)
      assert.deepEqual(answer.warnings, ['unknown field "spec.x"'])
    },
    'without fieldValidation it is Warn': async (bench) => {
      const answer = await bench.admin.post(bench.path('widgets'), bench.widget('a', { x: 1 }))
      assert.deepEqual(answer.warnings, ['unknown field "spec.x"'])
    },
    'fieldValidation Strict: an unknown field is 400': async (bench) => {
      const answer = await bench.admin.post(
        `${bench.path('widgets')}?fieldValidation=Strict`,
        bench.widget('a', { x: 1 }),
      )
      assertRefused(answer, {
        code: 400,
        reason: 'BadRequest',
        message: /strict decoding error: unknown field "spec\.x"/,
      })
    },
    'a rule in CEL is obeyed': async (bench) => {
      const rule = { apiVersion: `${GROUP}/v1`, kind: 'Rule', metadata: { name: 'a' }, spec: { size: 13 } }
      const answer = await bench.admin.post(bench.path('rules'), rule)
      assertRefused(answer, { code: 422, reason: 'Invalid', message: /not 13/ })
    },
  }),
]

async function refusesSpec(bench: Bench, spec: Record<string, unknown>, message: RegExp): Promise<void> {
  const answer = await bench.admin.post(bench.path('widgets'), bench.widget('a', spec))
  assertRefused(answer, { code: 422, reason: 'Invalid', message })
}
