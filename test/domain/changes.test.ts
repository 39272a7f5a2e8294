import fc from 'fast-check'
import t from 'tap'
import { canonicalJson, sameJson } from '../../src/domain/canonical-json.ts'
import { lookupsForChange } from '../../src/domain/changes/keys-for-change.ts'
import { type Lookup, listsForLookup, lookupIdentity } from '../../src/domain/changes/lookup.ts'
import { type Listed, matchLookup } from '../../src/domain/changes/match-lookup.ts'
import type { ClusterEvent } from '../../src/domain/cluster-event.ts'
import { createHostClaims, hostConflictFindings, hostConflicts } from '../../src/domain/host-conflicts.ts'
import type { KubernetesObject, ObjectMeta } from '../../src/domain/kubernetes-object.ts'
import type { IngressRule, MultiClusterIngress } from '../../src/domain/multi-cluster-ingress.ts'
import { formatKey } from '../../src/domain/object-key.ts'
import {
  buildBinding,
  buildClass,
  buildCluster,
  buildIngress,
  buildSecret,
  buildService,
  buildSlice,
  buildTemplate,
  DEFAULT_CLASS,
  FINALIZER,
} from '../support/build-objects.ts'

const MARKS = { identity: 'us', finalizer: FINALIZER }
const GROUPS: Readonly<Record<string, string>> = {
  EndpointSlice: 'discovery.k8s.io',
  ResourceBinding: 'work.karmada.io',
  Cluster: 'cluster.karmada.io',
  Remedy: 'remedy.karmada.io',
  IngressClass: 'networking.k8s.io',
  ServiceExport: 'multicluster.x-k8s.io',
  PropagationPolicy: 'policy.karmada.io',
  ClusterPropagationPolicy: 'policy.karmada.io',
  MultiClusterIngress: 'networking.karmada.io',
  MultiClusterService: 'networking.karmada.io',
}
const deletionTimestamp = '2026-03-01T08:00:00Z'

/** `CREATE` of `after`, `DELETE` of `before`, `UPDATE` from one to the other. */
function eventOf(kind: string, before: unknown, after: unknown, changes: Partial<ClusterEvent> = {}): ClusterEvent {
  const known = (after ?? before) as KubernetesObject | undefined
  return {
    source: 'admission',
    operation: before === undefined ? 'CREATE' : after === undefined ? 'DELETE' : 'UPDATE',
    group: GROUPS[kind] ?? '',
    kind,
    namespace: known?.metadata?.namespace ?? '',
    name: known?.metadata?.name ?? '',
    username: 'somebody',
    receivedAt: 0,
    ...(before === undefined ? {} : { oldObject: before as KubernetesObject }),
    ...(after === undefined ? {} : { object: after as KubernetesObject }),
    ...changes,
  }
}

/** An event that carries no object: a reference, or a DELETE. */
const named = (kind: string, name: string, namespace = 'shop', operation: ClusterEvent['operation'] = 'UPDATE') =>
  eventOf(kind, undefined, undefined, { operation, name, namespace, source: 'cloudevent' })

function describe(lookup: Lookup): string {
  switch (lookup.find) {
    case 'key':
      return formatKey(lookup.key)
    case 'ingressesOfService':
      return `ingresses of service ${lookup.namespace}/${lookup.service}`
    case 'serviceOfName':
      return `mcs ${lookup.namespace}/${lookup.name}`
    case 'servicesInSliceName':
      return `services in ${lookup.namespace}/${lookup.slice}`
    case 'ingressesOfSecret':
      return `ingresses of secret ${lookup.namespace}/${lookup.secret}`
    case 'inClusters':
      return `in ${lookup.clusters === 'all' ? 'all clusters' : lookup.clusters.join('+')}`
    case 'otherTrafficControl':
      return `in ${lookup.cluster}, ${lookup.blocked ? 'blocked' : 'not blocked'} now`
    case 'ingressesOfClass':
      return `ingresses of class ${lookup.name}${lookup.orDefault ? ' or none' : ''}`
  }
}
const found = (event: ClusterEvent, marks = MARKS): string[] => lookupsForChange(event, marks).lookups.map(describe)

const with_ = <T extends KubernetesObject>(object: T, metadata: Partial<ObjectMeta>, rest: object = {}): T => ({
  ...object,
  ...rest,
  metadata: { ...object.metadata, ...metadata },
})

const OF_WEB = ['ingresses of service shop/web', 'mcs shop/web']
const OF_WEB_AND_EXPORT = [...OF_WEB, 'ServiceExport/shop/web']
const CRD_POLICY = 'ClusterPropagationPolicy//serviceexportpropagation-policy'

t.test('what a change concerns', async (t) => {
  const service = buildTemplate()
  const slice = buildSlice()
  const secret = buildSecret('web-tls')
  const metadataOnly = (resourceVersion: string) => ({
    metadata: { name: 'web-tls', namespace: 'shop', resourceVersion },
  })
  const binding = buildBinding('web', ['edge-a'])
  const knative = {
    ...binding,
    spec: { ...binding.spec, resource: { apiVersion: 'serving.knative.dev/v1', kind: 'Service', name: 'web' } },
  }
  const cluster = (name: string, ...actions: string[]) => buildCluster(name, actions)
  const remedy = (spec: object) => ({
    apiVersion: 'remedy.karmada.io/v1alpha1',
    kind: 'Remedy',
    metadata: { name: 'drain' },
    spec,
  })
  const drain = (...clusterNames: string[]) =>
    remedy({ clusterAffinity: { clusterNames }, actions: ['TrafficControl'] })
  const ourClass = buildClass()
  const owned = (uid: string) => [{ apiVersion: 'v1', kind: 'Service', name: 'web', uid, controller: true }]
  const exported = {
    apiVersion: 'multicluster.x-k8s.io/v1alpha1',
    kind: 'ServiceExport',
    metadata: { name: 'web', namespace: 'shop', ownerReferences: owned('a') },
  }
  const policy = {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'PropagationPolicy',
    metadata: { name: 'propagate-service-x', namespace: 'shop', ownerReferences: owned('a') },
    spec: {},
  }
  const crdPolicy = {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'ClusterPropagationPolicy',
    metadata: { name: 'serviceexportpropagation-policy' },
    spec: {},
  }
  const ingress = buildIngress()
  const balanced = buildService()
  const rows: [string, ClusterEvent, string[]][] = [
    ['Service created', eventOf('Service', undefined, service), OF_WEB_AND_EXPORT],
    ['Service deleted', eventOf('Service', service, undefined), OF_WEB_AND_EXPORT],
    ['Service: spec', eventOf('Service', service, with_(service, {}, { spec: {} })), OF_WEB_AND_EXPORT],
    [
      'Service: annotation',
      eventOf('Service', service, with_(service, { annotations: { a: '1' } })),
      OF_WEB_AND_EXPORT,
    ],
    ['Service: deletion', eventOf('Service', service, with_(service, { deletionTimestamp })), OF_WEB_AND_EXPORT],
    ['Service: label, status', eventOf('Service', service, with_(service, { labels: { a: '1' } }, { status: {} })), []],
    ['Service by name alone', named('Service', 'web'), OF_WEB_AND_EXPORT],
    ['a Service of Knative', eventOf('Service', undefined, service, { group: 'serving.knative.dev' }), []],

    ['slice created', eventOf('EndpointSlice', undefined, slice), OF_WEB],
    ['slice updated, whatever changed', eventOf('EndpointSlice', slice, slice), OF_WEB],
    ['slice deleted', eventOf('EndpointSlice', slice, undefined), OF_WEB],
    ['slice without the label', eventOf('EndpointSlice', undefined, with_(slice, { labels: {} })), []],
    [
      'slice given to another Service',
      eventOf('EndpointSlice', slice, buildSlice({ service: 'api' })),
      [...OF_WEB, 'ingresses of service shop/api', 'mcs shop/api'],
    ],
    [
      'slice by name alone',
      named('EndpointSlice', 'imported-edge-a-web-x7k2p'),
      ['services in shop/imported-edge-a-web-x7k2p'],
    ],

    ['Secret created', eventOf('Secret', undefined, secret), ['ingresses of secret shop/web-tls']],
    [
      'Secret: data',
      eventOf('Secret', secret, { ...secret, data: { 'tls.crt': '' } }),
      ['ingresses of secret shop/web-tls'],
    ],
    ['Secret: type', eventOf('Secret', secret, { ...secret, type: 'Opaque' }), ['ingresses of secret shop/web-tls']],
    ['Secret: label', eventOf('Secret', secret, with_(secret, { labels: { a: '1' }, resourceVersion: '8' })), []],
    [
      'Secret, metadata only: version',
      eventOf('Secret', metadataOnly('7'), metadataOnly('8')),
      ['ingresses of secret shop/web-tls'],
    ],
    ['Secret, metadata only: the same', eventOf('Secret', metadataOnly('7'), metadataOnly('7')), []],
    ['Secret by name alone', named('Secret', 'web-tls'), ['ingresses of secret shop/web-tls']],

    ['binding created', eventOf('ResourceBinding', undefined, binding), OF_WEB_AND_EXPORT],
    ['binding deleted', eventOf('ResourceBinding', binding, undefined), OF_WEB_AND_EXPORT],
    ['binding: clusters', eventOf('ResourceBinding', binding, buildBinding('web', ['edge-b'])), OF_WEB_AND_EXPORT],
    [
      'binding: order of clusters',
      eventOf('ResourceBinding', buildBinding('web', ['b', 'a']), buildBinding('web', ['a', 'b'])),
      [],
    ],
    [
      'binding: the same cluster by another way',
      eventOf('ResourceBinding', binding, {
        ...binding,
        spec: { ...binding.spec, clusters: [], requiredBy: [{ clusters: [{ name: 'edge-a' }] }] },
      }),
      [],
    ],
    [
      'binding: deletion',
      eventOf('ResourceBinding', binding, with_(binding, { deletionTimestamp })),
      OF_WEB_AND_EXPORT,
    ],
    ['B21: binding of Knative', eventOf('ResourceBinding', undefined, knative), []],
    ['binding by name alone', named('ResourceBinding', 'web-service'), OF_WEB_AND_EXPORT],
    ['binding of something else by name alone', named('ResourceBinding', 'web-deployment'), []],

    [
      'Cluster: blocked now',
      eventOf('Cluster', cluster('edge-b'), cluster('edge-b', 'TrafficControl')),
      ['in edge-b, blocked now'],
    ],
    [
      'Cluster: blocked no more',
      eventOf('Cluster', cluster('edge-b', 'TrafficControl'), cluster('edge-b')),
      ['in edge-b, not blocked now'],
    ],
    ['Cluster: nothing of ours', eventOf('Cluster', cluster('edge-b'), cluster('edge-b', 'Other')), []],
    [
      'Cluster, as wcp watch tells it: no old state',
      eventOf('Cluster', undefined, cluster('edge-b', 'TrafficControl'), { operation: 'UPDATE', source: 'cloudevent' }),
      ['in edge-b, blocked now'],
    ],
    ['Cluster comes', eventOf('Cluster', undefined, cluster('edge-c')), ['in edge-c, not blocked now', CRD_POLICY]],
    ['B11: Cluster goes', named('Cluster', 'edge-b', '', 'DELETE'), ['in edge-b', CRD_POLICY]],
    [
      'Cluster is going',
      eventOf('Cluster', cluster('edge-b'), with_(cluster('edge-b'), { deletionTimestamp })),
      ['in edge-b, not blocked now', CRD_POLICY],
    ],
    ['Cluster by name alone', named('Cluster', 'edge-b', ''), ['in edge-b']],

    ['Remedy created', eventOf('Remedy', undefined, drain('edge-b')), ['in edge-b']],
    ['Remedy moved', eventOf('Remedy', drain('edge-b'), drain('edge-a', 'edge-b')), ['in edge-a+edge-b']],
    ['Remedy deleted', eventOf('Remedy', drain('edge-b'), undefined), ['in edge-b']],
    ['Remedy of no cluster', eventOf('Remedy', undefined, drain()), ['in ']],
    ['Remedy of every cluster', eventOf('Remedy', drain('edge-b'), remedy({})), ['in all clusters']],
    ['Remedy: the same', eventOf('Remedy', drain('edge-b'), drain('edge-b')), []],
    ['Remedy by name alone', named('Remedy', 'drain', ''), ['in all clusters']],

    ['B7: IngressClass created', eventOf('IngressClass', undefined, ourClass), ['ingresses of class multicloud']],
    ['IngressClass deleted', eventOf('IngressClass', ourClass, undefined), ['ingresses of class multicloud']],
    [
      'IngressClass: controller',
      eventOf('IngressClass', ourClass, { ...ourClass, spec: { controller: 'x' } }),
      ['ingresses of class multicloud'],
    ],
    [
      'B7: made default',
      eventOf('IngressClass', ourClass, with_(ourClass, { annotations: DEFAULT_CLASS })),
      ['ingresses of class multicloud or none'],
    ],
    [
      'default no more',
      eventOf('IngressClass', with_(ourClass, { annotations: DEFAULT_CLASS }), ourClass),
      ['ingresses of class multicloud or none'],
    ],
    [
      'IngressClass: parameters',
      eventOf('IngressClass', ourClass, { ...ourClass, spec: { ...ourClass.spec, parameters: {} } }),
      [],
    ],
    [
      'IngressClass: deletion',
      eventOf('IngressClass', ourClass, with_(ourClass, { deletionTimestamp })),
      ['ingresses of class multicloud'],
    ],
    ['IngressClass by name alone', named('IngressClass', 'multicloud', ''), ['ingresses of class multicloud or none']],

    ['export created', eventOf('ServiceExport', undefined, exported), []],
    ['export deleted', eventOf('ServiceExport', exported, undefined), ['ServiceExport/shop/web']],
    [
      'export disowned',
      eventOf('ServiceExport', exported, with_(exported, { ownerReferences: [] })),
      ['ServiceExport/shop/web'],
    ],
    ['export: status', eventOf('ServiceExport', exported, with_(exported, {}, { status: {} })), []],
    ['export deleted by us', eventOf('ServiceExport', exported, undefined, { username: 'us' }), []],

    ['policy created', eventOf('PropagationPolicy', undefined, policy), []],
    [
      'policy changed',
      eventOf('PropagationPolicy', policy, { ...policy, spec: { priority: 1 } }),
      ['ServiceExport/shop/web'],
    ],
    [
      'policy disowned',
      eventOf('PropagationPolicy', policy, with_(policy, { ownerReferences: [] })),
      ['ServiceExport/shop/web'],
    ],
    ['policy: label', eventOf('PropagationPolicy', policy, with_(policy, { labels: { a: '1' } })), []],
    ['a user’s policy', eventOf('PropagationPolicy', with_(policy, { ownerReferences: [] }), undefined), []],
    [
      'policy by name alone',
      named('PropagationPolicy', 'propagate-service-web', 'shop', 'DELETE'),
      ['ServiceExport/shop/web'],
    ],
    ['another policy by name alone', named('PropagationPolicy', 'mine', 'shop', 'DELETE'), []],

    ['CRD policy created', eventOf('ClusterPropagationPolicy', undefined, crdPolicy), []],
    [
      'CRD policy changed',
      eventOf('ClusterPropagationPolicy', crdPolicy, { ...crdPolicy, spec: { priority: 1 } }),
      [CRD_POLICY],
    ],
    [
      'CRD policy without our mark',
      eventOf('ClusterPropagationPolicy', crdPolicy, with_(crdPolicy as KubernetesObject, { labels: {} })),
      [CRD_POLICY],
    ],
    ['CRD policy deleted', eventOf('ClusterPropagationPolicy', crdPolicy, undefined), [CRD_POLICY]],
    ['another policy deleted', eventOf('ClusterPropagationPolicy', with_(crdPolicy, { name: 'x' }), undefined), []],

    ['ingress created', eventOf('MultiClusterIngress', undefined, ingress), ['MultiClusterIngress/shop/storefront']],
    [
      'ingress to another Service',
      eventOf('MultiClusterIngress', ingress, { ...ingress, spec: { defaultBackend: { service: { name: 'api' } } } }),
      ['MultiClusterIngress/shop/storefront'],
    ],
    ['ingress: status', eventOf('MultiClusterIngress', ingress, { ...ingress, status: {} }), []],
    ['ingress by name alone', named('MultiClusterIngress', 'storefront'), ['MultiClusterIngress/shop/storefront']],
    [
      'MultiClusterService deleted',
      eventOf('MultiClusterService', balanced, undefined),
      ['MultiClusterService/shop/game'],
    ],
    ['no name yet', eventOf('MultiClusterIngress', undefined, ingress, { name: '' }), []],
    ['a kind that concerns nobody', named('Work', 'x'), []],
    ['a kind we do not know', named('Deployment', 'x'), []],
    [
      'made-up content of a slice',
      eventOf('EndpointSlice', undefined, with_(slice, { labels: { 'kubernetes.io/service-name': 7 } as never })),
      ['services in shop/imported-edge-a-web-x7k2p'],
    ],
    [
      'made-up content of an ingress',
      eventOf('MultiClusterIngress', undefined, { ...ingress, spec: { rules: 7 } }),
      ['MultiClusterIngress/shop/storefront'],
    ],
  ]
  for (const [title, event, expected] of rows) t.strictSame(found(event), expected, title)
  t.equal(
    lookupsForChange(eventOf('Remedy', undefined, drain('edge-b')), MARKS).againMs,
    5_000,
    'what follows comes later',
  )
  t.equal(lookupsForChange(eventOf('Remedy', drain(), drain()), MARKS).againMs, undefined)
  t.strictSame(
    found(eventOf('ServiceExport', exported, undefined), { identity: undefined, finalizer: FINALIZER } as never),
    ['ServiceExport/shop/web'],
  )

  const identities = new Set<string>()
  for (let index = 0; index < 1_000; index += 1) {
    const event = eventOf(
      'EndpointSlice',
      undefined,
      buildSlice({ metadata: { name: `imported-edge-a-web-${index}`, labels: slice.metadata.labels ?? {} } }),
    )
    for (const lookup of lookupsForChange(event, MARKS).lookups) identities.add(lookupIdentity(lookup))
  }
  t.equal(identities.size, 2, 'a burst of one Service is two lookups')
})

t.test('which objects a lookup finds', async (t) => {
  const located = (name: string, clusters: string[], trafficBlockClusters: string[] = []) =>
    buildIngress({
      metadata: { name },
      spec: {
        ingressClassName: 'multicloud',
        defaultBackend: { service: { name } },
        tls: [{ secretName: `${name}-tls` }],
      },
      status: { serviceLocations: [{ name, clusters }], trafficBlockClusters },
    })
  const listed: Listed = {
    ingresses: [
      located('web', ['edge-a', 'edge-b'], ['edge-b']),
      located('api', ['edge-b']),
      located('eu-web', []),
      buildIngress({ metadata: { name: 'classless' }, spec: {} }),
      buildIngress({ metadata: { name: 'empty' }, spec: { ingressClassName: '' } }),
      buildIngress({
        metadata: { name: 'elsewhere', namespace: 'other' },
        spec: { ingressClassName: 'x', defaultBackend: { service: { name: 'web' } } },
      }),
    ],
    services: [
      buildService({ metadata: { name: 'web' } }),
      buildService({ metadata: { name: 'game' } }),
      buildService({ metadata: { name: 'crossed' }, spec: { types: ['CrossCluster'] } }),
    ],
    bindings: [buildBinding('web', ['edge-a']), buildBinding('game', ['edge-b']), buildBinding('crossed', ['edge-b'])],
  }
  const long = `s${'x'.repeat(62)}`
  const ingress = (...names: string[]) => names.map((name) => `MultiClusterIngress/shop/${name}`)
  const service = (...names: string[]) => names.map((name) => `MultiClusterService/shop/${name}`)
  const rows: [Lookup, string[], string[], Listed?][] = [
    [{ find: 'key', key: { kind: 'Service', namespace: 'shop', name: 'x' } }, ['Service/shop/x'], []],
    [{ find: 'ingressesOfService', namespace: 'shop', service: 'web' }, ingress('web'), ['MultiClusterIngress']],
    [{ find: 'serviceOfName', namespace: 'shop', name: 'web' }, service('web'), ['MultiClusterService']],
    [{ find: 'serviceOfName', namespace: 'other', name: 'web' }, [], ['MultiClusterService']],
    [
      { find: 'servicesInSliceName', namespace: 'shop', slice: 'imported-eu-web-x7k2p' },
      [...ingress('web', 'eu-web'), ...service('web')],
      ['MultiClusterIngress', 'MultiClusterService'],
    ],
    [
      { find: 'servicesInSliceName', namespace: 'shop', slice: 'imported-eu-webs-x7k2p' },
      [],
      ['MultiClusterIngress', 'MultiClusterService'],
    ],
    [
      { find: 'servicesInSliceName', namespace: 'shop', slice: `imported-eu-${long.slice(0, 58)}x7k2p` },
      ingress('long'),
      ['MultiClusterIngress', 'MultiClusterService'],
      {
        ingresses: [
          buildIngress({ metadata: { name: 'long' }, spec: { defaultBackend: { service: { name: long } } } }),
        ],
        services: [],
      },
    ],
    [{ find: 'ingressesOfSecret', namespace: 'shop', secret: 'web-tls' }, ingress('web'), ['MultiClusterIngress']],
    [
      { find: 'inClusters', clusters: ['edge-b'] },
      [...ingress('web', 'api'), ...service('game')],
      ['MultiClusterIngress', 'MultiClusterService', 'ResourceBinding'],
    ],
    [{ find: 'inClusters', clusters: [] }, [], ['MultiClusterIngress', 'MultiClusterService', 'ResourceBinding']],
    [
      { find: 'inClusters', clusters: 'all' },
      [...ingress('web', 'api'), ...service('web', 'game')],
      ['MultiClusterIngress', 'MultiClusterService', 'ResourceBinding'],
    ],
    [
      { find: 'otherTrafficControl', cluster: 'edge-b', blocked: true },
      [...ingress('api'), ...service('game')],
      ['MultiClusterIngress', 'MultiClusterService', 'ResourceBinding'],
    ],
    [
      { find: 'otherTrafficControl', cluster: 'edge-b', blocked: false },
      [...ingress('web'), ...service('game')],
      ['MultiClusterIngress', 'MultiClusterService', 'ResourceBinding'],
    ],
    [
      { find: 'inClusters', clusters: ['edge-z'] },
      service('web', 'game'),
      ['MultiClusterIngress', 'MultiClusterService', 'ResourceBinding'],
      { ingresses: listed.ingresses, services: listed.services },
    ],
    [
      { find: 'ingressesOfClass', name: 'multicloud', orDefault: false },
      ingress('web', 'api', 'eu-web'),
      ['MultiClusterIngress'],
    ],
    [
      { find: 'ingressesOfClass', name: 'multicloud', orDefault: true },
      ingress('web', 'api', 'eu-web', 'classless'),
      ['MultiClusterIngress'],
    ],
    [
      { find: 'ingressesOfClass', name: 'x', orDefault: false },
      ['MultiClusterIngress/other/elsewhere'],
      ['MultiClusterIngress'],
    ],
  ]
  for (const [lookup, expected, kinds, world = listed] of rows) {
    t.strictSame(matchLookup(lookup, world).map(formatKey), expected, describe(lookup))
    t.strictSame(listsForLookup(lookup).kinds, kinds, describe(lookup))
  }
  const nowhere = buildService({ metadata: { name: 'web' } })
  const { namespace: _, ...unplaced } = nowhere.metadata
  t.strictSame(
    matchLookup(
      { find: 'inClusters', clusters: 'all' },
      { ...listed, ingresses: [], services: [{ ...nowhere, metadata: unplaced }] },
    ),
    [],
  )
})

t.test('two ingresses that claim one path of a host', async (t) => {
  const claim = (
    name: string,
    creationTimestamp: string | undefined,
    rules: IngressRule[],
    metadata: Partial<ObjectMeta> = {},
  ): MultiClusterIngress =>
    buildIngress({
      metadata: { name, ...(creationTimestamp === undefined ? {} : { creationTimestamp }), ...metadata },
      spec: { rules },
    })
  const claimsOf = (ingresses: readonly MultiClusterIngress[]) => {
    const claims = createHostClaims()
    for (const ingress of ingresses) claims.add(ingress)
    return claims
  }
  const rule = (host: string, ...paths: [string?, string?][]): IngressRule => ({
    host,
    http: {
      paths: paths.map(([path, pathType]) => ({
        ...(path === undefined ? {} : { path }),
        ...(pathType === undefined ? {} : { pathType }),
        backend: {},
      })),
    },
  })
  const [EARLY, LATE] = ['2026-03-01T08:00:00Z', '2026-03-02T08:00:00Z']
  const store = rule('store.example.com', ['/', 'Prefix'])
  const mine = claim('mine', LATE, [store])
  const rows: [string, MultiClusterIngress, MultiClusterIngress[], string[]][] = [
    ['alone', mine, [], []],
    ['itself', mine, [mine], []],
    ['an older one', mine, [claim('older', EARLY, [store])], ['store.example.com/ Prefix to shop/older']],
    ['a younger one', mine, [claim('younger', '2026-03-03T08:00:00Z', [store])], []],
    ['of the same second, first by name', mine, [claim('a', LATE, [store])], ['store.example.com/ Prefix to shop/a']],
    ['of the same second, later by name', mine, [claim('z', LATE, [store])], []],
    [
      'of the same second, first by namespace',
      mine,
      [claim('z', LATE, [store], { namespace: 'a' })],
      ['store.example.com/ Prefix to a/z'],
    ],
    [
      'the oldest of several wins',
      mine,
      [claim('b', EARLY, [store]), claim('a', '2026-02-01T08:00:00Z', [store])],
      ['store.example.com/ Prefix to shop/a'],
    ],
    [
      'the oldest is itself, as it was before it was made anew',
      mine,
      [
        claim('mine', '2026-01-01T08:00:00Z', [store]),
        claim('b', EARLY, [store]),
        claim('a', '2026-02-01T08:00:00Z', [store]),
      ],
      ['store.example.com/ Prefix to shop/a'],
    ],
    [
      'not stored yet',
      claim('mine', undefined, [store]),
      [claim('older', LATE, [store])],
      ['store.example.com/ Prefix to shop/older'],
    ],
    ['one that goes', mine, [claim('older', EARLY, [store], { deletionTimestamp })], []],
    ['another path', mine, [claim('older', EARLY, [rule('store.example.com', ['/a', 'Prefix'])])], []],
    ['Exact and Prefix', mine, [claim('older', EARLY, [rule('store.example.com', ['/', 'Exact'])])], []],
    ['a wildcard is another host', mine, [claim('older', EARLY, [rule('*.example.com', ['/', 'Prefix'])])], []],
    [
      'no host',
      claim('mine', LATE, [rule('', ['/', 'Prefix'])]),
      [claim('older', EARLY, [rule('', ['/', 'Prefix'])])],
      [],
    ],
    [
      'neither rules nor paths',
      buildIngress({ spec: {} }),
      [claim('older', EARLY, [{ host: 'a.example.com' }, { http: {} }])],
      [],
    ],
    [
      'case, a slash at the end, nothing for a path; told once',
      claim('mine', LATE, [rule('Store.example.com', ['/a/', 'Prefix'], ['/a', 'Prefix'], [], ['/x/', 'Exact'])]),
      [
        claim('older', EARLY, [
          rule('store.EXAMPLE.com', ['/a', 'Prefix'], ['', 'ImplementationSpecific'], ['/x', 'Exact']),
        ]),
      ],
      ['store.example.com/a/ Prefix to shop/older', 'store.example.com/ ImplementationSpecific to shop/older'],
    ],
  ]
  for (const [title, ingress, others, expected] of rows) {
    const conflicts = hostConflicts(ingress, claimsOf(others))
    t.strictSame(
      conflicts.map(({ host, path, pathType, winner }) => `${host}${path} ${pathType} to ${winner}`),
      expected,
      title,
    )
  }
  const [finding] = hostConflictFindings(hostConflicts(mine, claimsOf([claim('older', EARLY, [store])])))
  t.equal(
    finding?.message,
    'store.example.com/ is claimed by the older multiclusteringress shop/older too, which keeps it',
  )
  t.equal(finding?.reason, 'HostConflict')
  const unplaced = { ...mine, metadata: { name: 'mine' } }
  t.strictSame(
    hostConflicts(
      unplaced,
      claimsOf([{ ...claim('older', EARLY, [store]), metadata: { name: 'older', creationTimestamp: EARLY } }]),
    )[0]?.winner,
    '/older',
  )
})

t.test('two values are the same where their canonical texts are', async () => {
  // Few names and few values, so that many pairs are alike but for one.
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      fc.constantFrom(undefined, null, 0, 1, '', 'a'),
      fc.array(tie('value'), { maxLength: 2 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'constructor'), tie('value'), { maxKeys: 2 }),
    ),
  }))
  fc.assert(
    fc.property(value, value, (a, b) => sameJson(a, b) === (canonicalJson(a) === canonicalJson(b))),
    { numRuns: 5_000 },
  )
})
