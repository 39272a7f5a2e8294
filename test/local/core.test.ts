import t from 'tap'
import { isCatalogueError } from '../../src/domain/catalogue-error.ts'
import type { ApiObject } from '../../src/local/core/api-object.ts'
import type { PatchRequest } from '../../src/local/core/patch-object.ts'
import type { WatchEvent } from '../../src/local/core/watch-objects.ts'
import { createLocalClusterStore } from '../../src/local/local-cluster-store.ts'
import { admin, ingress, ingresses, manualClock, refusal, services, testCore } from './support.ts'

const web = { ...ingresses, name: 'web' }
const merge = (body: unknown): PatchRequest => ({ type: 'merge', body })
const status = (body: unknown) => merge({ status: body })

t.test('create: the system fills in what is its own, and drops what is not for the user to say', async (t) => {
  const core = testCore()
  const sent = ingress('web', {
    metadata: { uid: 'mine', generation: 7, labels: {}, annotations: null, finalizers: [], managedFields: [{}] },
    spec: { ingressClassName: 'demo', unknown: 1, rules: null },
    status: { trafficBlockClusters: ['a'] },
  })
  const { object, warnings, created } = await core.create(ingresses, sent, admin)
  t.strictSame(object, {
    apiVersion: 'networking.karmada.io/v1alpha1',
    kind: 'MultiClusterIngress',
    metadata: {
      name: 'web',
      namespace: 'shop',
      uid: object.metadata.uid,
      resourceVersion: core.resourceVersion(),
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: { ingressClassName: 'demo' },
  })
  t.not(object.metadata.uid, 'mine')
  t.strictSame(warnings, ['unknown field "spec.unknown"'])
  t.equal(created, true)
  t.equal(core.get(web), object, 'what was answered is what is stored')
  t.throws(() => {
    object.metadata.name = 'other'
  }, 'nobody can change a stored object')

  const generated = await core.create(ingresses, ingress('', { metadata: { generateName: 'gen-' } }), admin)
  t.equal(generated.object.metadata.name, 'gen-n0001')
})

t.test('create: what is refused', async (t) => {
  const core = testCore()
  await core.create(ingresses, ingress('taken'), admin)
  const strict = { ...admin, fieldValidation: 'Strict' as const }
  const create = (object: unknown, options = admin) => core.create(ingresses, object, options)
  const cases: [string, () => unknown, RegExp][] = [
    ['name taken', () => create(ingress('taken')), /^409 AlreadyExists: .*"taken" already exists$/],
    [
      'no namespace',
      () => core.create({ ...ingresses, namespace: 'nowhere' }, ingress('a'), admin),
      /^404 NotFound: namespaces "nowhere" not found$/,
    ],
    [
      'other namespace',
      () => create(ingress('a', { metadata: { namespace: 'other' } })),
      /^400 BadRequest: the namespace/,
    ],
    ['bad name', () => create(ingress('Bad_Name')), /^422 Invalid: .*metadata.name: Invalid value: "Bad_Name"/],
    ['no name', () => create(ingress('')), /name or generateName is required$/],
    ['long name', () => create(ingress('a'.repeat(254))), /must be no more than 253 characters$/],
    [
      'bad label',
      () => create(ingress('a', { metadata: { labels: { 'a b': 'c' } } })),
      /metadata.labels: Invalid value: "a b"/,
    ],
    ['bad label value', () => create(ingress('a', { metadata: { labels: { a: '-' } } })), /a valid label must be/],
    [
      'large annotations',
      () => create(ingress('a', { metadata: { annotations: { a: 'x'.repeat(300_000) } } })),
      /metadata.annotations: Too long/,
    ],
    [
      'bad finalizer',
      () => create(ingress('a', { metadata: { finalizers: ['a b'] } })),
      /metadata.finalizers: Invalid value/,
    ],
    [
      'label of a wrong type',
      () => create(ingress('a', { metadata: { labels: { a: 1 } } })),
      /^400 BadRequest: .*metadata.labels/,
    ],
    [
      'resourceVersion',
      () => create(ingress('a', { metadata: { resourceVersion: '1' } })),
      /^500 : resourceVersion should not be set/,
    ],
    ['wrong kind', () => create({ ...ingress('a'), kind: 'Foo' }), /^422 Invalid: .*must be MultiClusterIngress$/],
    [
      'wrong version',
      () => create({ ...ingress('a'), apiVersion: 'x/v1' }),
      /^400 BadRequest: the API version in the data \(x\/v1\)/,
    ],
    ['no kind', () => create({ metadata: { name: 'a' } }), /Object 'Kind' is missing/],
    ['not an object', () => create([]), /^400 BadRequest/],
    [
      'unknown field, strict',
      () => create(ingress('a', { spec: { foo: 1 } }), strict),
      /^400 BadRequest: .*strict decoding error: unknown field "spec.foo"$/,
    ],
    [
      'required, type',
      () => create(ingress('a', { spec: { rules: [{ http: { paths: [{ path: 1 }] } }] } })),
      /pathType: Required value.*must be of type string: "integer"/,
    ],
    [
      'pattern',
      () =>
        core.patch(
          { ...ingresses, name: 'taken', subresource: 'status' },
          status({ loadBalancer: { ingress: [{ ports: [{ port: 1, protocol: 'TCP', error: '-' }] }] } }),
          admin,
        ),
      /should match/,
    ],
    [
      'unknown resource',
      () => core.create({ ...ingresses, plural: 'foos' }, ingress('a'), admin),
      /^404 NotFound: the server could not find/,
    ],
  ]
  for (const [name, action, expected] of cases) t.match(await refusal(action), expected, name)
  t.strictSame(
    core.list(ingresses).items.map(({ metadata }) => metadata.name),
    ['taken'],
    'nothing of it was stored',
  )
})

t.test('update: generation, status and metadata change only where they may', async (t) => {
  const core = testCore()
  const first = await core.create(ingresses, ingress('web', { metadata: { finalizers: ['x.dev/f'] } }), admin)
  const main = async (body: object) => (await core.patch(web, merge(body), admin)).object
  const sub = async (body: object) => (await core.patch({ ...web, subresource: 'status' }, merge(body), admin)).object

  t.equal((await main({ spec: { ingressClassName: 'b' } })).metadata.generation, 2, 'spec counts')
  t.equal((await main({ metadata: { labels: { a: 'b' } } })).metadata.generation, 2, 'metadata does not')
  t.equal((await main({ status: { trafficBlockClusters: ['x'] } }))['status'], undefined, 'status only through /status')
  const before = core.resourceVersion()
  await main({
    spec: { ingressClassName: 'b' },
    metadata: { generation: 99, creationTimestamp: '2020-01-01T00:00:00Z' },
  })
  t.equal(core.resourceVersion(), before, 'a change of nothing is not stored')

  const after = await sub({
    metadata: { labels: { q: 'r' }, finalizers: null, uid: 'ignored' },
    spec: { ingressClassName: 'z' },
    status: { loadBalancer: { ingress: [{ ip: '203.0.113.1' }] } },
  })
  t.match(after, {
    metadata: { labels: { a: 'b' }, finalizers: ['x.dev/f'], generation: 2, uid: first.object.metadata.uid },
    spec: { ingressClassName: 'b' },
    status: { loadBalancer: { ingress: [{ ip: '203.0.113.1' }] } },
  })
  t.notOk(after.metadata.labels?.['q'])

  const service = await core.create(services, { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } }, admin)
  t.equal(service.object.metadata.generation, undefined, 'a Service has no generation')
})

t.test('preconditions: who is late gets a conflict', async (t) => {
  const core = testCore()
  const { object } = await core.create(ingresses, ingress('web'), admin)
  const old = object.metadata.resourceVersion ?? ''
  await core.patch(web, merge({ spec: { ingressClassName: 'b' } }), admin)
  const put = (metadata: object) => core.replace(web, ingress('web', { metadata }), admin)
  const cases: [string, () => unknown, RegExp][] = [
    ['PUT with an old version', () => put({ resourceVersion: old }), /^409 Conflict: .*the object has been modified/],
    ['PUT without', () => put({}), /^422 Invalid: .*must be specified for an update/],
    ['PUT for another uid', () => put({ resourceVersion: old, uid: 'x' }), /^409 Conflict: .*Precondition failed: UID/],
    [
      'merge with an old version',
      () => core.patch(web, merge({ metadata: { resourceVersion: old } }), admin),
      /^409 Conflict/,
    ],
    [
      'merge for another uid',
      () => core.patch(web, merge({ metadata: { uid: 'x' } }), admin),
      /^422 Invalid: .*metadata.uid.*immutable/,
    ],
    [
      'JSON Patch test',
      () => core.patch(web, { type: 'json', body: [{ op: 'test', path: '/metadata/name', value: 'x' }] }, admin),
      /^422 Invalid: the server rejected our request due to an error in our request$/,
    ],
    [
      'JSON Patch append to nothing',
      () => core.patch(web, { type: 'json', body: [{ op: 'add', path: '/metadata/finalizers/-', value: 'x' }] }, admin),
      /^422 Invalid/,
    ],
    ['JSON Patch of no list', () => core.patch(web, { type: 'json', body: {} }, admin), /^400 BadRequest/],
    [
      'strategic merge of a custom resource',
      () => core.patch(web, { type: 'strategic', body: {} }, admin),
      /^415 UnsupportedMediaType/,
    ],
    [
      'DELETE for another uid',
      () => core.delete(web, { ...admin, preconditions: { uid: 'x' } }),
      /^409 Conflict: .*precondition/,
    ],
    [
      'DELETE of an old version',
      () => core.delete(web, { ...admin, preconditions: { resourceVersion: old } }),
      /^409 Conflict/,
    ],
    ['of what is not there', () => core.patch({ ...web, name: 'no' }, merge({}), admin), /^404 NotFound/],
  ]
  for (const [name, action, expected] of cases) t.match(await refusal(action), expected, name)
  t.match(core.get(web), { spec: { ingressClassName: 'b' }, metadata: { generation: 2 } })
})

t.test('deletion: an object waits for its finalizers, and takes no new ones', async (t) => {
  const core = testCore()
  await core.create(ingresses, ingress('web', { metadata: { finalizers: ['x.dev/f', 'y.dev/f'] } }), admin)
  const dry = await core.delete(web, { ...admin, dryRun: true })
  t.match(dry.answer, { metadata: { deletionGracePeriodSeconds: 0 } })
  t.equal(core.get(web).metadata.deletionTimestamp, undefined, 'a dry run leaves no trace')

  await core.delete(web, admin)
  const marked = core.get(web)
  t.match(marked.metadata, { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0, generation: 2 })
  await core.delete(web, admin)
  t.equal(core.get(web), marked, 'a second DELETE changes nothing')
  const finalizers = (value: string[] | null) => core.patch(web, merge({ metadata: { finalizers: value } }), admin)
  t.match(await refusal(() => finalizers(['x.dev/f', 'y.dev/f', 'z.dev/f'])), /no new finalizers can be added/)
  t.match(
    await refusal(() => core.create(ingresses, ingress('web'), admin)),
    /object is being deleted: .*already exists/,
  )
  await finalizers(['y.dev/f'])
  t.strictSame(core.get(web).metadata.finalizers, ['y.dev/f'])
  await finalizers(null)
  t.match(await refusal(() => core.get(web)), /^404 NotFound/)

  await core.create(ingresses, ingress('web'), admin)
  t.match((await core.delete(web, admin)).answer, {
    kind: 'Status',
    status: 'Success',
    details: { kind: 'multiclusteringresses' },
  })
})

t.test('patches: strategic merge and server-side apply', async (t) => {
  const core = testCore()
  const target = { ...services, name: 's' }
  const ports = async (patch: PatchRequest, manager = 'm') => {
    const { object } = await core.patch(target, patch, { ...admin, fieldManager: manager })
    return (object['spec'] as { ports: { port: number }[] }).ports.map(({ port }) => port)
  }
  await core.create(services, { metadata: { name: 's' }, spec: { ports: [{ name: 'a', port: 80 }] } }, admin)
  const strategic = (body: unknown): PatchRequest => ({ type: 'strategic', body })
  t.strictSame(await ports(strategic({ spec: { ports: [{ name: 'b', port: 81 }] } })), [81, 80])
  t.strictSame(await ports(strategic({ spec: { '$setElementOrder/ports': [{ port: 80 }, { port: 81 }] } })), [80, 81])
  t.strictSame(await ports(strategic({ spec: { ports: [{ port: 80, $patch: 'delete' }] } })), [81])
  t.strictSame(await ports(strategic({ spec: { ports: [{ $patch: 'replace' }, { port: 90, name: 'c' }] } })), [90])

  const apply = (fields: object): PatchRequest => ({
    type: 'apply',
    body: { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, ...fields },
  })
  t.strictSame(await ports(apply({ spec: { ports: [{ name: 'd', port: 91 }] } }), 'one'), [90, 91], 'keyed lists merge')
  t.strictSame(await ports(apply({ spec: { ports: [{ name: 'e', port: 92 }] } }), 'one'), [90, 92], 'given up, removed')
  t.strictSame(await ports(apply({ spec: { ports: [{ name: 'f', port: 93 }] } }), 'two'), [90, 92, 93])

  const conditions = async (type: string, manager: string) => {
    const mcs = { ...ingresses, plural: 'multiclusterservices', name: 'm' }
    const condition = { type, status: 'True', reason: 'R', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }
    const head = { apiVersion: 'networking.karmada.io/v1alpha1', kind: 'MultiClusterService', metadata: { name: 'm' } }
    const body = { ...head, status: { conditions: [condition] } }
    return (
      await core.patch({ ...mcs, subresource: 'status' }, { type: 'apply', body }, { ...admin, fieldManager: manager })
    ).object
  }
  t.match(await refusal(() => conditions('A', 'x')), /^404 NotFound/, 'apply to /status creates nothing')
  const created = await core.patch(
    { ...ingresses, plural: 'multiclusterservices', name: 'm' },
    {
      type: 'apply',
      body: {
        apiVersion: 'networking.karmada.io/v1alpha1',
        kind: 'MultiClusterService',
        metadata: { name: 'm' },
        spec: { types: ['LoadBalancer'] },
      },
    },
    { ...admin, fieldManager: 'x' },
  )
  t.equal(created.created, true)
  await conditions('A', 'core')
  t.match(
    await conditions('B', 'us'),
    { status: { conditions: [{ type: 'A' }, { type: 'B' }] } },
    'two writers, one list',
  )

  t.match(await refusal(() => ports(apply({ spec: { nope: 1 } }), '')), /fieldManager: Required value/)
  const unknown = { type: 'apply' as const, body: { ...ingress('w'), spec: { foo: 1 } } }
  t.match(
    await refusal(() => core.patch(web, unknown, { ...admin, fieldManager: 'x' })),
    /\.spec\.foo: field not declared in schema/,
  )
  const twin = { type: 'A', status: 'True', reason: 'R', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }
  const head = { apiVersion: 'networking.karmada.io/v1alpha1', kind: 'MultiClusterService', metadata: { name: 'm' } }
  const twins = { type: 'apply' as const, body: { ...head, status: { conditions: [twin, twin] } } }
  const m = { ...ingresses, plural: 'multiclusterservices', name: 'm', subresource: 'status' as const }
  const refused = await refusal(() => core.patch(m, twins, { ...admin, fieldManager: 'x' }))
  t.match(refused, /\.status\.conditions: duplicate entries for key \[type="A"\]$/)
})

t.test('services: what is allocated, and what goes with the type', async (t) => {
  const core = testCore()
  const target = { ...services, name: 's' }
  const ports = [{ port: 80 }]
  const spec = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', ports }
  const { object } = await core.create(services, { metadata: { name: 's' }, spec }, admin)
  const port = { port: 80, protocol: 'TCP', targetPort: 80, nodePort: Number }
  t.match(object['spec'], { clusterIP: /^10\.96\./, healthCheckNodePort: Number, ports: [port] })
  const ingressOf = { loadBalancer: { ingress: [{ ip: '203.0.113.1' }] } }
  const served = await core.patch({ ...target, subresource: 'status' }, status(ingressOf), admin)
  t.match(served.object['status'], { loadBalancer: { ingress: [{ ip: '203.0.113.1', ipMode: 'VIP' }] } })
  const { object: changed } = await core.patch(target, merge({ spec: { type: 'ClusterIP' } }), admin)
  t.strictSame(changed['status'], { loadBalancer: {} }, 'no balancer to tell of')
  t.notMatch(changed['spec'], { healthCheckNodePort: Number })
  t.notMatch(changed['spec'], { ports: [{ nodePort: Number }] })
  t.match((changed['spec'] as { clusterIP: string }).clusterIP, (object['spec'] as { clusterIP: string }).clusterIP)
})

t.test('lists: selectors and pages of one moment', async (t) => {
  const core = testCore()
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    await core.create(ingresses, ingress(`p-${name}`, { metadata: { labels: { n: name, [name]: '3' } } }), admin)
  }
  const names = (items: ApiObject[]) => items.map(({ metadata }) => metadata.name.slice(2)).join('')
  const selected: [string, string][] = [
    ['n=a', 'a'],
    ['n==a', 'a'],
    ['n!=a', 'bcde'],
    ['n in (a, b)', 'ab'],
    ['n notin (a,b)', 'cde'],
    ['a', 'a'],
    ['!a', 'bcde'],
    ['a>2', 'a'],
    ['a<2', ''],
    ['n in (a,b),a', 'a'],
    ['', 'abcde'],
  ]
  for (const [labelSelector, expected] of selected) {
    t.equal(names(core.list(ingresses, { labelSelector }).items), expected, labelSelector)
  }
  t.equal(names(core.list(ingresses, { fieldSelector: 'metadata.name=p-a' }).items), 'a')
  t.equal(names(core.list(ingresses, { fieldSelector: 'metadata.name!=p-a,metadata.namespace=shop' }).items), 'bcde')
  for (const query of [
    { labelSelector: 'n in (a' },
    { labelSelector: '=' },
    { fieldSelector: 'spec.x=1' },
    { continue: 'x' },
  ]) {
    t.match(await refusal(() => core.list(ingresses, query)), /^400 BadRequest/, JSON.stringify(query))
  }

  const first = core.list(ingresses, { limit: 2 })
  t.match(first.metadata, { remainingItemCount: 3, continue: String })
  await core.delete({ ...ingresses, name: 'p-d' }, admin)
  await core.create(ingresses, ingress('p-ca'), admin)
  const rest = { limit: 5, continue: first.metadata.continue ?? '' }
  t.equal(names(core.list(ingresses, rest).items), 'cde', 'the second page shows the moment of the first')
  core.compact()
  const late = await refusal(() => core.list(ingresses, rest))
  t.match(late, /^410 Expired: The provided continue parameter is too old/)
  t.equal(core.list(ingresses).metadata.continue, '', 'the last page of a custom resource says so with an empty token')
})

t.test('watch: every change in order, for those it concerns', async (t) => {
  const { clock, advance, timers } = manualClock()
  const core = testCore({ clock })
  const watch = (query: object, seen: string[], onEnd = () => {}) =>
    core.watch(ingresses, query, {
      onEvent: (event: WatchEvent) => {
        seen.push(
          event.type === 'ERROR' ? `ERROR ${event.object.code}` : `${event.type} ${event.object.metadata.name ?? ''}`,
        )
      },
      onEnd,
    })
  await core.create(ingresses, ingress('a'), admin)
  const from = core.resourceVersion()
  const all: string[] = []
  const labelled: string[] = []
  const stop = watch({}, all)
  watch({ resourceVersion: from, labelSelector: 'x=y' }, labelled)
  const labels = (value: object | null) =>
    core.patch({ ...ingresses, name: 'a' }, merge({ metadata: { labels: value } }), admin)
  await labels({ x: 'y' })
  await labels({ x: 'y', z: '1' })
  await labels(null)
  await core.delete({ ...ingresses, name: 'a' }, admin)
  t.strictSame(all, ['ADDED a', 'MODIFIED a', 'MODIFIED a', 'MODIFIED a', 'DELETED a'])
  t.strictSame(labelled, ['ADDED a', 'MODIFIED a', 'DELETED a'], 'coming into and going out of a selection')
  stop()

  const resumed: string[] = []
  watch({ resourceVersion: from }, resumed)
  t.strictSame(resumed, all.slice(1), 'a later watch is told what it missed')

  let ended = false
  const initial: string[] = []
  const query = { sendInitialEvents: true, allowWatchBookmarks: true, timeoutSeconds: 90 }
  watch(query, initial, () => {
    ended = true
  })
  await advance(60_000)
  t.strictSame(initial, ['BOOKMARK ', 'BOOKMARK '], 'the end of the beginning, and one a minute later')
  await advance(60_000)
  t.equal(ended, true, 'the time is up')

  core.compact()
  const late: string[] = []
  watch({ resourceVersion: from }, late)
  t.strictSame(late, ['ERROR 410'])
  t.equal(timers(), 2, 'only the two open watches have a timer')
})

t.test('deletion: what stays, and how', async (t) => {
  const core = testCore()
  const namespaces = { group: '', version: 'v1', plural: 'namespaces' }
  for (const name of ['default', 'kube-system', 'kube-public']) {
    const refused = await refusal(() => core.delete({ ...namespaces, name }, admin))
    t.equal(refused, `403 Forbidden: namespaces "${name}" is forbidden: this namespace may not be deleted`)
  }

  await core.create(ingresses, ingress('a'), admin)
  const foreground = { ...admin, propagationPolicy: 'Foreground' as const }
  const { answer } = await core.delete({ ...ingresses, name: 'a' }, foreground)
  t.match(answer, { metadata: { finalizers: ['foregroundDeletion'], deletionTimestamp: String } })
  await core.idle()
  t.match(await refusal(() => core.get({ ...ingresses, name: 'a' })), /^404/, 'without dependents it goes at once')

  await core.create(ingresses, ingress('b', { metadata: { finalizers: ['orphan'] } }), admin)
  const orphan = await core.delete({ ...ingresses, name: 'b' }, admin)
  t.match(orphan.answer, { metadata: { finalizers: ['orphan'] } }, 'the object itself says how it is deleted')

  const { namespace: _, ...everywhere } = ingresses
  t.match(await refusal(() => core.deleteCollection(everywhere, {}, admin)), /^404/, 'in one namespace only')
})

t.test('patches: replacing what is not there', async (t) => {
  const core = testCore()
  await core.create(ingresses, ingress('a'), admin)
  const replace = (path: string, value: unknown) => {
    const body = [{ op: 'replace', path, value }]
    return core.patch({ ...ingresses, name: 'a' }, { type: 'json', body }, admin)
  }
  t.match(await replace('/metadata/labels', { a: 'b' }), { object: { metadata: { labels: { a: 'b' } } } })
  t.match(await refusal(() => replace('/spec/nothing/here', 1)), /^422/)
  t.match(await refusal(() => replace('/metadata/finalizers/0', 'x.dev/f')), /^422/)
})

t.test('the controllers: owners, namespaces and CRDs', async (t) => {
  const core = testCore()
  const maps = { group: '', version: 'v1', plural: 'configmaps', namespace: 'shop' }
  const make = async (name: string, owners: ApiObject[] = []) => {
    const ownerReferences = owners.map(({ apiVersion, kind, metadata }) => ({
      apiVersion,
      kind,
      name: metadata.name,
      uid: metadata.uid,
    }))
    return (
      await core.create(maps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ownerReferences } }, admin)
    ).object
  }
  const left = () => core.list(maps).items.map(({ metadata }) => metadata.name)
  const [one, two] = [await make('one'), await make('two')]
  await make('of-one', [one])
  await make('of-both', [one, two])
  await core.delete({ ...maps, name: 'one' }, admin)
  await core.idle()
  t.strictSame(left(), ['of-both', 'two'], 'a dependent goes with its last owner')
  await core.delete({ ...maps, name: 'two' }, { ...admin, propagationPolicy: 'Orphan' })
  await core.idle()
  t.strictSame(left(), ['of-both'])
  const three = await make('three')
  await make('of-three', [three])
  await core.delete({ ...maps, name: 'three' }, { ...admin, propagationPolicy: 'Foreground' })
  await core.idle()
  t.strictSame(left(), ['of-both'])

  await core.create(ingresses, ingress('held', { metadata: { finalizers: ['x.dev/f'] } }), admin)
  const namespace = { group: '', version: 'v1', plural: 'namespaces', name: 'shop' }
  await core.delete(namespace, admin)
  await core.idle()
  t.strictSame(left(), [])
  t.match(core.get(namespace), { status: { phase: 'Terminating' } }, 'waits for what has finalizers')
  t.match(await refusal(() => make('late')), /^403 Forbidden: .*because it is being terminated$/)
  await core.patch({ ...ingresses, name: 'held' }, merge({ metadata: { finalizers: null } }), admin)
  await core.idle()
  t.match(await refusal(() => core.get(namespace)), /^404/)

  const elsewhere = { ...ingresses, namespace: 'default' }
  await core.create(elsewhere, ingress('held', { metadata: { finalizers: ['x.dev/f'] } }), admin)
  await core.create(elsewhere, ingress('free'), admin)
  const crds = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' }
  const crd = { ...crds, name: 'multiclusteringresses.networking.karmada.io' }
  await core.delete(crd, admin)
  await core.idle()
  t.strictSame(
    core.list(elsewhere).items.map(({ metadata }) => metadata.deletionTimestamp),
    ['2026-01-01T00:00:00Z'],
  )
  await core.patch({ ...elsewhere, name: 'held' }, merge({ metadata: { finalizers: null } }), admin)
  await core.idle()
  t.match(await refusal(() => core.get(crd)), /^404/)
  t.match(await refusal(() => core.list(elsewhere)), /^404/, 'no longer served')
})

t.test('the cluster store: the same answers in our own terms', async (t) => {
  const core = testCore()
  const store = createLocalClusterStore(core, 'us')
  const { signal } = new AbortController()
  const key = { kind: 'MultiClusterIngress', namespace: 'shop', name: 'web' } as const
  const object = {
    apiVersion: 'networking.karmada.io/v1alpha1',
    kind: 'MultiClusterIngress',
    metadata: { name: 'web', namespace: 'shop' },
  }
  t.equal(await store.get(key, { signal }), undefined)
  const created = await store.create('MultiClusterIngress', object, { signal })
  t.equal(await store.get(key, { signal }), created)
  const codes: [string, () => Promise<unknown>, string][] = [
    ['name taken', () => store.create('MultiClusterIngress', object, { signal }), 'AlreadyExists'],
    [
      'old version',
      () => store.patch(key, { type: 'merge', body: { metadata: { resourceVersion: '1' } } }, { signal }),
      'Conflict',
    ],
    ['other uid', () => store.patch(key, { type: 'merge', body: { metadata: { uid: 'x' } } }, { signal }), 'Conflict'],
    [
      'failing test',
      () => store.patch(key, { type: 'json', operations: [{ op: 'test', path: '/kind', value: 'x' }] }, { signal }),
      'Conflict',
    ],
    ['invalid', () => store.patch(key, { type: 'merge', body: { spec: { rules: 1 } } }, { signal }), 'ApiInvalid'],
    ['gone', () => store.patch({ ...key, name: 'no' }, { type: 'merge', body: {} }, { signal }), 'NotFound'],
    ['given up', () => store.get(key, { signal: AbortSignal.abort() }), 'ApiTimeout'],
  ]
  for (const [name, action, code] of codes) {
    const error = await action().then(
      () => undefined,
      (reason: unknown) => reason,
    )
    t.ok(isCatalogueError(error) && error.code === code, `${name}: ${code}`)
  }
  const patched = await store.patch(
    key,
    { type: 'merge', body: { status: { trafficBlockClusters: ['a'] } } },
    { signal, subresource: 'status' },
  )
  t.strictSame(patched.status, { trafficBlockClusters: ['a'] })
  await store.create('MultiClusterIngress', { ...object, metadata: { name: 'other', namespace: 'shop' } }, { signal })
  const page = await store.list('MultiClusterIngress', { signal, limit: 1 })
  t.match(page, { items: [{ metadata: { name: 'other' } }], continue: String })
  const last = await store.list('MultiClusterIngress', { signal, limit: 1, continue: page.continue ?? '' })
  t.match(last, { items: [{ metadata: { name: 'web' } }], resourceVersion: page.resourceVersion })
  t.equal(last.continue, undefined)
  core.compact()
  await core.create(ingresses, ingress('third'), admin)
  core.compact()
  const expired = store.list('MultiClusterIngress', { signal, limit: 1, continue: page.continue ?? '' })
  await t.rejects(expired, { code: 'ContinueExpired' })
})

t.test('preload: a world as it was, deletion and status included', async (t) => {
  const core = testCore()
  const metadata = { namespace: 'shop', uid: 'u', deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x.dev/f'] }
  core.preload([ingress('web', { metadata, status: { trafficBlockClusters: ['a'] } })])
  t.match(core.get(web), { metadata, status: { trafficBlockClusters: ['a'] } })
})
