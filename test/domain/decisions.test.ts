import t from 'tap'
import type { ClusterEvent } from '../../src/domain/cluster-event.ts'
import { addFinalizer, claimPatch, otherProvidersFinalizer, releasePatch } from '../../src/domain/finalizers.ts'
import type { IngressClass } from '../../src/domain/ingress-class.ts'
import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import { type LabelSelector, selects } from '../../src/domain/label-selector.ts'
import { publishableStatus, sameLoadBalancerStatus } from '../../src/domain/load-balancer-status.ts'
import { ownershipByClass, ownershipByType } from '../../src/domain/ownership.ts'
import { isRelevantChange } from '../../src/domain/relevance.ts'
import { isUnfinished } from '../../src/domain/unfinished.ts'
import {
  buildClass,
  buildIngress,
  buildService,
  CONTROLLER,
  DEFAULT_CLASS,
  FINALIZER,
} from '../support/build-objects.ts'

t.test('whose an ingress is, by its class', async (t) => {
  const ours = buildClass()
  const theirs = buildClass({ metadata: { name: 'theirs' }, spec: { controller: 'example.com/other' } })
  const oursByDefault = buildClass({ metadata: { annotations: DEFAULT_CLASS } })
  const theirsByDefault = buildClass({ ...theirs, metadata: { name: 'theirs', annotations: DEFAULT_CLASS } })
  const noController: IngressClass = { ...buildClass(), spec: {} }
  const rows: [string, string | undefined, IngressClass[], string, RegExp?][] = [
    ['a class of ours is named', 'multicloud', [ours, theirs], 'ours'],
    [
      'a class of another is named',
      'theirs',
      [ours, theirs],
      'another',
      /"theirs" belongs to controller "example.com\/other"/,
    ],
    ['a class without controller is named', 'multicloud', [noController], 'another', /controller ""/],
    ['a class that does not exist is named', 'gone', [ours], 'unresolved', /IngressClass "gone" not found/],
    ['an empty name is an explicit no', '', [oursByDefault], 'another', /no class is wanted/],
    ['no name, our class is the default', undefined, [oursByDefault, theirs], 'ours'],
    ['no name, their class is the default', undefined, [ours, theirsByDefault], 'another'],
    ['no name and no default', undefined, [ours, theirs], 'unresolved', /no IngressClass is the default/],
    [
      'no name and two defaults',
      undefined,
      [oursByDefault, theirsByDefault],
      'unresolved',
      /multiple default IngressClasses: multicloud, theirs/,
    ],
  ]
  for (const [title, name, classes, kind, reason] of rows) {
    const ingress = buildIngress({ spec: name === undefined ? {} : { ingressClassName: name } })
    const ownership = ownershipByClass(ingress, classes, CONTROLLER)
    t.equal(ownership.kind, kind, title)
    if (reason !== undefined) t.match('reason' in ownership ? ownership.reason : '', reason, title)
  }
  t.equal(
    ownershipByClass({ ...buildIngress(), spec: undefined } as never, [ours], CONTROLLER).kind,
    'unresolved',
    'no spec',
  )
})

t.test('whose a service is, by type and selector', async (t) => {
  const selector: LabelSelector = { matchLabels: { tier: 'edge' } }
  const rows: [string, Parameters<typeof buildService>[0], LabelSelector, string][] = [
    ['LoadBalancer, no selector', {}, {}, 'ours'],
    ['LoadBalancer beside a legacy type', { spec: { types: ['CrossCluster', 'LoadBalancer'] } }, {}, 'ours'],
    ['CrossCluster is Karmada’s own', { spec: { types: ['CrossCluster'] } }, {}, 'another'],
    ['no types', { spec: {} }, {}, 'another'],
    ['selected', { metadata: { labels: { tier: 'edge' } } }, selector, 'ours'],
    ['not selected', {}, selector, 'another'],
  ]
  for (const [title, overrides, wanted, kind] of rows)
    t.equal(ownershipByType(buildService(overrides), wanted).kind, kind, title)
  t.equal(ownershipByType({ ...buildService(), spec: undefined } as never, {}).kind, 'another', 'no spec')
})

t.test('label selectors', async (t) => {
  const labels = { app: 'web', tier: 'edge' }
  const expression = (
    operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist',
    key: string,
    values?: string[],
  ): LabelSelector => ({
    matchExpressions: [{ key, operator, ...(values === undefined ? {} : { values }) }],
  })
  const rows: [LabelSelector, boolean][] = [
    [{}, true],
    [{ matchLabels: { app: 'web' } }, true],
    [{ matchLabels: { app: 'db' } }, false],
    [{ matchLabels: { constructor: 'web' } }, false],
    [expression('In', 'app', ['web', 'db']), true],
    [expression('In', 'app', ['db']), false],
    [expression('In', 'app'), false],
    [expression('In', 'none', ['x']), false],
    [expression('NotIn', 'app', ['db']), true],
    [expression('NotIn', 'app', ['web']), false],
    [expression('NotIn', 'none', ['web']), true],
    [expression('Exists', 'tier'), true],
    [expression('Exists', 'toString'), false],
    [expression('DoesNotExist', 'none'), true],
    [expression('DoesNotExist', 'tier'), false],
  ]
  for (const [selector, expected] of rows) t.equal(selects(selector, labels), expected, JSON.stringify(selector))
  t.equal(selects({ matchLabels: { app: 'web' } }), false, 'no labels at all')
})

t.test('finalizers: ours alone is touched, on exactly one version', async (t) => {
  const held = buildIngress({ metadata: { uid: 'u', resourceVersion: '7', finalizers: ['a.example/x', FINALIZER] } })
  t.same(releasePatch(held, FINALIZER), [
    { op: 'test', path: '/metadata/uid', value: 'u' },
    { op: 'test', path: '/metadata/resourceVersion', value: '7' },
    { op: 'test', path: '/metadata/finalizers/1', value: FINALIZER },
    { op: 'remove', path: '/metadata/finalizers/1' },
  ])
  t.same(releasePatch(buildIngress(), FINALIZER), [], 'nothing to release')
  t.same(claimPatch(buildIngress(), FINALIZER).slice(0, 2), [
    { op: 'test', path: '/metadata/uid', value: null },
    { op: 'test', path: '/metadata/resourceVersion', value: null },
  ])
  t.same(addFinalizer(buildIngress(), FINALIZER), [{ op: 'add', path: '/metadata/finalizers', value: [FINALIZER] }])
  t.same(
    addFinalizer(buildIngress({ metadata: { finalizers: [] } }), FINALIZER),
    [{ op: 'add', path: '/metadata/finalizers/-', value: FINALIZER }],
    'an empty list is a list',
  )
  const nulled = buildIngress({ metadata: { finalizers: null as never } })
  t.same(addFinalizer(nulled, FINALIZER), [{ op: 'add', path: '/metadata/finalizers', value: [FINALIZER] }])
  const others: [string[], string | undefined][] = [
    [[], undefined],
    [[FINALIZER], undefined],
    [['karmada.io/multiclusterservice-controller'], undefined],
    [['karmada.io/multi-cluster-ingress-controller'], 'karmada.io/multi-cluster-ingress-controller'],
    [['webhook-cloud-provider.dev/other', FINALIZER], 'webhook-cloud-provider.dev/other'],
  ]
  for (const [finalizers, expected] of others) {
    t.equal(otherProvidersFinalizer(buildIngress({ metadata: { finalizers } }), FINALIZER), expected, finalizers.join())
  }
})

t.test('which changes can mean work', async (t) => {
  const marks = { identity: 'us', finalizer: FINALIZER }
  const before = buildIngress({ metadata: { finalizers: [FINALIZER], labels: { a: '1' } } })
  const change = (object: KubernetesObject | undefined, overrides: Partial<ClusterEvent> = {}): ClusterEvent => ({
    source: 'admission',
    operation: 'UPDATE',
    group: 'networking.karmada.io',
    kind: 'MultiClusterIngress',
    namespace: 'shop',
    name: 'storefront',
    oldObject: before,
    username: 'somebody',
    receivedAt: 0,
    ...(object === undefined ? {} : { object }),
    ...overrides,
  })
  const edited = (metadata: Record<string, unknown>, rest: Record<string, unknown> = {}) =>
    ({ ...before, ...rest, metadata: { ...before.metadata, ...metadata } }) as KubernetesObject
  const rows: [string, ClusterEvent, boolean][] = [
    ['CREATE', change(before, { operation: 'CREATE' }), true],
    ['DELETE', change(undefined, { operation: 'DELETE' }), true],
    ['an UPDATE that cannot be compared', { ...change(before), oldObject: undefined } as never, true],
    ['nothing changed', change(edited({})), false],
    ['a label', change(edited({ labels: { a: '2' } })), false],
    ['status', change(edited({}, { status: { loadBalancer: {} } })), false],
    ['an annotation', change(edited({ annotations: { a: '1' } })), true],
    [
      'kubectl’s record of what was applied',
      change(edited({ annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}' } })),
      false,
    ],
    ['the spec', change(edited({}, { spec: {} })), true],
    ['a field beside the spec', change(edited({}, { ports: [] })), true],
    ['deletion', change(edited({ deletionTimestamp: '2026-03-01T08:00:00Z' })), true],
    ['our finalizer taken by somebody', change(edited({ finalizers: [] })), true],
    ['our finalizer released by us', change(edited({ finalizers: [] }), { username: 'us' }), false],
    ['a foreign finalizer added', change(edited({ finalizers: [FINALIZER, 'a.example/x'] })), false],
    ['the spec, under our own name', change(edited({}, { spec: {} }), { username: 'us' }), true],
  ]
  for (const [title, event, expected] of rows) t.equal(isRelevantChange(event, marks), expected, title)
  const unknown = { identity: undefined, finalizer: FINALIZER }
  t.equal(
    isRelevantChange(change(edited({ finalizers: [] }), { username: 'us' }), unknown),
    true,
    'our name is not known',
  )
})

t.test('status: what readers see decides', async (t) => {
  const same: [string, object | undefined, object | undefined, boolean][] = [
    ['absent and empty', undefined, { ingress: [] }, true],
    ['IPv6 text forms', { ingress: [{ ip: '2001:db8:1:0::10' }] }, { ingress: [{ ip: '2001:DB8:1::10' }] }, true],
    [
      'case of hostnames',
      { ingress: [{ hostname: 'LB.example.com' }] },
      { ingress: [{ hostname: 'lb.example.com' }] },
      true,
    ],
    [
      'ports that cannot be stored',
      { ingress: [{ ip: '192.0.2.1', ports: [{ port: 80 }] }] },
      { ingress: [{ ip: '192.0.2.1' }] },
      true,
    ],
    ['an address that is none', { ingress: [{ ip: 'x y' }] }, { ingress: [{ ip: 'x y' }] }, true],
    [
      'order',
      { ingress: [{ ip: '192.0.2.1' }, { ip: '192.0.2.2' }] },
      { ingress: [{ ip: '192.0.2.2' }, { ip: '192.0.2.1' }] },
      false,
    ],
    ['another address', { ingress: [{ ip: '192.0.2.1' }] }, { ingress: [{ ip: '192.0.2.2' }] }, false],
    ['a port with an error', { ingress: [{ ports: [{ port: 80, error: 'PortInUse' }] }] }, { ingress: [{}] }, false],
  ]
  for (const [title, a, b, expected] of same) t.equal(sameLoadBalancerStatus(a, b), expected, title)
  t.same(publishableStatus({ ingress: [{ ip: '192.0.2.1', ports: [{ port: 80 }, { port: 81, error: 'X' }] }] }), {
    ingress: [{ ip: '192.0.2.1', ports: [{ port: 81, error: 'X' }] }],
  })
  t.same(publishableStatus({}), { ingress: [] })
})

t.test('what the pending sweep looks at', async (t) => {
  const served = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } }
  const deletionTimestamp = '2026-03-01T08:00:00Z'
  const rows: [string, Parameters<typeof isUnfinished>[0], boolean][] = [
    ['unclaimed ingress', buildIngress(), true],
    ['claimed, no address', buildIngress({ metadata: { finalizers: [FINALIZER] } }), true],
    ['claimed and served', buildIngress({ metadata: { finalizers: [FINALIZER] }, status: served }), false],
    [
      'leaving, held by us',
      buildIngress({ metadata: { finalizers: [FINALIZER], deletionTimestamp }, status: served }),
      true,
    ],
    ['leaving, held by others', buildIngress({ metadata: { finalizers: ['a.example/x'], deletionTimestamp } }), false],
    ['unclaimed service that wants a balancer', buildService(), true],
    ['unclaimed service that does not', buildService({ spec: { types: ['CrossCluster'] } }), false],
    [
      'an empty list of addresses',
      buildService({ metadata: { finalizers: [FINALIZER] }, status: { loadBalancer: {} } }),
      true,
    ],
  ]
  for (const [title, object, expected] of rows) t.equal(isUnfinished(object, FINALIZER), expected, title)
})
