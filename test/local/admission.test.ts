import t from 'tap'
import type { AdmissionReview } from '../../src/local/admission/admission-review.ts'
import type { WebhookAnswer } from '../../src/local/admission/call-webhook.ts'
import { createWebhookAdmission } from '../../src/local/admission/webhook-admission.ts'
import type { ControlPlaneCore } from '../../src/local/core/control-plane-core.ts'
import { createLocalClusterStore } from '../../src/local/local-cluster-store.ts'
import { admin, ingress, ingresses, manualClock, refusal, testCore } from './support.ts'

type Request = AdmissionReview['request']
type Behaviour = (request: Request) => object | undefined | Promise<object | undefined>

interface Call {
  path: string
  search: string
  request: Request
}

/** A core whose webhooks are functions of this test, by path. */
function withWebhooks(behaviours: Record<string, Behaviour> = {}) {
  const { clock, advance } = manualClock()
  const calls: Call[] = []
  let uids = 0
  const callWebhook = async (url: string, _ca: string, review: AdmissionReview): Promise<WebhookAnswer> => {
    const { pathname, search } = new URL(url)
    const { request } = review
    calls.push({ path: pathname, search, request })
    const said = (await behaviours[pathname]?.(request)) ?? {}
    if ('status' in said && 'body' in said) return { headers: {}, ...said } as WebhookAnswer
    const response = { uid: request.uid, allowed: true, ...said }
    const body = JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response })
    return { status: 200, headers: {}, body }
  }
  const core = testCore({
    clock,
    admission: (own) => createWebhookAdmission({ core: own, clock, uid: () => `call-${++uids}`, callWebhook }),
  })
  const paths = () => calls.splice(0).map(({ path }) => path)
  return { core, calls, paths, advance, behaviours }
}

function webhook(path: string, options: object = {}): object {
  return {
    name: `${path.slice(1)}.example.dev`,
    clientConfig: { url: `https://hooks.example${path}` },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 3,
    rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['multiclusteringresses'] }],
    ...options,
  }
}

function configure(core: ControlPlaneCore, kind: 'Mutating' | 'Validating', name: string, webhooks: object[]): void {
  const head = { apiVersion: 'admissionregistration.k8s.io/v1', kind: `${kind}WebhookConfiguration` }
  core.preload([{ ...head, metadata: { name }, webhooks }])
}

const patch = (operations: unknown, patchType = 'JSONPatch') => ({
  patchType,
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
})

const web = { ...ingresses, name: 'web' }
const change = (body: object) => ({ type: 'merge' as const, body })

t.test('what a review says, stage by stage', async (t) => {
  const { core, calls } = withWebhooks()
  configure(core, 'Mutating', 'm', [webhook('/m')])
  configure(core, 'Validating', 'v', [webhook('/v')])
  const stages = async (action: () => Promise<unknown>) => {
    calls.length = 0
    await action()
    return calls.map(({ request }) => request)
  }

  const created = await stages(() =>
    core.create(ingresses, ingress('', { metadata: { generateName: 'g-', uid: 'x' }, status: {} }), {
      ...admin,
      fieldManager: 'fm',
    }),
  )
  t.strictSame(created[0], {
    uid: 'call-1',
    kind: { group: 'networking.karmada.io', version: 'v1alpha1', kind: 'MultiClusterIngress' },
    resource: { group: 'networking.karmada.io', version: 'v1alpha1', resource: 'multiclusteringresses' },
    requestKind: { group: 'networking.karmada.io', version: 'v1alpha1', kind: 'MultiClusterIngress' },
    requestResource: { group: 'networking.karmada.io', version: 'v1alpha1', resource: 'multiclusteringresses' },
    namespace: 'shop',
    operation: 'CREATE',
    userInfo: { username: 'admin' },
    object: { ...ingress(''), metadata: { generateName: 'g-', namespace: 'shop' }, status: {} },
    oldObject: null,
    dryRun: false,
    options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'fm' },
  })
  t.match(created[1], {
    uid: 'call-2',
    name: 'g-n0001',
    object: { metadata: { uid: String, name: 'g-n0001', generation: 1 } },
  })
  t.notOk((created[1]?.['object'] as { status?: object } | undefined)?.status, 'final: no status on create')

  await core.create(ingresses, ingress('web', { metadata: { finalizers: ['x.dev/f'] } }), admin)
  const rv = core.resourceVersion()
  const updated = await stages(() =>
    core.patch(web, change({ spec: { ingressClassName: 'b' } }), { ...admin, dryRun: true }),
  )
  t.match(updated[0], {
    operation: 'UPDATE',
    name: 'web',
    dryRun: true,
    object: { metadata: { generation: 1, resourceVersion: rv } },
    oldObject: { spec: { ingressClassName: 'demo' } },
  })
  t.match(updated[1], {
    object: { metadata: { generation: 2, resourceVersion: rv } },
    options: { kind: 'UpdateOptions', dryRun: ['All'] },
  })
  t.equal(core.resourceVersion(), rv)

  t.equal(
    (await stages(() => core.patch({ ...web, subresource: 'status' }, change({ status: {} }), admin))).length,
    0,
    'no /status in the rules',
  )
  t.equal((await stages(() => core.patch(web, change({}), admin))).length, 2, 'asked about nothing as well')
  t.equal(
    (await stages(() => refusal(() => core.create(ingresses, ingress('web'), admin)))).length,
    2,
    'asked, then 409',
  )
  t.equal(
    (await stages(() => refusal(() => core.patch(web, change({ spec: { rules: 1 } }), admin)))).length,
    1,
    'invalid: only mutating',
  )

  const deleted = await stages(() => core.delete(web, { ...admin, propagationPolicy: 'Background' }))
  for (const request of deleted) {
    t.match(request, {
      operation: 'DELETE',
      name: 'web',
      object: null,
      oldObject: { metadata: { name: 'web' } },
      options: { kind: 'DeleteOptions', propagationPolicy: 'Background' },
    })
    t.equal(
      (request['oldObject'] as { metadata: { deletionTimestamp?: string } }).metadata.deletionTimestamp,
      undefined,
    )
  }
  const released = await stages(() => core.patch(web, change({ metadata: { finalizers: null } }), admin))
  t.strictSame(
    released.map(({ operation }) => operation),
    ['UPDATE', 'UPDATE'],
    'the end is no DELETE',
  )
  const collected = await stages(() => core.deleteCollection(ingresses, {}, admin))
  t.strictSame(
    collected.map(({ name, operation }) => [name, operation]),
    [
      [undefined, 'DELETE'],
      [undefined, 'DELETE'],
    ],
  )
})

t.test('answers: what is accepted, and what is said about the others', async (t) => {
  const review = (fields: object) => ({ status: 200, body: JSON.stringify(fields) })
  const head = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }
  const failed = (which: string, why: string) =>
    new RegExp(`^500 InternalError: Internal error occurred: failed calling webhook "${which}.example.dev": ${why}`)
  const cases: [string, Record<string, Behaviour>, RegExp][] = [
    ['allowed', {}, /^accepted$/],
    [
      'denied',
      { '/v': () => ({ allowed: false }) },
      /^400 : admission webhook "v.example.dev" denied the request without explanation$/,
    ],
    [
      'denied with a status',
      { '/m': () => ({ allowed: false, status: { code: 403, reason: 'Forbidden', message: 'no' } }) },
      /^403 Forbidden: admission webhook "m.example.dev" denied the request: no$/,
    ],
    [
      'denied with a success code',
      { '/v': () => ({ allowed: false, status: { code: 200, reason: 'Why' } }) },
      /^400 Why: .*denied the request: Why$/,
    ],
    ['no allowed', { '/v': ({ uid }) => review({ ...head, response: { uid } }) }, /^400 : .*without explanation$/],
    [
      'other uid',
      { '/v': () => ({ uid: 'zz' }) },
      failed('v', 'received invalid webhook response: expected response.uid="call-2", got "zz"'),
    ],
    [
      'no response',
      { '/v': () => review(head) },
      failed('v', 'received invalid webhook response: webhook response was absent'),
    ],
    [
      'no kind',
      { '/v': ({ uid }) => review({ response: { uid, allowed: true } }) },
      failed(
        'v',
        'received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=',
      ),
    ],
    [
      'patch of a validating one',
      { '/v': () => patch([]) },
      failed('v', 'received invalid webhook response: validating webhook may not return response.patch'),
    ],
    [
      'patch without type',
      { '/m': () => ({ patch: 'W10=' }) },
      failed('m', 'received invalid webhook response: webhook returned response.patch but not response.patchType'),
    ],
    [
      'type without patch',
      { '/m': () => ({ patchType: 'JSONPatch' }) },
      failed('m', 'received invalid webhook response: webhook returned response.patchType but not response.patch'),
    ],
    [
      'other patch type',
      { '/m': () => patch([{ op: 'remove', path: '/spec' }], 'Merge') },
      failed('m', 'unsupported patch type "Merge"'),
    ],
    ['patch that is no list', { '/m': () => patch({}) }, failed('m', 'received undecodable patch in webhook response')],
    ['empty patch', { '/m': () => patch([]) }, /^accepted$/],
    [
      'patch that does not apply',
      { '/m': () => patch([{ op: 'add', path: '/metadata/finalizers/-', value: 'x' }]) },
      /^500 InternalError: Internal error occurred: /,
    ],
    [
      'patch to something invalid',
      { '/m': () => patch([{ op: 'add', path: '/spec/rules', value: 1 }]) },
      /^422 Invalid/,
    ],
    [
      '404',
      { '/v': () => ({ status: 404, body: 'x' }) },
      failed('v', 'failed to call webhook: the server could not find the requested resource'),
    ],
    [
      '500',
      { '/v': () => ({ status: 500, body: 'oops' }) },
      failed(
        'v',
        'failed to call webhook: an error on the server \\("oops"\\) has prevented the request from succeeding',
      ),
    ],
    ['not JSON', { '/v': () => ({ status: 200, body: 'x' }) }, failed('v', 'failed to call webhook: ')],
    ['empty', { '/v': () => ({ status: 200, body: '' }) }, failed('v', 'failed to call webhook: 0-length response')],
    [
      'no connection',
      { '/v': () => Promise.reject(new Error('connection refused')) },
      failed('v', 'failed to call webhook: Post "https://hooks.example/v\\?timeout=3s": connection refused'),
    ],
  ]
  for (const [name, behaviours, expected] of cases) {
    const { core } = withWebhooks(behaviours)
    configure(core, 'Mutating', 'm', [webhook('/m')])
    configure(core, 'Validating', 'v', [webhook('/v')])
    t.match(await refusal(() => core.create(ingresses, ingress('web'), admin)), expected, name)
    const { core: lenient } = withWebhooks(behaviours)
    configure(lenient, 'Mutating', 'm', [webhook('/m', { failurePolicy: 'Ignore' })])
    configure(lenient, 'Validating', 'v', [webhook('/v', { failurePolicy: 'Ignore' })])
    const covered = expected.source.includes('failed calling webhook')
    const result = await refusal(() => lenient.create(ingresses, ingress('web'), admin))
    if (covered) t.equal(result, 'accepted', `${name}: ignored`)
    else t.match(result, expected, `${name}: not a matter of the failurePolicy`)
  }
})

t.test('mutation: patches, warnings, order and one reinvocation', async (t) => {
  const { core, paths, behaviours } = withWebhooks()
  const reinvoked = { reinvocationPolicy: 'IfNeeded' }
  configure(core, 'Mutating', 'm1', [webhook('/a', reinvoked), webhook('/b', reinvoked), webhook('/c')])
  configure(core, 'Mutating', 'm0', [webhook('/z')])
  configure(core, 'Validating', 'v', [webhook('/v')])

  behaviours['/b'] = (request) => {
    const { metadata } = request['object'] as { metadata: { labels?: object } }
    return metadata.labels === undefined
      ? {
          ...patch([
            { op: 'add', path: '/metadata/labels', value: { b: '1' } },
            { op: 'add', path: '/spec/unknown', value: 1 },
          ]),
          warnings: ['from b', 'from b'],
        }
      : {}
  }
  const { object, warnings } = await core.create(ingresses, ingress('one'), admin)
  t.strictSame(paths(), ['/z', '/a', '/b', '/c', '/a', '/v'])
  t.strictSame(object.metadata.labels, { b: '1' })
  t.strictSame(object['spec'], { ingressClassName: 'demo' }, 'what the schema does not know is pruned')
  t.strictSame(warnings, ['from b'])

  const count = (request: Request) => {
    const { metadata } = request['object'] as { metadata: { annotations?: { n: string } } }
    return patch([
      { op: 'add', path: '/metadata/annotations', value: { n: String(Number(metadata.annotations?.n ?? 0) + 1) } },
    ])
  }
  behaviours['/a'] = count
  behaviours['/b'] = count
  t.match((await core.create(ingresses, ingress('two'), admin)).object, { metadata: { annotations: { n: '4' } } })
  t.strictSame(paths(), ['/z', '/a', '/b', '/c', '/a', '/b', '/v'], 'twice at most')

  behaviours['/a'] = () => patch([{ op: 'add', path: '/x', value: 1 }])
  t.match(
    await refusal(() => core.delete({ ...ingresses, name: 'two' }, admin)),
    /attempted to modify the object, which is not supported/,
  )
})

t.test('matching: rules, selectors, scopes, configurations', async (t) => {
  const { core, paths } = withWebhooks()
  const rule = (fields: object) => ({
    rules: [
      { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['multiclusteringresses'], ...fields },
    ],
  })
  const named = (name: string) => ({ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } } })
  configure(core, 'Validating', 'v', [
    webhook('/all', rule({ resources: ['*'] })),
    webhook('/every', rule({ resources: ['*/*'] })),
    webhook('/status', rule({ operations: ['UPDATE'], resources: ['multiclusteringresses/status'] })),
    webhook('/cluster', rule({ scope: 'Cluster' })),
    webhook('/group', rule({ apiGroups: ['apps'] })),
    webhook('/version', rule({ apiVersions: ['v1'] })),
    webhook('/here', named('shop')),
    webhook('/elsewhere', named('default')),
    webhook('/labelled', { objectSelector: { matchExpressions: [{ key: 'q', operator: 'In', values: ['1'] }] } }),
    webhook('/cel', { matchConditions: [{ name: 'never', expression: 'false' }] }),
  ])
  const always = ['/all', '/cel', '/every', '/here']
  await core.create(ingresses, ingress('web', { metadata: { labels: { q: '1' } } }), admin)
  t.strictSame(paths().sort(), [...always, '/labelled'].sort())
  await core.patch(web, change({ metadata: { labels: null } }), admin)
  t.strictSame(paths().sort(), [...always, '/labelled'].sort(), 'the old labels count as well')
  await core.patch(web, change({ spec: { ingressClassName: 'x' } }), admin)
  t.strictSame(paths().sort(), always)
  await core.patch({ ...web, subresource: 'status' }, change({ status: {} }), admin)
  t.strictSame(paths().sort(), ['/every', '/status'])

  const configurations = {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    plural: 'validatingwebhookconfigurations',
    name: 'v',
  }
  await core.patch(configurations, change({ metadata: { labels: { a: 'b' } } }), admin)
  t.strictSame(paths(), [], 'never about a configuration')

  const bindings = { group: 'work.karmada.io', version: 'v1alpha2', plural: 'resourcebindings', namespace: 'shop' }
  configure(core, 'Validating', 'v2', [
    webhook('/equivalent', rule({ resources: ['resourcebindings'], apiVersions: ['v1alpha1'] })),
    webhook('/exact', {
      ...rule({ resources: ['resourcebindings'], apiVersions: ['v1alpha1'] }),
      matchPolicy: 'Exact',
    }),
  ])
  const binding = {
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: { name: 'b' },
    spec: { resource: { apiVersion: 'v1', kind: 'Service', name: 's' } },
  }
  await core.create(bindings, binding, admin)
  t.ok(paths().includes('/equivalent'))
  t.equal(core.get({ ...bindings, version: 'v1alpha1', name: 'b' }).apiVersion, 'work.karmada.io/v1alpha1')
})

t.test('time: timeouts, Retry-After, and the end of the request', async (t) => {
  const never = () => new Promise<undefined>(() => {})
  const { core, calls, advance, behaviours } = withWebhooks({ '/v': never })
  configure(core, 'Validating', 'v', [webhook('/v')])
  const slow = refusal(() => core.create(ingresses, ingress('slow'), admin))
  await advance(3000)
  t.match(await slow, /Post "https:\/\/hooks.example\/v\?timeout=3s": context deadline exceeded$/)

  calls.length = 0
  let busy = 2
  behaviours['/v'] = () => (busy-- > 0 ? { status: 503, headers: { 'retry-after': '1' }, body: '' } : {})
  const patient = core.create(ingresses, ingress('patient'), admin)
  await advance(2500)
  await patient
  t.equal(calls.length, 3)
  t.equal(new Set(calls.map(({ request }) => request.uid)).size, 1, 'the same question')

  const { core: other, advance: move } = withWebhooks({ '/m': never })
  const webhooks = ['/m', '/n', '/o'].map((path) => webhook(path, { failurePolicy: 'Ignore', timeoutSeconds: 30 }))
  configure(other, 'Mutating', 'm', webhooks)
  configure(other, 'Validating', 'v', [webhook('/m', { failurePolicy: 'Ignore', timeoutSeconds: 30 })])
  const late = refusal(() => other.create(ingresses, ingress('late'), admin))
  await move(34_000)
  t.match(await late, /^504 Timeout/, 'the whole request has 34 s, even with Ignore')

  const { core: hurried, calls: asked, advance: wait } = withWebhooks({ '/v': never })
  configure(hurried, 'Validating', 'v', [webhook('/v', { failurePolicy: 'Ignore' })])
  const given = refusal(() => hurried.create(ingresses, ingress('hurried'), { ...admin, timeoutMs: 1_500 }))
  await wait(1_500)
  t.match(await given, /^504 Timeout/, 'or less, if the client says so')
  t.equal(asked[0]?.search, '?timeout=2s')
  t.match(await refusal(() => hurried.get({ ...ingresses, name: 'hurried' })), /^404/)
})

t.test('what a webhook puts where the schema has no place', async (t) => {
  const add = (path: string) => patch([{ op: 'add', path, value: 1 }])
  const { core, calls, behaviours } = withWebhooks({ '/m': () => add('/spec/unheard') })
  const rules = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }]
  configure(core, 'Mutating', 'm', [webhook('/m', { rules })])
  configure(core, 'Validating', 'v', [webhook('/v', { rules })])
  const seen = () => calls.splice(0).at(-1)?.request['object'] as { spec: Record<string, unknown> } | undefined

  const created = await core.create(ingresses, ingress('web'), admin)
  t.equal(seen()?.spec['unheard'], 1, 'who validates still sees it')
  t.strictSame(created.object['spec'], { ingressClassName: 'demo' })
  const tried = await core.patch(web, change({ metadata: { labels: { a: 'b' } } }), { ...admin, dryRun: true })
  t.equal(seen()?.spec['unheard'], 1)
  t.strictSame(tried.object['spec'], { ingressClassName: 'demo' })
  t.strictSame(core.get(web)['spec'], { ingressClassName: 'demo' })

  behaviours['/m'] = () => add('/unheard')
  const maps = { group: '', version: 'v1', plural: 'configmaps', namespace: 'shop' }
  await core.create(maps, { metadata: { name: 'a' } }, admin)
  t.notOk(Object.hasOwn(seen() ?? {}, 'unheard'), 'a built-in kind has no place for it')
})

t.test('what was warned of is told with a refusal too', async (t) => {
  const { core } = withWebhooks({ '/v': () => ({ allowed: false, warnings: ['before you ask'] }) })
  configure(core, 'Validating', 'v', [webhook('/v')])
  const unknown = ingress('a', { spec: { foo: 1 } })
  const refused: unknown = await core.create(ingresses, unknown, admin).catch((error: unknown) => error)
  t.match(refused, { warnings: ['unknown field "spec.foo"', 'before you ask'] })
})

t.test('races: what changes while a webhook thinks is asked about again', async (t) => {
  const { core, calls, behaviours } = withWebhooks()
  configure(core, 'Validating', 'v', [webhook('/v')])
  await core.create(ingresses, ingress('web'), admin)
  calls.length = 0
  behaviours['/v'] = async (request) => {
    const { metadata } = request['object'] as { metadata: { labels?: Record<string, string> } }
    if (metadata.labels?.['slow'] === undefined || calls.length > 1) return {}
    await core.patch({ ...web, subresource: 'status' }, change({ status: { trafficBlockClusters: ['a'] } }), admin)
    return {}
  }
  await core.patch(web, change({ metadata: { labels: { slow: '1' } } }), admin)
  t.equal(calls.length, 2, 'once more, with the fresh object')
  t.match(calls[1]?.request, { oldObject: { status: { trafficBlockClusters: ['a'] } } })
  t.match(core.get(web), { metadata: { labels: { slow: '1' } }, status: { trafficBlockClusters: ['a'] } })
})

t.test('the cluster store tells a refusal from a webhook that could not be asked', async (t) => {
  const { core, behaviours } = withWebhooks({ '/v': () => ({ allowed: false, status: { message: 'no', code: 422 } }) })
  configure(core, 'Validating', 'v', [webhook('/v')])
  const store = createLocalClusterStore(core, 'us')
  const object = { ...ingress('web'), metadata: { name: 'web', namespace: 'shop' } }
  const create = () => store.create('MultiClusterIngress', object, { signal: new AbortController().signal })
  await t.rejects(create(), { code: 'ApiDenied', retry: 'never' })
  behaviours['/v'] = () => ({ status: 500, body: 'x' })
  await t.rejects(create(), { code: 'ApiFailed', retry: 'backoff' })
})
