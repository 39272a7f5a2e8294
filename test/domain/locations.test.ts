import t from 'tap'
import { blockedClusters } from '../../src/domain/blocked-clusters.ts'
import type { EndpointSlice } from '../../src/domain/endpoint-slice.ts'
import type { MultiClusterIngress } from '../../src/domain/multi-cluster-ingress.ts'
import { referencedSecrets } from '../../src/domain/referenced-secrets.ts'
import { ingressBackends, referencedServices } from '../../src/domain/referenced-services.ts'
import { clustersOfRemedy, type Remedy } from '../../src/domain/remedy.ts'
import type { ResourceBinding } from '../../src/domain/resource-binding.ts'
import { clustersOfLocations, sameServiceLocations, serviceLocations } from '../../src/domain/service-locations.ts'
import { clusterOfSlice, permanentIdToLookUp } from '../../src/domain/slice-cluster.ts'
import { isImportedSlice, serviceOfSlice } from '../../src/domain/slice-service.ts'
import { buildBinding, buildCluster, buildIngress, buildSlice, buildWork } from '../support/build-objects.ts'

const route = (name: string) => ({ service: { name, port: { number: 80 } } })
const resource = { resource: { kind: 'StorageBucket', name: 'assets' } }
const ingressOf = (...names: string[]): MultiClusterIngress =>
  buildIngress({ spec: { rules: [{ http: { paths: names.map((name) => ({ backend: route(name) })) } }] } })

t.test('what an ingress refers to', async (t) => {
  const ingress = buildIngress({
    spec: {
      defaultBackend: route('landing'),
      rules: [
        { host: 'parked.example.com' },
        { http: {} },
        { http: { paths: [{ backend: route('web') }, { backend: resource }, { backend: route('landing') }] } },
        { http: { paths: [{ backend: route('') }, { backend: {} }] } },
      ],
      tls: [{ secretName: 'b-tls' }, { hosts: ['x.example.com'] }, { secretName: '' }, { secretName: 'a-tls' }],
    },
  })
  t.same(referencedServices(ingress), ['landing', 'web'], 'B1: resource backends are skipped, names sorted and unique')
  t.same(referencedSecrets(ingress), ['a-tls', 'b-tls'], 'B20: an entry without a Secret names none')
  t.equal(ingressBackends(ingress).length, 6)
  const bare = { ...buildIngress(), spec: undefined } as never
  t.same([referencedServices(bare), referencedSecrets(bare)], [[], []], 'the schema requires nothing')
})

t.test('where Services run: by apiVersion, kind, namespace and name, never by name alone', async (t) => {
  const binding = (name: string, changes: object, clusters = ['edge-a']): ResourceBinding => ({
    ...buildBinding(name, clusters),
    ...changes,
  })
  const of = (resource: object) => ({ spec: { resource, clusters: [{ name: 'core-1' }] } })
  const rows: [string, ResourceBinding[], unknown][] = [
    ['bound', [binding('web', {}, ['edge-b', 'edge-a'])], [{ name: 'web', clusters: ['edge-a', 'edge-b'] }]],
    ['not bound', [], []],
    ['bound nowhere', [binding('web', {}, [])], [{ name: 'web' }]],
    [
      'no lists at all',
      [binding('web', { spec: { resource: { apiVersion: 'v1', kind: 'Service', name: 'web' } } })],
      [{ name: 'web' }],
    ],
    [
      'clusters and requiredBy together (C39)',
      [
        binding('web', {
          spec: {
            ...buildBinding('web').spec,
            clusters: [{ name: 'edge-b' }, { name: 'edge-a' }],
            requiredBy: [{ clusters: [{ name: 'core-1' }, { name: 'edge-a' }] }, {}],
          },
        }),
      ],
      [{ name: 'web', clusters: ['core-1', 'edge-a', 'edge-b'] }],
    ],
    [
      'two bindings of one Service',
      [binding('web', {}, ['edge-b']), binding('web', {}, ['edge-a'])],
      [{ name: 'web', clusters: ['edge-a', 'edge-b'] }],
    ],
    [
      'B21: a Service of Knative',
      [binding('web', of({ apiVersion: 'serving.knative.dev/v1', kind: 'Service', namespace: 'shop', name: 'web' }))],
      [],
    ],
    ['another kind', [binding('web', of({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'web' }))], []],
    [
      'another namespace',
      [binding('web', of({ apiVersion: 'v1', kind: 'Service', namespace: 'other', name: 'web' }))],
      [],
    ],
    ['a binding of nothing', [binding('web', { spec: {} }), { ...buildBinding('web'), spec: undefined } as never], []],
    ['a resource without name', [binding('web', of({ apiVersion: 'v1', kind: 'Service' }))], []],
  ]
  for (const [title, bindings, expected] of rows) t.same(serviceLocations(ingressOf('web'), bindings), expected, title)
  const both = serviceLocations(ingressOf('web', 'api', 'lost'), [binding('web', {}), binding('api', {}, ['edge-b'])])
  t.same(
    both,
    [
      { name: 'api', clusters: ['edge-b'] },
      { name: 'web', clusters: ['edge-a'] },
    ],
    'sorted by name',
  )
  t.same(clustersOfLocations([...both, { name: 'none' }]), ['edge-a', 'edge-b'])
  t.same(serviceLocations({ ...ingressOf('web'), metadata: { name: 'x' } }, [binding('web', {})]), [])
  t.equal(
    sameServiceLocations([{ name: 'web' }], [{ name: 'web', clusters: [] }]),
    true,
    'B34: nil and empty are equal',
  )
  t.equal(sameServiceLocations(undefined, []), true)
  t.equal(sameServiceLocations([{ name: 'web' }], []), false)
})

t.test('which clusters are blocked', async (t) => {
  const locations = [
    { name: 'web', clusters: ['edge-a', 'edge-b'] },
    { name: 'api', clusters: ['edge-b', 'gone'] },
  ]
  const cluster = (name: string, ...actions: string[]) => buildCluster(name, actions)
  const rows: [string, Parameters<typeof blockedClusters>[1], string[]][] = [
    ['none', [cluster('edge-a'), buildCluster('edge-b')], []],
    ['one', [cluster('edge-a'), cluster('edge-b', 'TrafficControl')], ['edge-b']],
    [
      'all, sorted',
      [cluster('edge-b', 'TrafficControl'), cluster('edge-a', 'Other', 'TrafficControl')],
      ['edge-a', 'edge-b'],
    ],
    ['another action', [cluster('edge-a', 'Other')], []],
    ['a cluster without our Services', [cluster('core-1', 'TrafficControl')], []],
    ['B11: a cluster that vanished', [], []],
    [
      'C47: not ready is not blocked',
      [{ ...buildCluster('edge-b'), status: { conditions: [{ type: 'Ready', status: 'False' }] } } as never],
      [],
    ],
  ]
  for (const [title, clusters, expected] of rows) t.same(blockedClusters(locations, clusters), expected, title)
  const remedy = (spec: Remedy['spec']) => ({ spec }) as Remedy
  t.equal(clustersOfRemedy(remedy({})), 'all', 'C91: no affinity means every cluster')
  t.equal(clustersOfRemedy({} as Remedy), 'all')
  t.same(clustersOfRemedy(remedy({ clusterAffinity: {} })), [], 'an empty one means none')
  t.same(clustersOfRemedy(remedy({ clusterAffinity: { clusterNames: ['edge-b'] } })), ['edge-b'])
})

t.test('whose slice it is', async (t) => {
  const labelled = (label: string | undefined, marks: object = {}): EndpointSlice =>
    buildSlice({
      metadata: {
        labels: { ...(label === undefined ? {} : { 'kubernetes.io/service-name': label }), ...marks },
        annotations: {},
      },
    })
  const imported = { 'work.karmada.io/permanent-id': 'x' }
  const rows: [string, EndpointSlice, string | undefined][] = [
    ['imported', labelled('derived-web', imported), 'web'],
    ['C46: one prefix only', labelled('derived-derived-cache', imported), 'derived-cache'],
    ['B19: made by hand', labelled('derived-cache'), 'derived-cache'],
    [
      'known by the manager alone',
      labelled('derived-web', { 'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.karmada.io' }),
      'web',
    ],
    ['imported without prefix', labelled('web', imported), 'web'],
    ['no label', labelled(undefined, imported), undefined],
    ['an empty label', labelled(''), undefined],
    ['no labels at all', { ...buildSlice(), metadata: { name: 'stray', namespace: 'shop' } }, undefined],
  ]
  for (const [title, slice, expected] of rows) t.equal(serviceOfSlice(slice), expected, title)
  t.equal(isImportedSlice(labelled('web')), false)
  t.equal(isImportedSlice(buildSlice({ metadata: { labels: {} } })), true, 'by an annotation')
})

t.test('in which cluster a slice is', async (t) => {
  const surroundings = {
    service: 'web',
    knownClusters: ['eu', 'eu-west', 'edge-a', 'edge-b'],
    works: [buildWork('karmada-es-edge-b', 'id-1')],
  }
  const named = (name: string, labels: Record<string, string> = {}, annotations: Record<string, string> = {}) =>
    buildSlice({ metadata: { name, labels, annotations } })
  const at = (namespace: string) => ({ 'work.karmada.io/namespace': namespace })
  const id = (value: string) => ({ 'work.karmada.io/permanent-id': value })
  const long = `s${'x'.repeat(62)}`
  const rows: [string, EndpointSlice, Partial<typeof surroundings>, unknown][] = [
    [
      'annotation (v1.11)',
      named('any', at('karmada-es-other'), at('karmada-es-edge-a')),
      {},
      { cluster: 'edge-a', copy: false },
    ],
    ['label (C41, v1.9)', named('any', at('karmada-es-edge-a')), {}, { cluster: 'edge-a', copy: false }],
    [
      'an annotation that is none',
      named('any', at('karmada-es-edge-a'), at('shop')),
      {},
      { cluster: 'edge-a', copy: false },
    ],
    [
      'an empty cluster',
      named('any', at('karmada-es-edge-a'), at('karmada-es-')),
      {},
      { cluster: 'edge-a', copy: false },
    ],
    [
      'Work of the same permanent id (v1.10)',
      named('imported-edge-a-web-1', id('id-1')),
      {},
      { cluster: 'edge-b', copy: false },
    ],
    ['no Work of that id: by name', named('imported-edge-a-web-1', id('id-2')), {}, { cluster: 'edge-a', copy: false }],
    ['C42: the longest cluster', named('imported-eu-west-web-x7k2p'), {}, { cluster: 'eu-west', copy: false }],
    [
      'C42: the Service must follow',
      named('imported-eu-west-web-x7k2p'),
      { service: 'west-web' },
      { cluster: 'eu', copy: false },
    ],
    ['a member’s slice named as the Service', named('imported-eu-web'), {}, { cluster: 'eu', copy: false }],
    [
      'C22: a generated name of a long Service',
      named(`imported-eu-${long.slice(0, 58)}x7k2p`),
      { service: long },
      { cluster: 'eu', copy: false },
    ],
    [
      'C43: a copy, by annotation',
      named('imported-edge-b-edge-a-web-x7k2p', {}, at('karmada-es-edge-b')),
      {},
      { cluster: 'edge-a', copy: true },
    ],
    ['C43: a copy, by name', named('imported-edge-b-edge-a-web-x7k2p'), {}, { cluster: 'edge-a', copy: true }],
    [
      'a Service whose name begins like a cluster',
      named('imported-edge-b-edge-a-web-x7k2p', {}, at('karmada-es-edge-b')),
      { service: 'edge-a-web' },
      { cluster: 'edge-b', copy: false },
    ],
    [
      'unknown cluster',
      named('imported-mars-web-1'),
      {},
      { cluster: undefined, reason: 'it has no Work coordinates, and no known cluster fits its name' },
    ],
    [
      'a cluster that fits, another Service',
      named('imported-eu-db-1'),
      {},
      { cluster: undefined, reason: 'it has no Work coordinates, and no known cluster fits its name' },
    ],
    [
      'a name of somebody else',
      named('eu-web-1'),
      {},
      { cluster: undefined, reason: 'it has no Work coordinates and no name that Karmada gives' },
    ],
  ]
  for (const [title, slice, changes, expected] of rows) {
    t.same(clusterOfSlice(slice, { ...surroundings, ...changes }), expected, title)
  }
  t.equal(permanentIdToLookUp(named('x', id('id-1'))), 'id-1', 'only when nothing else says')
  t.equal(permanentIdToLookUp(named('x', { ...id('id-1'), ...at('karmada-es-eu') })), undefined)
  t.equal(permanentIdToLookUp(named('x')), undefined)
})
