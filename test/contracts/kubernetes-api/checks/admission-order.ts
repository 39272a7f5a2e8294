import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { clientOf, configurationsOf, mustBe } from '../bench.ts'
import { section } from '../contract-check.ts'
import { allow, deny, patch } from '../review-answers.ts'
import type { Behaviour } from '../webhook-receiver.ts'
import { only } from './only.ts'
import { assertAccepted, assertRefused } from './refused.ts'

const annotate = (key: string): Behaviour =>
  patch({ op: 'add', path: '/metadata/annotations', value: { [key]: 'yes' } })

const slowly: Behaviour = async (received) => {
  await pause(500)
  return allow(received)
}

/** §1.7: in which order what is asked and done. */
export const admissionOrderChecks = section('1.7 order', {
  'mutating webhooks are called one by one, by the names of their configurations': async (bench) => {
    const second = await bench.hook({ phase: 'mutating', order: 'b' })
    const first = await bench.hook({ phase: 'mutating', order: 'a', answer: slowly })
    await bench.create(bench.widget('a'))
    assert.ok((only(first.reviews).answered ?? 0) <= only(second.reviews).arrived)
  },
  'a mutating webhook sees what those before it changed': async (bench) => {
    await bench.hook({ phase: 'mutating', order: 'a', answer: annotate('first') })
    const second = await bench.hook({ phase: 'mutating', order: 'b' })
    await bench.create(bench.widget('a'))
    assert.deepEqual(only(second.reviews).request.object?.metadata.annotations, { first: 'yes' })
  },
  'reinvocationPolicy IfNeeded: called again after a later one changed the object': async (bench) => {
    const again = await bench.hook({ phase: 'mutating', order: 'a', fields: { reinvocationPolicy: 'IfNeeded' } })
    const changing = await bench.hook({ phase: 'mutating', order: 'b', answer: annotate('later') })
    await bench.create(bench.widget('a'))
    assert.equal(again.reviews.length, 2)
    assert.equal(changing.reviews.length, 1)
    const [first, second] = again.reviews
    assert.equal(first?.request.object?.metadata.annotations, undefined)
    assert.deepEqual(second?.request.object?.metadata.annotations, { later: 'yes' })
    assert.notEqual(first?.request.uid, second?.request.uid)
  },
  'reinvocationPolicy IfNeeded: its own change does not bring it back': async (bench) => {
    const answer = annotate('own')
    const hook = await bench.hook({ phase: 'mutating', answer, fields: { reinvocationPolicy: 'IfNeeded' } })
    await bench.create(bench.widget('a'))
    only(hook.reviews)
  },
  'reinvocationPolicy IfNeeded: not called again when nothing changed': async (bench) => {
    const hook = await bench.hook({ phase: 'mutating', order: 'a', fields: { reinvocationPolicy: 'IfNeeded' } })
    await bench.hook({ phase: 'mutating', order: 'b' })
    await bench.create(bench.widget('a'))
    only(hook.reviews)
  },
  'the chain runs at most twice': async (bench) => {
    let turn = 0
    const always: Behaviour = (received) => annotate(`turn-${turn++}`)(received)
    const fields = { reinvocationPolicy: 'IfNeeded' }
    const first = await bench.hook({ phase: 'mutating', order: 'a', answer: always, fields })
    const second = await bench.hook({ phase: 'mutating', order: 'b', answer: always, fields })
    await bench.create(bench.widget('a'))
    assert.deepEqual([first.reviews.length, second.reviews.length], [2, 2])
  },
  'reinvocationPolicy Never is the default': async (bench) => {
    const once = await bench.hook({ phase: 'mutating', order: 'a' })
    await bench.hook({ phase: 'mutating', order: 'b', answer: annotate('later') })
    await bench.create(bench.widget('a'))
    only(once.reviews)
  },
  'after a denial no later mutating webhook is called': async (bench) => {
    await bench.hook({ phase: 'mutating', order: 'a', answer: deny() })
    const later = await bench.hook({ phase: 'mutating', order: 'b' })
    assertRefused(await bench.admin.post(bench.path('widgets'), bench.widget('a')), { code: 400 })
    assert.equal(later.reviews.length, 0)
  },
  'after a denial by a mutating webhook no validating one is called': async (bench) => {
    await bench.hook({ phase: 'mutating', answer: deny() })
    const validating = await bench.hook({ phase: 'validating' })
    assertRefused(await bench.admin.post(bench.path('widgets'), bench.widget('a')), { code: 400 })
    assert.equal(validating.reviews.length, 0)
  },
  'validating webhooks see what the mutating ones changed': async (bench) => {
    await bench.hook({ phase: 'mutating', answer: annotate('changed') })
    const validating = await bench.hook({ phase: 'validating' })
    await bench.create(bench.widget('a'))
    assert.deepEqual(only(validating.reviews).request.object?.metadata.annotations, { changed: 'yes' })
  },
  'validating webhooks are called side by side': async (bench) => {
    const one = await bench.hook({ phase: 'validating', order: 'a', answer: slowly })
    const other = await bench.hook({ phase: 'validating', order: 'b', answer: slowly })
    await bench.create(bench.widget('a'))
    const [a, b] = [only(one.reviews), only(other.reviews)]
    assert.ok(a.arrived < (b.answered ?? 0) && b.arrived < (a.answered ?? 0))
  },
  'defaults are filled in before the first webhook': async (bench) => {
    const hook = await bench.hook({ phase: 'mutating' })
    await bench.create(bench.widget('a'))
    assert.equal(only(hook.reviews).request.object?.spec?.['size'], 1)
  },
  'defaults are filled in again after a patch': async (bench) => {
    await bench.hook({ phase: 'mutating', answer: patch({ op: 'add', path: '/spec/options', value: {} }) })
    const validating = await bench.hook({ phase: 'validating' })
    await bench.create(bench.widget('a'))
    assert.deepEqual(only(validating.reviews).request.object?.spec?.['options'], { enabled: true })
  },
  'unknown fields of a patch are pruned from what is stored': async (bench) => {
    await bench.hook({ phase: 'mutating', answer: patch({ op: 'add', path: '/spec/unheard', value: 1 }) })
    const answered = await bench.create(bench.widget('a'))
    assert.equal(answered.spec?.['unheard'], undefined)
    assert.equal((await bench.read('widgets', 'a')).spec?.['unheard'], undefined)
  },
  'unknown fields of a patch are still there for validating webhooks': async (bench) => {
    await bench.hook({ phase: 'mutating', answer: patch({ op: 'add', path: '/spec/unheard', value: 1 }) })
    const validating = await bench.hook({ phase: 'validating' })
    await bench.create(bench.widget('a'))
    assert.equal(only(validating.reviews).request.object?.spec?.['unheard'], 1)
  },
  'unknown fields of a request are pruned before the first webhook': async (bench) => {
    const hook = await bench.hook({ phase: 'mutating' })
    await bench.create(bench.widget('a', { unheard: 1 }))
    assert.equal(only(hook.reviews).request.object?.spec?.['unheard'], undefined)
  },
  'the schema is checked after mutation and before validation': async (bench) => {
    const mutating = await bench.hook({ phase: 'mutating' })
    const validating = await bench.hook({ phase: 'validating' })
    const answer = await bench.admin.post(bench.path('widgets'), bench.widget('a', { size: 1000 }))
    assertRefused(answer, { code: 422, reason: 'Invalid' })
    assert.deepEqual([mutating.reviews.length, validating.reviews.length], [1, 0])
  },
  'a mutating webhook can mend what the schema would refuse': async (bench) => {
    await bench.hook({ phase: 'mutating', answer: patch({ op: 'replace', path: '/spec/size', value: 10 }) })
    assertAccepted(await bench.admin.post(bench.path('widgets'), bench.widget('a', { size: 1000 })), 201)
  },
  'a patch that the schema refuses is 422, whatever the failurePolicy': async (bench) => {
    const answer = patch({ op: 'replace', path: '/spec/size', value: 1000 })
    await bench.hook({ phase: 'mutating', answer, fields: { failurePolicy: 'Ignore' } })
    const refused = await bench.admin.post(bench.path('widgets'), bench.widget('a'))
    assertRefused(refused, { code: 422, reason: 'Invalid', message: /spec\.size: Invalid value: 1000/ })
  },
  'the status of a new object is dropped after mutation': async (bench) => {
    const mutating = await bench.hook({ phase: 'mutating' })
    const validating = await bench.hook({ phase: 'validating' })
    const stored = await bench.create({ ...bench.widget('a'), status: { phase: 'Early' } })
    assert.deepEqual(only(mutating.reviews).request.object?.status, { phase: 'Early' })
    assert.equal(only(validating.reviews).request.object?.status, undefined)
    assert.equal(stored.status, undefined)
  },
  'a webhook cannot give a new object a status': async (bench) => {
    await bench.hook({ phase: 'mutating', answer: patch({ op: 'add', path: '/status', value: { phase: 'Early' } }) })
    assert.equal((await bench.create(bench.widget('a'))).status, undefined)
  },
  'a webhook that adds a finalizer to an object being deleted makes the update fail': async (bench) => {
    await bench.create(bench.widget('a', {}, { finalizers: ['contract.test/one'] }))
    await bench.admin.delete(bench.path('widgets', 'a'))
    const answer = patch({ op: 'add', path: '/metadata/finalizers/-', value: 'contract.test/two' })
    await bench.hook({ phase: 'mutating', answer })
    const refused = await bench.admin.patch('merge-patch', bench.path('widgets', 'a'), {
      metadata: { labels: { touched: 'yes' } },
    })
    assertRefused(refused, {
      code: 422,
      reason: 'Invalid',
      message: /no new finalizers can be added if the object is being deleted/,
    })
  },
  'a webhook cannot rename an object': async (bench) => {
    await bench.hook({ phase: 'mutating', answer: patch({ op: 'replace', path: '/metadata/name', value: 'b' }) })
    const answer = await bench.admin.post(bench.path('widgets'), bench.widget('a'))
    assert.ok(answer.code === 201 || answer.code >= 400, answer.text)
    assert.equal(answer.code === 201 ? answer.body.metadata.name : 'refused', 'b')
  },
  'webhooks are never called for webhook configurations': async (bench) => {
    const hook = await bench.hook({
      phase: 'validating',
      answer: deny(),
      rules: [
        {
          apiGroups: ['admissionregistration.k8s.io'],
          apiVersions: ['*'],
          resources: ['*'],
          operations: ['*'],
          scope: '*',
        },
      ],
      fields: { objectSelector: { matchLabels: { of: bench.namespace } }, namespaceSelector: {} },
    })
    const path = configurationsOf('validating')
    const metadata = { name: `${bench.namespace}-unseen`, labels: { of: bench.namespace } }
    await mustBe(201, bench.admin.post(path, { metadata, webhooks: [] }))
    assertAccepted(await bench.admin.delete(`${path}/${metadata.name}`))
    assert.equal(hook.reviews.length, 0)
  },
  'a slow mutating webhook leaves later ones their own timeout': async (bench) => {
    await bench.hook({ phase: 'mutating', order: 'a', answer: slowly })
    const later = await bench.hook({ phase: 'mutating', order: 'b', fields: { timeoutSeconds: 5 } })
    await bench.create(bench.widget('a'))
    assert.equal(only(later.reviews).query, 'timeout=5s')
  },
  'a webhook may itself use the API server': async (bench) => {
    const answer: Behaviour = async (received) => {
      await mustBe(200, bench.admin.get(bench.core('configmaps')))
      return allow(received)
    }
    await bench.hook({ phase: 'validating', answer, clientConfig: (path) => clientOf(bench.receivers.main, path) })
    await bench.create(bench.widget('a'))
  },
})
