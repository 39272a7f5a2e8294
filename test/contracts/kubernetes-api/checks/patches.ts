import assert from 'node:assert/strict'
import type { PatchType } from '../api-client.ts'
import { type Bench, mustBe } from '../bench.ts'
import { section } from '../contract-check.ts'
import { assertAccepted, assertRefused } from './refused.ts'

const OTHER_UID = '00000000-0000-4000-8000-000000000000'

/** JSON Patch, merge patch and what guards them. */
export const patchChecks = [
  ...section('JSON Patch', {
    'a test that fails is 422 Invalid, without naming what failed': async (bench) => {
      const answer = await patchA(bench, 'json-patch', [{ op: 'test', path: '/spec/size', value: 99 }])
      assertRefused(answer, {
        code: 422,
        reason: 'Invalid',
        message: 'the server rejected our request due to an error in our request',
      })
      assert.deepEqual(answer.body.details, {})
    },
    'a test that holds guards what follows': async (bench) => {
      const answer = await patchA(bench, 'json-patch', [
        { op: 'test', path: '/spec/size', value: 1 },
        { op: 'replace', path: '/spec/size', value: 2 },
      ])
      assertAccepted(answer)
      assert.equal(answer.body.spec?.['size'], 2)
    },
    'a failing test undoes what came before it': async (bench) => {
      const answer = await patchA(bench, 'json-patch', [
        { op: 'replace', path: '/spec/size', value: 2 },
        { op: 'test', path: '/spec/size', value: 1 },
      ])
      assertRefused(answer, { code: 422, reason: 'Invalid' })
      assert.equal((await bench.read('widgets', 'a')).spec?.['size'], 1)
    },
    'a test of the resourceVersion': async (bench) => {
      const answer = await patchA(bench, 'json-patch', [{ op: 'test', path: '/metadata/resourceVersion', value: '1' }])
      assertRefused(answer, { code: 422, reason: 'Invalid' })
    },
    'a test of a missing field for null holds': async (bench) =>
      assertAccepted(await patchA(bench, 'json-patch', [{ op: 'test', path: '/metadata/finalizers', value: null }])),
    'appending to a list that is not there is 422': async (bench) => {
      const answer = await patchA(bench, 'json-patch', [
        { op: 'add', path: '/metadata/finalizers/-', value: 'contract.test/f' },
      ])
      assertRefused(answer, { code: 422, reason: 'Invalid' })
    },
    'adding below a field that is not there is 422': async (bench) => {
      const answer = await patchA(bench, 'json-patch', [{ op: 'add', path: '/status/phase', value: 'x' }])
      assertRefused(answer, { code: 422, reason: 'Invalid' })
    },
    'removing what is not there is 422': async (bench) => {
      const answer = await patchA(bench, 'json-patch', [{ op: 'remove', path: '/spec/color' }])
      assertRefused(answer, { code: 422, reason: 'Invalid' })
    },
    'replacing a field that is not there adds it': async (bench) => {
      const answer = await patchA(bench, 'json-patch', [{ op: 'replace', path: '/spec/color', value: 'red' }])
      assertAccepted(answer)
      assert.equal(answer.body.spec?.['color'], 'red')
    },
    'an empty list changes nothing': async (bench) => {
      const before = await bench.create(bench.widget('a'))
      const answer = await bench.admin.patch('json-patch', bench.path('widgets', 'a'), [])
      assertAccepted(answer)
      assert.deepEqual(answer.body, before)
    },
    'what is no list is 400': async (bench) => {
      const answer = await patchA(bench, 'json-patch', { op: 'remove', path: '/spec/size' })
      assertRefused(answer, { code: 400, reason: 'BadRequest' })
    },
    'an unknown operation is 422': async (bench) => {
      const answer = await patchA(bench, 'json-patch', [{ op: 'increment', path: '/spec/size', value: 1 }])
      assertRefused(answer, { code: 422, reason: 'Invalid' })
    },
    'copy and move': async (bench) => {
      const answer = await patchA(bench, 'json-patch', [
        { op: 'add', path: '/metadata/labels', value: { a: 'x' } },
        { op: 'copy', from: '/metadata/labels/a', path: '/metadata/labels/b' },
        { op: 'move', from: '/metadata/labels/a', path: '/metadata/labels/c' },
      ])
      assertAccepted(answer)
      assert.deepEqual(answer.body.metadata.labels, { b: 'x', c: 'x' })
    },
    'escapes in a path': async (bench) => {
      const answer = await patchA(bench, 'json-patch', [
        { op: 'add', path: '/metadata/annotations', value: {} },
        { op: 'add', path: '/metadata/annotations/contract.test~1a', value: 'x' },
      ])
      assertAccepted(answer)
      assert.deepEqual(answer.body.metadata.annotations, { 'contract.test/a': 'x' })
    },
    'the name cannot be patched': async (bench) => {
      const answer = await patchA(bench, 'json-patch', [{ op: 'replace', path: '/metadata/name', value: 'b' }])
      assertRefused(answer, { code: 400, reason: 'BadRequest' })
    },
    'what the schema refuses is 422': async (bench) => {
      const answer = await patchA(bench, 'json-patch', [{ op: 'replace', path: '/spec/size', value: 1000 }])
      assertRefused(answer, { code: 422, reason: 'Invalid', message: /spec\.size: Invalid value: 1000/ })
    },
    'a claim by test and add: the second of two comes too late': async (bench) => {
      await bench.create(bench.widget('a'))
      const claim = (finalizer: string) => [
        { op: 'test', path: '/metadata/finalizers', value: null },
        { op: 'add', path: '/metadata/finalizers', value: [finalizer] },
      ]
      const path = bench.path('widgets', 'a')
      const answers = await Promise.all(
        ['contract.test/one', 'contract.test/two'].map((finalizer) =>
          bench.admin.patch('json-patch', path, claim(finalizer)),
        ),
      )
      assert.deepEqual(answers.map(({ code }) => code).sort(), [200, 422])
    },
  }),
  ...section('merge patch', {
    'objects are merged, lists replaced, null removes': async (bench) => {
      await bench.create(bench.widget('a', { color: 'red', tags: ['a', 'b'] }, { labels: { keep: '1', drop: '1' } }))
      const answer = await bench.admin.patch('merge-patch', bench.path('widgets', 'a'), {
        metadata: { labels: { drop: null, more: '1' } },
        spec: { color: null, tags: ['c'] },
      })
      assertAccepted(answer)
      assert.deepEqual(answer.body.metadata.labels, { keep: '1', more: '1' })
      assert.deepEqual([answer.body.spec?.['color'], answer.body.spec?.['tags']], [undefined, ['c']])
    },
    'with the current resourceVersion it applies': async (bench) => {
      const { metadata } = await bench.create(bench.widget('a'))
      const { resourceVersion } = metadata
      const patch = { metadata: { resourceVersion, labels: { a: 'b' } } }
      assertAccepted(await bench.admin.patch('merge-patch', bench.path('widgets', 'a'), patch))
    },
    'with a stale resourceVersion it is 409': async (bench) => {
      const answer = await patchA(bench, 'merge-patch', { metadata: { resourceVersion: '1', labels: { a: 'b' } } })
      assertRefused(answer, {
        code: 409,
        reason: 'Conflict',
        message:
          'Operation cannot be fulfilled on widgets.contract.test "a": the object has been modified; please apply your changes to the latest version and try again',
      })
      assert.deepEqual(answer.body.details, { name: 'a', group: 'contract.test', kind: 'widgets' })
    },
    'with another uid it is 422': async (bench) => {
      const answer = await patchA(bench, 'merge-patch', { metadata: { uid: OTHER_UID, labels: { a: 'b' } } })
      const why = `metadata.uid: Invalid value: "${OTHER_UID}": field is immutable`
      assertRefused(answer, { code: 422, reason: 'Invalid', message: `Widget.contract.test "a" is invalid: ${why}` })
    },
    'with another uid a core object answers 422 too': async (bench) => {
      await bench.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } })
      const patch = { metadata: { uid: OTHER_UID, labels: { a: 'b' } } }
      const answer = await bench.admin.patch('merge-patch', bench.core('configmaps', 'a'), patch)
      assertRefused(answer, {
        code: 422,
        reason: 'Invalid',
        message: /metadata\.uid: Invalid value: .*: field is immutable/,
      })
    },
    'with another uid and a stale resourceVersion it is 409': async (bench) => {
      const patch = { metadata: { uid: OTHER_UID, resourceVersion: '1', labels: { a: 'b' } } }
      assertRefused(await patchA(bench, 'merge-patch', patch), { code: 409, reason: 'Conflict' })
    },
    'with the same uid it applies': async (bench) => {
      const { metadata } = await bench.create(bench.widget('a'))
      const patch = { metadata: { uid: metadata.uid, labels: { a: 'b' } } }
      assertAccepted(await bench.admin.patch('merge-patch', bench.path('widgets', 'a'), patch))
    },
    'another uid in a PUT is 409': async (bench) => {
      const stored = await bench.create(bench.widget('a'))
      const sent = { ...stored, metadata: { ...stored.metadata, uid: OTHER_UID } }
      assertRefused(await bench.admin.put(bench.path('widgets', 'a'), sent), { code: 409, reason: 'Conflict' })
    },
    'a patch that is no JSON is 400': async (bench) => {
      await bench.create(bench.widget('a'))
      const answer = await bench.admin.patch('merge-patch', bench.path('widgets', 'a'), '{')
      assertRefused(answer, { code: 400, reason: 'BadRequest' })
    },
    'unknown fields of a patch are dropped': async (bench) => {
      const answer = await patchA(bench, 'merge-patch', { spec: { unheard: 1 } })
      assertAccepted(answer)
      assert.equal(answer.body.spec?.['unheard'], undefined)
      assert.equal(answer.body.metadata.generation, 1)
    },
    'creationTimestamp and generation cannot be patched': async (bench) => {
      const before = await bench.create(bench.widget('a'))
      const patch = { metadata: { creationTimestamp: '2000-01-01T00:00:00Z', generation: 9 } }
      const answer = await bench.admin.patch('merge-patch', bench.path('widgets', 'a'), patch)
      assertAccepted(answer)
      assert.deepEqual(answer.body.metadata, before.metadata)
    },
  }),
  ...section('patch types', {
    'a custom object takes no strategic merge patch: 415': async (bench) => {
      const answer = await patchA(bench, 'strategic-merge-patch', { spec: { size: 2 } })
      assertRefused(answer, { code: 415, reason: 'UnsupportedMediaType' })
      for (const type of [
        'application/json-patch+json',
        'application/merge-patch+json',
        'application/apply-patch+yaml',
      ])
        assert.ok(answer.body.message?.includes(type), type)
    },
    'plain JSON is no patch: 415': async (bench) => {
      await bench.create(bench.widget('a'))
      const answer = await bench.admin.call('PATCH', bench.path('widgets', 'a'), { body: {} })
      assertRefused(answer, { code: 415, reason: 'UnsupportedMediaType' })
    },
    'a core object takes a strategic merge patch: lists merge by key': async (bench) => {
      const service = {
        metadata: { name: 'a' },
        spec: { ports: [{ name: 'http', port: 80 }], selector: { app: 'a' } },
      }
      await mustBe(201, bench.admin.post(bench.core('services'), service))
      const patch = { spec: { ports: [{ name: 'https', port: 443 }] } }
      const answer = await bench.admin.patch('strategic-merge-patch', bench.core('services', 'a'), patch)
      assertAccepted(answer)
      const ports = answer.body.spec?.['ports'] as { port: number }[]
      assert.deepEqual(
        ports.map(({ port }) => port).sort((a, b) => a - b),
        [80, 443],
      )
    },
  }),
]

async function patchA(bench: Bench, type: PatchType, patch: unknown) {
  await bench.create(bench.widget('a'))
  return bench.admin.patch(type, bench.path('widgets', 'a'), patch)
}
