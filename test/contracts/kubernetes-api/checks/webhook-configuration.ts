import assert from 'node:assert/strict'
import { type Bench, clientOf, configurationsOf, mustBe } from '../bench.ts'
import { section } from '../contract-check.ts'
import { GROUP } from '../contract-crds.ts'
import { eventually } from '../eventually.ts'
import { deny } from '../review-answers.ts'
import { only } from './only.ts'
import { assertAccepted, assertRefused } from './refused.ts'

/** §1.6: what a webhook configuration may say, and what it matches. */
export const webhookConfigurationChecks = [
  ...section('1.6 fields', {
    'a URL must be https': (bench) =>
      refuses(bench, { clientConfig: { url: 'http://127.0.0.1/x' } }, /clientConfig\.url: Invalid value/),
    'a URL has no query': (bench) =>
      refuses(bench, { clientConfig: { url: 'https://127.0.0.1/x?a=b' } }, /clientConfig\.url: Invalid value/),
    'a URL has no fragment': (bench) =>
      refuses(bench, { clientConfig: { url: 'https://127.0.0.1/x#a' } }, /clientConfig\.url: Invalid value/),
    'a URL has no user': (bench) =>
      refuses(bench, { clientConfig: { url: 'https://me:secret@127.0.0.1/x' } }, /clientConfig\.url: Invalid value/),
    'either a URL or a Service': (bench) =>
      refuses(
        bench,
        { clientConfig: { url: 'https://127.0.0.1/x', service: { name: 'a', namespace: 'b' } } },
        /exactly one of url or service is required/,
      ),
    'a caBundle that is no PEM is taken, and the webhook cannot be called': async (bench) => {
      const { main } = bench.receivers
      const caBundle = Buffer.from('no').toString('base64')
      await bench.hook({ phase: 'validating', clientConfig: (path) => ({ ...clientOf(main, path), caBundle }) })
      const answer = await bench.admin.post(bench.path('widgets'), bench.widget('a'))
      assertRefused(answer, { code: 500, reason: 'InternalError' })
    },
    'sideEffects must be said': (bench) => refuses(bench, { sideEffects: undefined }, /sideEffects: Required value/),
    'sideEffects are None or NoneOnDryRun': (bench) =>
      refuses(bench, { sideEffects: 'Some' }, /sideEffects: Unsupported value: "Some"/),
    'admissionReviewVersions must be said': (bench) =>
      refuses(bench, { admissionReviewVersions: [] }, /admissionReviewVersions: /),
    'a review version must be one that the server knows': (bench) =>
      refuses(bench, { admissionReviewVersions: ['v7'] }, /admissionReviewVersions: Invalid value/),
    'timeoutSeconds are at most 30': (bench) =>
      refuses(bench, { timeoutSeconds: 31 }, /timeoutSeconds: Invalid value: 31/),
    'timeoutSeconds are at least 1': (bench) =>
      refuses(bench, { timeoutSeconds: 0 }, /timeoutSeconds: Invalid value: 0/),
    'a name has at least three labels': (bench) => refuses(bench, { name: 'two.labels' }, /name: Invalid value/),
    'failurePolicy is Fail or Ignore': (bench) =>
      refuses(bench, { failurePolicy: 'Maybe' }, /failurePolicy: Unsupported value/),
    'names are unique within a configuration': async (bench) => {
      const webhook = valid(bench)
      const answer = await post(bench, [webhook, webhook])
      assertRefused(answer, { code: 422, reason: 'Invalid', message: /webhooks\[1\](\.name)?: Duplicate value/ })
    },
    'what is not said gets its default': async (bench) => {
      const answer = await post(bench, [valid(bench)], 'mutating')
      assertAccepted(answer, 201)
      const [webhook] = answer.body['webhooks'] as Record<string, unknown>[]
      assert.deepEqual(
        ['failurePolicy', 'matchPolicy', 'reinvocationPolicy', 'timeoutSeconds'].map((field) => webhook?.[field]),
        ['Fail', 'Equivalent', 'Never', 10],
      )
      assert.deepEqual([webhook?.['namespaceSelector'], webhook?.['objectSelector']], [{}, {}])
      await bench.admin.delete(`${configurationsOf('mutating')}/${bench.namespace}-tried`)
    },
    'a changed configuration takes effect': async (bench) => {
      const hook = await bench.hook({ phase: 'validating', answer: deny() })
      const path = `${configurationsOf('validating')}/${hook.configuration}`
      assertRefused(await bench.admin.post(bench.path('widgets'), bench.widget('a')), { code: 400 })
      const elsewhere = [{ op: 'replace', path: '/webhooks/0/rules/0/resources', value: ['gizmos'] }]
      await mustBe(200, bench.admin.patch('json-patch', path, elsewhere))
      await eventually(() => bench.create(bench.widget('a')))
    },
    'a deleted configuration takes effect': async (bench) => {
      const hook = await bench.hook({ phase: 'validating', answer: deny() })
      await mustBe(200, bench.admin.delete(`${configurationsOf('validating')}/${hook.configuration}`))
      await eventually(() => bench.create(bench.widget('a')))
    },
  }),
  ...section('1.6 matching', {
    'operations are matched': async (bench) => {
      const rules = [{ apiGroups: [GROUP], apiVersions: ['v1'], resources: ['widgets'], operations: ['DELETE'] }]
      const hook = await bench.hook({ phase: 'validating', rules })
      await bench.create(bench.widget('a'))
      await mustBe(200, bench.admin.patch('merge-patch', bench.path('widgets', 'a'), { spec: { size: 2 } }))
      assert.equal(hook.reviews.length, 0)
      await mustBe(200, bench.admin.delete(bench.path('widgets', 'a')))
      only(hook.reviews)
    },
    'operation * is every operation': async (bench) => {
      const rules = [{ apiGroups: ['*'], apiVersions: ['*'], resources: ['widgets'], operations: ['*'] }]
      const hook = await bench.hook({ phase: 'validating', rules })
      await bench.create(bench.widget('a'))
      await mustBe(200, bench.admin.delete(bench.path('widgets', 'a')))
      assert.deepEqual(
        hook.reviews.map(({ request }) => request.operation),
        ['CREATE', 'DELETE'],
      )
    },
    'scope Cluster does not match namespaced objects': async (bench) => {
      const rules = [
        { apiGroups: [GROUP], apiVersions: ['v1'], resources: ['widgets'], operations: ['*'], scope: 'Cluster' },
      ]
      const hook = await bench.hook({ phase: 'validating', rules })
      await bench.create(bench.widget('a'))
      assert.equal(hook.reviews.length, 0)
    },
    'a namespaceSelector looks at the labels of the namespace': async (bench) => {
      const fields = {
        namespaceSelector: {
          matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: [bench.namespace] }],
        },
        objectSelector: { matchLabels: { of: bench.namespace } },
      }
      const hook = await bench.hook({ phase: 'validating', fields })
      await bench.create(bench.widget('a', {}, { labels: { of: bench.namespace } }))
      assert.equal(hook.reviews.length, 0)
    },
    'an objectSelector looks at the labels of the object': async (bench) => {
      const fields = { objectSelector: { matchLabels: { watched: 'yes' } } }
      const hook = await bench.hook({ phase: 'validating', fields })
      await bench.create(bench.widget('a'))
      await bench.create(bench.widget('b', {}, { labels: { watched: 'yes' } }))
      assert.equal(only(hook.reviews).request.name, 'b')
    },
    'an objectSelector matches when only the old object has the label': async (bench) => {
      const fields = { objectSelector: { matchLabels: { watched: 'yes' } } }
      await bench.create(bench.widget('a', {}, { labels: { watched: 'yes' } }))
      const hook = await bench.hook({ phase: 'validating', fields })
      const unlabel = { metadata: { labels: { watched: null } } }
      await mustBe(200, bench.admin.patch('merge-patch', bench.path('widgets', 'a'), unlabel))
      only(hook.reviews)
    },
    'an objectSelector on DELETE looks at the old object': async (bench) => {
      const fields = { objectSelector: { matchLabels: { watched: 'yes' } } }
      await bench.create(bench.widget('a', {}, { labels: { watched: 'yes' } }))
      const hook = await bench.hook({ phase: 'validating', fields })
      await mustBe(200, bench.admin.delete(bench.path('widgets', 'a')))
      only(hook.reviews)
    },
    'NoneOnDryRun is asked on dry run too, and told': async (bench) => {
      const hook = await bench.hook({ phase: 'validating', fields: { sideEffects: 'NoneOnDryRun' } })
      await mustBe(201, bench.admin.post(`${bench.path('widgets')}?dryRun=All`, bench.widget('a')))
      assert.equal(only(hook.reviews).request.dryRun, true)
    },
    'matchConditions: a false one spares the webhook': async (bench) => {
      const expression = 'request.userInfo.username != "plain"'
      const fields = { matchConditions: [{ name: 'not-plain', expression }] }
      const hook = await bench.hook({ phase: 'validating', fields })
      await mustBe(201, bench.plain.post(bench.path('widgets'), bench.widget('a')))
      assert.equal(hook.reviews.length, 0)
      await bench.create(bench.widget('b'))
      only(hook.reviews)
    },
    'matchConditions: one that fails refuses with 403 under Fail': async (bench) => {
      const fields = { matchConditions: [{ name: 'broken', expression: 'object.spec.nothing == "x"' }] }
      await bench.hook({ phase: 'validating', fields })
      const answer = await bench.admin.post(bench.path('widgets'), bench.widget('a'))
      assertRefused(answer, { code: 403, reason: 'Forbidden' })
    },
    'matchConditions: one that fails spares the webhook under Ignore': async (bench) => {
      const fields = {
        failurePolicy: 'Ignore',
        matchConditions: [{ name: 'broken', expression: 'object.spec.nothing == "x"' }],
      }
      const hook = await bench.hook({ phase: 'validating', fields })
      await bench.create(bench.widget('a'))
      assert.equal(hook.reviews.length, 0)
    },
    'matchConditions: what is no CEL is refused': (bench) =>
      refuses(bench, { matchConditions: [{ name: 'broken', expression: 'no cel at all' }] }, /matchConditions/),
  }),
]

function valid(bench: Bench): Record<string, unknown> {
  return {
    name: 'tried.contract.test',
    clientConfig: clientOf(bench.receivers.main, '/tried'),
    rules: [{ apiGroups: ['nowhere.test'], apiVersions: ['v1'], resources: ['nothings'], operations: ['CREATE'] }],
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
  }
}

function post(bench: Bench, webhooks: unknown[], phase: 'mutating' | 'validating' = 'validating') {
  return bench.admin.post(configurationsOf(phase), { metadata: { name: `${bench.namespace}-tried` }, webhooks })
}

async function refuses(bench: Bench, change: Record<string, unknown>, message: RegExp): Promise<void> {
  for (const phase of ['mutating', 'validating'] as const) {
    const answer = await post(bench, [{ ...valid(bench), ...change }], phase)
    assertRefused(answer, { code: 422, reason: 'Invalid', message })
  }
}
