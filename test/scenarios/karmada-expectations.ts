import { createHash } from 'node:crypto'
import { policyName } from '../../src/domain/propagation/policy-name.ts'
import { buildBinding, buildSecret, buildTemplate } from '../support/build-objects.ts'
import type { PoolDescription } from '../support/describe-backends.ts'
import type {
  Doors,
  EventExpectation,
  KarmadaExpectation,
  ObjectExpectation,
  OtherExpectation,
  Stage,
} from './karmada-expectation.ts'

const digest = (text: string) => createHash('sha256').update(text).digest('hex')

// ---- doors ----

const EVERY: Doors = { mutate: true, notify: true, cloudEvents: true, sweep: true }
const LOGGED_ONLY = 'the mutating door only listens to what is balanced'
/** Anything but what is balanced, where a webhook can be registered. */
const SECONDARY: Doors = { ...EVERY, mutate: LOGGED_ONLY }
const DELETED: Doors = { ...EVERY, mutate: 'a DELETE has nothing to mutate' }
const NO_CLUSTER_REVIEW = 'a Cluster passes no admission since Karmada v1.11'
const OF_CLUSTERS: Doors = { ...EVERY, mutate: NO_CLUSTER_REVIEW, notify: NO_CLUSTER_REVIEW }
const NO_SECRET_REVIEW = 'no webhook on Secrets: a review carries the whole object'
const OF_SECRETS: Doors = { ...EVERY, mutate: NO_SECRET_REVIEW, notify: NO_SECRET_REVIEW }
const NOTHING_STORED = 'nothing is stored'
const BEFORE_REFUSAL: Doors = { mutate: true, notify: true, cloudEvents: NOTHING_STORED, sweep: NOTHING_STORED }
const MUTATE_ONLY: Doors = { ...BEFORE_REFUSAL, notify: 'the CRD’s schema is checked before validating webhooks' }
export const ONLY_WITHOUT_WEBHOOK = 'Karmada’s webhook denies it, so it is stored only where that is off'
const STORED_OLD: Doors = { ...EVERY, mutate: ONLY_WITHOUT_WEBHOOK, notify: ONLY_WITHOUT_WEBHOOK }

// ---- events ----

const ENSURED: EventExpectation = { type: 'Normal', reason: 'EnsuredLoadBalancer', count: 'once' }
const UPDATED_AT_MOST: EventExpectation = { type: 'Normal', reason: 'UpdatedLoadBalancer', count: 'most' }
const DELETED_ONCE: EventExpectation = { type: 'Normal', reason: 'DeletedLoadBalancer', count: 'once' }
const warning = (reason: EventExpectation['reason'], ...message: string[]): EventExpectation => ({
  type: 'Warning',
  reason,
  message,
  count: 'once',
})

// ---- calls ----

const CREATED: ObjectExpectation['calls'] = [['get', 'ensure']]
/** A provider that keeps a fingerprint needs no update where nothing changed. */
const LOOKED_AT: ObjectExpectation['calls'] = [['get'], ['get', 'update']]
const UPDATED: ObjectExpectation['calls'] = [['get', 'update']]
const NONE: ObjectExpectation['calls'] = [[]]
/** Reading is always allowed. */
const NO_CHANGE: ObjectExpectation['calls'] = [[], ['get']]
const REMOVED: ObjectExpectation['calls'] = [['ensureDeleted'], ['get', 'ensureDeleted']]

// ---- backends ----

type Backends = NonNullable<ObjectExpectation['backends']>

/** The pods that most cases share. */
const PODS: Record<string, PoolDescription> = {
  'edge-a': ['10.64.0.11:8080', '10.64.0.12:8080'],
  'edge-b': ['10.65.0.11:8080', '10.65.0.12:8080'],
}
const pods = (...services: string[]): Backends =>
  Object.fromEntries(services.map((service) => [`shop/${service}:80/TCP`, PODS]))
/** One pod a cluster, as the cases of MultiClusterServices have them. */
const onePod = (port: number): Record<string, PoolDescription> => ({
  'edge-a': [`10.64.1.11:${port}`],
  'edge-b': [`10.65.1.11:${port}`],
})
const GAME: Backends = { 'shop/game-gw:7777/TCP': onePod(7777) }

// ---- other objects ----

const BOTH = ['edge-a', 'edge-b']
const NO_OTHERS: OtherExpectation = { present: {}, absent: [] }

/** The export of a Service and its policy, as the Go manager makes them. */
const exported = (service: string, clusters = BOTH): OtherExpectation => ({
  present: {
    [`ServiceExport/shop/${service}`]: { owner: service },
    [`PropagationPolicy/shop/${policyName(service, digest)}`]: { owner: service, clusters },
  },
  absent: [],
})
const notExported = (...services: string[]): OtherExpectation => ({
  present: {},
  absent: services.flatMap((service) => [
    `ServiceExport/shop/${service}`,
    `PropagationPolicy/shop/propagate-service-${service}`,
  ]),
})
const together = (...parts: OtherExpectation[]): OtherExpectation => ({
  present: Object.assign({}, ...parts.map(({ present }) => present)),
  absent: parts.flatMap(({ absent }) => absent),
})

// ---- stages ----

const mci = (name = 'storefront') => `MultiClusterIngress/shop/${name}`
const mcs = (name = 'game-gw') => `MultiClusterService/shop/${name}`
const located = (...services: string[]) => services.map((name) => ({ name, clusters: BOTH }))

/** An ingress that is served for the first time. */
const served = (changes: Partial<ObjectExpectation> = {}): ObjectExpectation => ({
  key: mci(),
  ownership: 'ours',
  calls: CREATED,
  finalizer: 'added',
  status: { loadBalancer: 'provider', serviceLocations: located('web'), trafficBlockClusters: [] },
  events: [ENSURED],
  backends: pods('web'),
  ...changes,
})

const servedService = (changes: Partial<ObjectExpectation> = {}): ObjectExpectation => ({
  key: mcs(),
  ownership: 'ours',
  calls: CREATED,
  finalizer: 'added',
  status: { loadBalancer: 'provider', conditions: 'unchanged' },
  events: [ENSURED],
  backends: GAME,
  ...changes,
})

const ignored = (key: string, ownership: ObjectExpectation['ownership'], changes: Partial<ObjectExpectation> = {}) => ({
  key,
  ownership,
  calls: NONE,
  finalizer: 'none' as const,
  status: { loadBalancer: 'unchanged' as const },
  events: [],
  ...changes,
})

const stored = (object: ObjectExpectation, others: OtherExpectation, doors = EVERY): Stage => ({
  step: 'stored',
  trigger: `CREATE ${object.key}`,
  doors,
  objects: [object],
  others,
})

/** Told once more: nothing is written, and nothing in the cloud changes. */
const repeated = (stage: Stage): Stage => ({
  ...stage,
  step: 'repeated',
  objects: stage.objects.map((object) => ({
    ...object,
    calls: object.calls === CREATED ? LOOKED_AT : object.calls,
    finalizer: object.finalizer === 'added' ? 'kept' : object.finalizer,
    events: [],
  })),
  writes: 0,
})

/** A case of one object that is served, and then told once more. */
const servedCase = (id: number, object: ObjectExpectation, others: OtherExpectation): KarmadaExpectation => {
  const first = stored(object, others)
  return { id, stages: [first, repeated(first)] }
}

/** A case whose object never exists. */
const refused = (id: number, key: string, doors: Doors): KarmadaExpectation => ({
  id,
  stages: [
    {
      step: 'refused',
      trigger: `CREATE ${key}`,
      doors,
      objects: [ignored(key, 'neverStored')],
      others: NO_OTHERS,
      writes: 0,
    },
  ],
})

const deleted = (object: ObjectExpectation, others = NO_OTHERS): Stage => ({
  step: 'deleted',
  trigger: `DELETE ${object.key}`,
  doors: DELETED,
  objects: [object],
  others,
})

const goes = (key: string, changes: Partial<ObjectExpectation> = {}): ObjectExpectation => ({
  key,
  ownership: 'finalizer',
  calls: REMOVED,
  finalizer: 'gone',
  status: { loadBalancer: 'unchanged' },
  events: [DELETED_ONCE],
  ...changes,
})

/** What is there already and stays: a pass for any reason. */
const standing = (changes: Partial<ObjectExpectation> = {}): ObjectExpectation =>
  served({ calls: UPDATED, finalizer: 'kept', events: [UPDATED_AT_MOST], ...changes })

const ANY_BALANCER = { ingress: [{ ip: '203.0.113.200' }] }

const DENIED_86 = 'a wildcard DNS-1123 subdomain must start with'
const DENIED_54 = 'MultiClusterService types should not contain more than one type'

const LONG_22 = `s${'x'.repeat(62)}`
const NAME_22 = ['a', ...Array.from({ length: 5 }, (_, index) => 'b'.repeat(index < 4 ? 49 : 51))].join('.')
const LONG_88 = 'checkout-frontend-with-a-rather-long-name-eu-west1'

const TENANTS: Backends = Object.fromEntries(
  ['web', ...Array.from({ length: 25 }, (_, index) => `api-${String(index).padStart(2, '0')}`)].map((name) => [
    `shop/${name}:80/TCP`,
    {},
  ]),
)

export const KARMADA_EXPECTATIONS: readonly KarmadaExpectation[] = [
  servedCase(1, served(), exported('web')),
  servedCase(2, served(), exported('web')),
  servedCase(
    3,
    served({
      key: mci('catch-all'),
      backends: pods('landing'),
      status: { loadBalancer: 'provider', serviceLocations: located('landing'), trafficBlockClusters: [] },
    }),
    exported('landing'),
  ),
  servedCase(
    4,
    served({
      backends: pods('landing', 'web'),
      status: { loadBalancer: 'provider', serviceLocations: located('landing', 'web'), trafficBlockClusters: [] },
    }),
    together(exported('landing'), exported('web')),
  ),
  servedCase(6, served({ certificates: ['store-tls', 'wild-tls'] }), exported('web')),
  servedCase(7, served({ certificates: [] }), exported('web')),
  {
    id: 8,
    stages: [
      stored(
        served({
          certificates: ['store-tls'],
          events: [ENSURED, warning('SecretNotFound', 'secret shop/pay-tls not found')],
        }),
        exported('web'),
      ),
      repeated(stored(served({ certificates: ['store-tls'] }), exported('web'))),
      {
        step: 'created',
        trigger: 'CREATE Secret/shop/pay-tls',
        create: [buildSecret('pay-tls')],
        doors: OF_SECRETS,
        objects: [standing({ certificates: ['store-tls', 'pay-tls'] })],
        others: exported('web'),
      },
    ],
  },
  {
    id: 9,
    stages: [
      stored(served({ certificates: ['store-tls'] }), exported('web')),
      {
        step: 'after',
        trigger: 'UPDATE Secret/shop/store-tls',
        doors: OF_SECRETS,
        objects: [standing({ certificates: ['store-tls'] })],
        others: exported('web'),
      },
      {
        ...repeated(stored(served({ certificates: ['store-tls'] }), exported('web'))),
        trigger: 'UPDATE Secret/shop/store-tls',
        doors: OF_SECRETS,
      },
    ],
    note: 'The last stage stands for a change of labels alone: metadata cannot tell, so one look is allowed.',
  },
  servedCase(
    11,
    served({
      backends: pods('api', 'web'),
      status: { loadBalancer: 'provider', serviceLocations: located('api', 'web'), trafficBlockClusters: [] },
    }),
    together(exported('api'), exported('web')),
  ),
  {
    ...servedCase(
      12,
      served({
        key: mci('assets'),
        backends: {},
        status: { loadBalancer: 'provider', serviceLocations: [], trafficBlockClusters: [] },
        events: [
          ENSURED,
          warning('ResourceBackendNotSupported', 'resource backend StorageBucket/static-assets is not supported'),
        ],
      }),
      NO_OTHERS,
    ),
    variants: [
      {
        title: 'a provider that reads resources',
        given: { supports: { resourceBackends: true, externalName: false } },
        stage: stored(
          served({
            key: mci('assets'),
            backends: {},
            status: { loadBalancer: 'provider', serviceLocations: [], trafficBlockClusters: [] },
          }),
          NO_OTHERS,
        ),
      },
    ],
  },
  servedCase(
    13,
    served({
      events: [
        ENSURED,
        warning('ResourceBackendNotSupported', 'resource backend StorageBucket/static-assets is not supported'),
      ],
    }),
    exported('web'),
  ),
  servedCase(
    14,
    served({
      backends: { 'shop/web:80/TCP': { 'edge-a': ['10.64.0.11:8443'] } },
      status: {
        loadBalancer: 'provider',
        serviceLocations: [{ name: 'web', clusters: ['edge-a'] }],
        trafficBlockClusters: [],
      },
    }),
    exported('web', ['edge-a']),
  ),
  servedCase(
    16,
    served({
      backends: pods('api', 'web'),
      status: { loadBalancer: 'provider', serviceLocations: located('api', 'web'), trafficBlockClusters: [] },
    }),
    together(exported('api'), exported('web')),
  ),
  servedCase(
    17,
    served({
      backends: pods('landing'),
      status: { loadBalancer: 'provider', serviceLocations: located('landing'), trafficBlockClusters: [] },
    }),
    exported('landing'),
  ),
  {
    ...servedCase(
      18,
      served({
        key: mci('tenants'),
        backends: TENANTS,
        status: { loadBalancer: 'provider', serviceLocations: [], trafficBlockClusters: [] },
        events: [ENSURED, warning('ServiceNotFound', 'service shop/api-00 not found', 'and 21 more')],
      }),
      notExported('api-00', 'web'),
    ),
    variants: [
      {
        title: 'over the limit of the provider',
        given: { terminal: true },
        stage: stored(
          served({
            key: mci('tenants'),
            backends: TENANTS,
            status: { loadBalancer: 'empty', serviceLocations: [], trafficBlockClusters: [] },
            events: [
              { type: 'Warning', reason: 'SyncLoadBalancerFailed', count: 'once' },
              { type: 'Warning', reason: 'ServiceNotFound', count: 'most' },
            ],
          }),
          NO_OTHERS,
        ),
      },
    ],
  },
  servedCase(19, served(), exported('web')),
  servedCase(21, served({ key: mci('storefront-*') }), exported('web')),
  {
    ...servedCase(
      22,
      served({
        key: mci(NAME_22),
        backends: { [`shop/${LONG_22}:80/TCP`]: { 'edge-a': 'empty', 'edge-b': 'empty' } },
        status: { loadBalancer: 'provider', serviceLocations: located(LONG_22), trafficBlockClusters: [] },
      }),
      exported(LONG_22),
    ),
    note: 'The policy is shortened on every version of Karmada, so that nobody has to say which one runs. The label of the slices is too long for any API server, so there are none.',
  },
  {
    ...servedCase(23, served(), exported('web')),
    variants: [
      {
        title: 'annotations that the provider cannot read',
        given: { terminal: true },
        stage: stored(
          served({
            status: { loadBalancer: 'empty', serviceLocations: located('web'), trafficBlockClusters: [] },
            events: [{ type: 'Warning', reason: 'SyncLoadBalancerFailed', count: 'once' }],
          }),
          exported('web'),
        ),
      },
    ],
  },
  servedCase(24, served(), exported('web')),
  { id: 26, stages: [stored(ignored(mci(), 'another'), notExported('web'))] },
  {
    id: 27,
    stages: [
      stored(ignored(mci(), 'unresolved'), notExported('web')),
      {
        step: 'after',
        trigger: 'CREATE IngressClass//multicloud',
        doors: SECONDARY,
        objects: [served()],
        others: exported('web'),
      },
    ],
    variants: [
      {
        title: 'the class is not found while our finalizer is there: hold',
        given: { ourFinalizer: true },
        stage: stored(
          ignored(mci(), 'unresolved', {
            finalizer: 'kept',
            calls: NO_CHANGE,
            events: [warning('OwnershipUnresolved', 'IngressClass "multicloud" not found')],
          }),
          NO_OTHERS,
        ),
      },
    ],
  },
  {
    id: 28,
    stages: [stored(ignored(mci(), 'unresolved'), notExported('web'))],
    variants: [
      {
        title: 'with our finalizer: hold',
        given: { ourFinalizer: true },
        stage: stored(
          ignored(mci(), 'unresolved', {
            finalizer: 'kept',
            calls: NO_CHANGE,
            events: [warning('OwnershipUnresolved', 'multiple default IngressClasses')],
          }),
          NO_OTHERS,
        ),
      },
      {
        title: 'in deletion with our finalizer: clean up',
        given: { ourFinalizer: true, deleting: true },
        stage: deleted(goes(mci())),
      },
    ],
  },
  { id: 29, stages: [stored(ignored(mci(), 'another'), notExported('web'), STORED_OLD)] },
  {
    id: 31,
    balancers: {
      [mci()]: { ingress: [{ hostname: 'lb-7f3.eu.example.net' }, { ip: '203.0.113.10' }, { ip: '2001:db8:1:0::10' }] },
    },
    stages: [
      {
        ...stored(
          standing({ events: [], status: { loadBalancer: 'unchanged', serviceLocations: located('web') } }),
          NO_OTHERS,
        ),
        trigger: `UPDATE ${mci()}`,
      },
    ],
  },
  {
    id: 32,
    stages: [
      {
        ...stored(
          ignored(mci(), 'unresolved', {
            finalizer: 'kept',
            calls: NO_CHANGE,
            events: [warning('OwnershipUnresolved', 'IngressClass "multicloud" not found')],
          }),
          NO_OTHERS,
        ),
        trigger: `UPDATE ${mci()}`,
      },
    ],
  },
  {
    id: 33,
    stages: [
      stored(
        served({
          backends: { 'shop/not-there:80/TCP': {} },
          status: { loadBalancer: 'provider', serviceLocations: [], trafficBlockClusters: [] },
          events: [ENSURED, warning('ServiceNotFound', 'service shop/not-there not found')],
        }),
        notExported('not-there'),
      ),
      {
        step: 'created',
        trigger: 'CREATE Service/shop/not-there',
        create: [buildTemplate('not-there'), buildBinding('not-there', BOTH)],
        doors: SECONDARY,
        objects: [
          standing({
            backends: { 'shop/not-there:80/TCP': { 'edge-a': 'empty', 'edge-b': 'empty' } },
            status: { loadBalancer: 'provider', serviceLocations: located('not-there'), trafficBlockClusters: [] },
          }),
        ],
        others: exported('not-there'),
      },
    ],
  },
  {
    ...servedCase(
      34,
      served({
        backends: {
          'shop/ext:80/TCP': {},
          'shop/peers:80/TCP': { 'edge-a': ['10.64.0.21:8080', '10.64.0.22:8080'] },
        },
        status: {
          loadBalancer: 'provider',
          serviceLocations: [{ name: 'peers', clusters: ['edge-a'] }],
          trafficBlockClusters: [],
        },
        events: [ENSURED, warning('ExternalNameNotSupported', 'service shop/ext')],
      }),
      exported('peers', ['edge-a']),
    ),
    variants: [
      {
        title: 'a provider that sends to names',
        given: { supports: { resourceBackends: false, externalName: true } },
        stage: stored(
          served({
            backends: {
              'shop/ext:80/TCP': {},
              'shop/peers:80/TCP': { 'edge-a': ['10.64.0.21:8080', '10.64.0.22:8080'] },
            },
            status: {
              loadBalancer: 'provider',
              serviceLocations: [{ name: 'peers', clusters: ['edge-a'] }],
              trafficBlockClusters: [],
            },
          }),
          exported('peers', ['edge-a']),
        ),
      },
    ],
    note: 'An export of ext, which is bound nowhere, is neither asked for nor forbidden.',
  },
  servedCase(
    36,
    served({
      backends: {
        'shop/lb:80/TCP': { 'edge-a': 'empty', 'edge-b': ['10.65.0.31:8080'] },
        'shop/np:80/TCP': { 'edge-a': ['10.64.0.31:8080'] },
      },
      status: {
        loadBalancer: 'provider',
        serviceLocations: [
          { name: 'lb', clusters: BOTH },
          { name: 'np', clusters: ['edge-a'] },
        ],
        trafficBlockClusters: [],
      },
    }),
    together(exported('lb'), exported('np', ['edge-a'])),
  ),
  {
    id: 37,
    balancers: { [mci()]: ANY_BALANCER },
    stages: [
      {
        step: 'stored',
        trigger: 'UPDATE Cluster//edge-b',
        doors: OF_CLUSTERS,
        objects: [
          standing({
            backends: { 'shop/web:80/TCP': { 'edge-a': PODS['edge-a'] ?? 'empty', 'edge-b': 'blocked' } },
            status: { loadBalancer: 'provider', serviceLocations: located('web'), trafficBlockClusters: ['edge-b'] },
          }),
        ],
        others: NO_OTHERS,
      },
    ],
  },
  {
    id: 38,
    balancers: { [mci()]: ANY_BALANCER },
    stages: [
      {
        step: 'stored',
        trigger: 'UPDATE Cluster//edge-b',
        doors: OF_CLUSTERS,
        objects: [
          standing({
            backends: { 'shop/web:80/TCP': { 'edge-a': 'blocked', 'edge-b': 'blocked' } },
            status: { loadBalancer: 'provider', serviceLocations: located('web'), trafficBlockClusters: BOTH },
            events: [warning('AllClustersBlocked', 'service shop/web'), UPDATED_AT_MOST],
          }),
        ],
        others: NO_OTHERS,
      },
    ],
    variants: [
      {
        title: 'fail-open',
        given: { failOpen: true },
        stage: {
          step: 'stored',
          trigger: 'UPDATE Cluster//edge-b',
          doors: OF_CLUSTERS,
          objects: [
            standing({
              status: { loadBalancer: 'provider', serviceLocations: located('web'), trafficBlockClusters: BOTH },
              events: [warning('AllClustersBlocked', 'service shop/web', 'fail-open'), UPDATED_AT_MOST],
            }),
          ],
          others: NO_OTHERS,
        },
      },
    ],
  },
  {
    ...servedCase(
      39,
      served({
        backends: { 'shop/web:80/TCP': { 'core-1': 'empty', 'edge-a': 'empty', 'edge-b': 'empty' } },
        status: {
          loadBalancer: 'provider',
          serviceLocations: [{ name: 'web', clusters: ['core-1', ...BOTH] }],
          trafficBlockClusters: [],
        },
      }),
      exported('web', ['core-1', ...BOTH]),
    ),
  },
  servedCase(
    41,
    served({
      backends: { 'shop/web:80/TCP': { 'edge-a': ['10.64.0.11:8080'] } },
      status: {
        loadBalancer: 'provider',
        serviceLocations: [{ name: 'web', clusters: ['edge-a'] }],
        trafficBlockClusters: [],
      },
    }),
    exported('web', ['edge-a']),
  ),
  servedCase(
    42,
    served({
      backends: { 'shop/web:80/TCP': { 'eu-west': ['10.66.0.11:8080'] } },
      status: {
        loadBalancer: 'provider',
        serviceLocations: [{ name: 'web', clusters: ['eu-west'] }],
        trafficBlockClusters: [],
      },
    }),
    exported('web', ['eu-west']),
  ),
  {
    id: 43,
    stages: [
      {
        ...stored(
          served({ backends: { 'shop/web:80/TCP': { 'edge-a': ['10.64.0.11:8080'], 'edge-b': 'empty' } } }),
          exported('web'),
        ),
        objects: [
          served({ backends: { 'shop/web:80/TCP': { 'edge-a': ['10.64.0.11:8080'], 'edge-b': 'empty' } } }),
          ignored(mcs('web'), 'another'),
        ],
      },
    ],
  },
  servedCase(
    44,
    served({
      backends: {
        'shop/web:80/TCP': { 'edge-a': ['10.64.0.11:8080', '10.64.0.14:8080', '10.64.0.15:8080', '10.64.0.16:8080'] },
      },
      status: {
        loadBalancer: 'provider',
        serviceLocations: [{ name: 'web', clusters: ['edge-a'] }],
        trafficBlockClusters: [],
      },
    }),
    exported('web', ['edge-a']),
  ),
  {
    ...servedCase(
      46,
      served({
        backends: { 'shop/derived-cache:80/TCP': { 'edge-a': ['10.64.0.41:8080'] } },
        status: {
          loadBalancer: 'provider',
          serviceLocations: [{ name: 'derived-cache', clusters: ['edge-a'] }],
          trafficBlockClusters: [],
        },
      }),
      together(exported('derived-cache', ['edge-a']), notExported('cache')),
    ),
  },
  {
    id: 47,
    balancers: { [mci()]: ANY_BALANCER },
    stages: [
      {
        step: 'stored',
        trigger: 'UPDATE Cluster//edge-b',
        doors: { ...OF_CLUSTERS, sweep: 'a sweep is a pass for another reason; see the next stage' },
        objects: [
          {
            key: mci(),
            ownership: 'ours',
            calls: NONE,
            finalizer: 'kept',
            status: { loadBalancer: 'unchanged', serviceLocations: located('web'), trafficBlockClusters: [] },
            events: [],
          },
        ],
        others: NO_OTHERS,
      },
      {
        step: 'repeated',
        trigger: `UPDATE ${mci()}`,
        doors: EVERY,
        objects: [standing({ calls: LOOKED_AT, events: [UPDATED_AT_MOST] })],
        others: NO_OTHERS,
      },
    ],
    note: 'The text allows no event: UpdatedLoadBalancer is due only if the balancer in place was made from other backends.',
  },
  {
    id: 48,
    balancers: { [mci()]: ANY_BALANCER },
    stages: [
      {
        step: 'stored',
        trigger: 'UPDATE ResourceBinding/shop/web-service',
        doors: SECONDARY,
        objects: [
          standing({
            backends: { 'shop/web:80/TCP': { 'edge-a': ['10.64.0.11:8080'] } },
            status: {
              loadBalancer: 'provider',
              serviceLocations: [{ name: 'web', clusters: ['edge-a'] }],
              trafficBlockClusters: [],
            },
          }),
        ],
        others: exported('web', ['edge-a']),
      },
    ],
  },
  {
    id: 49,
    balancers: { [mci()]: ANY_BALANCER },
    stages: [
      {
        step: 'stored',
        trigger: 'UPDATE ResourceBinding/shop/web-service',
        doors: SECONDARY,
        objects: [
          {
            key: mci(),
            ownership: 'ours',
            calls: LOOKED_AT,
            finalizer: 'kept',
            status: { loadBalancer: 'provider', serviceLocations: [{ name: 'web' }], trafficBlockClusters: [] },
            events: [],
            backends: { 'shop/web:80/TCP': {} },
          },
        ],
        others: {
          present: { 'ServiceExport/shop/web': { owner: 'web' } },
          absent: ['PropagationPolicy/shop/propagate-service-web'],
        },
      },
      {
        step: 'waited',
        trigger: '',
        waitMs: 15_000,
        doors: {
          ...EVERY,
          mutate: 'time sends no review',
          notify: 'time sends no review',
          cloudEvents: 'time sends no event',
        },
        objects: [
          {
            key: mci(),
            ownership: 'ours',
            calls: UPDATED,
            finalizer: 'kept',
            status: { loadBalancer: 'provider', serviceLocations: [{ name: 'web' }], trafficBlockClusters: [] },
            events: [warning('ServiceNotScheduled', 'service shop/web'), UPDATED_AT_MOST],
            backends: { 'shop/web:80/TCP': {} },
          },
        ],
        others: {
          present: { 'ServiceExport/shop/web': { owner: 'web' } },
          absent: ['PropagationPolicy/shop/propagate-service-web'],
        },
      },
    ],
    note: 'Within the grace period the port is handed over as `held`, if at all: never as empty.',
  },
  servedCase(51, servedService({ backends: { 'shop/game-gw:9000/TCP': onePod(9000) } }), exported('game-gw')),
  servedCase(52, servedService({ backends: { 'shop/game-gw:7777/UDP': onePod(7777) } }), exported('game-gw')),
  { id: 53, stages: [stored(ignored(mcs(), 'another'), notExported('game-gw'))] },
  {
    id: 54,
    balancers: { [mcs()]: { ingress: [{ ip: '203.0.113.54' }] } },
    stages: [
      {
        ...stored(
          servedService({
            calls: UPDATED,
            finalizer: 'kept',
            status: { loadBalancer: 'unchanged', conditions: 'unchanged' },
            events: [UPDATED_AT_MOST],
          }),
          NO_OTHERS,
        ),
        trigger: `UPDATE ${mcs()}`,
        doors: STORED_OLD,
      },
    ],
    variants: [
      {
        title: 'in deletion: the release is denied',
        given: { deleting: true, denied: DENIED_54 },
        stage: deleted(goes(mcs(), { finalizer: 'kept', events: [warning('DeleteLoadBalancerFailed', DENIED_54)] })),
      },
    ],
    note: 'Claiming without our finalizer is denied the same way: then the provider is not called at all.',
  },
  servedCase(56, servedService(), exported('game-gw')),
  refused(57, mcs(), MUTATE_ONLY),
  { id: 58, stages: [stored(ignored(mcs(), 'another'), notExported('game-gw'), STORED_OLD)] },
  servedCase(
    59,
    servedService({
      events: [
        ENSURED,
        {
          type: 'Normal',
          reason: 'DeprecatedFields',
          message: [
            'spec.range',
            'spec.serviceProvisionClusters',
            'spec.serviceConsumptionClusters',
            'providerClusters',
          ],
          count: 'once',
        },
      ],
    }),
    exported('game-gw'),
  ),
  servedCase(61, servedService(), exported('game-gw')),
  {
    id: 62,
    stages: [
      stored(
        servedService({
          key: mcs('ghost'),
          backends: {},
          events: [ENSURED, warning('ServiceNotFound', 'service shop/ghost not found')],
        }),
        notExported('ghost'),
      ),
      {
        step: 'created',
        trigger: 'CREATE Service/shop/ghost',
        create: [buildTemplate('ghost'), buildBinding('ghost', BOTH)],
        doors: SECONDARY,
        objects: [
          servedService({
            key: mcs('ghost'),
            calls: UPDATED,
            finalizer: 'kept',
            events: [UPDATED_AT_MOST],
            backends: { 'shop/ghost:80/TCP': { 'edge-a': 'empty', 'edge-b': 'empty' } },
          }),
        ],
        others: exported('ghost'),
      },
    ],
  },
  servedCase(
    63,
    servedService({
      key: mcs('dns'),
      backends: { 'shop/dns:53/TCP': onePod(5353), 'shop/dns:53/UDP': onePod(5353) },
    }),
    exported('dns'),
  ),
  servedCase(
    64,
    servedService({ events: [ENSURED, warning('ServicePortNotFound', '8888', 'nope')] }),
    exported('game-gw'),
  ),
  refused(66, mcs('7.game-gw'), BEFORE_REFUSAL),
  refused(67, mcs(), BEFORE_REFUSAL),
  {
    id: 68,
    balancers: { [mcs()]: { ingress: [{ ip: '203.0.113.68' }] } },
    stages: [
      {
        ...stored(
          servedService({
            calls: UPDATED,
            finalizer: 'kept',
            status: { loadBalancer: 'unchanged', conditions: 'unchanged' },
            events: [UPDATED_AT_MOST],
          }),
          exported('game-gw'),
        ),
        trigger: `UPDATE ${mcs()}`,
      },
    ],
  },
  {
    id: 69,
    balancers: { [mcs()]: { ingress: [{ ip: '203.0.113.69' }] } },
    stages: [deleted(goes(mcs(), { finalizer: 'removed' }))],
    note: 'Karmada’s own finalizer stays, and with it the object.',
  },
  {
    id: 71,
    stages: [
      deleted(
        goes(mcs(), {
          calls: [['get'], ['ensureDeleted'], ['get', 'ensureDeleted']],
          events: [{ type: 'Normal', reason: 'DeletedLoadBalancer', count: 'most' }],
        }),
      ),
    ],
  },
  servedCase(72, servedService({ key: mcs('web'), backends: { 'shop/web:80/TCP': onePod(8080) } }), exported('web')),
  {
    id: 73,
    balancers: {
      [mcs()]: {
        ingress: [
          { ip: '203.0.113.73', ipMode: 'VIP' },
          { ip: '2001:db8:1::73', ipMode: 'Proxy' },
          { hostname: 'gw.example.net' },
        ],
      },
    },
    stages: [
      {
        ...stored(
          servedService({
            calls: UPDATED,
            finalizer: 'kept',
            status: { loadBalancer: 'unchanged', conditions: 'unchanged' },
            events: [],
          }),
          NO_OTHERS,
        ),
        trigger: `UPDATE ${mcs()}`,
      },
    ],
  },
  servedCase(74, servedService(), exported('game-gw')),
  {
    ...servedCase(
      76,
      servedService({
        key: mcs('game-gw-*'),
        backends: {},
        events: [ENSURED, warning('ServiceNotFound', 'service shop/game-gw-', 'not found')],
      }),
      NO_OTHERS,
    ),
  },
  {
    id: 77,
    balancers: { [mci()]: ANY_BALANCER },
    stages: [
      {
        ...deleted(goes(mci()), exported('web')),
        objects: [goes(mci()), servedService({ key: mcs('web'), backends: { 'shop/web:80/TCP': onePod(8080) } })],
      },
    ],
  },
  { id: 81, balancers: { [mci()]: ANY_BALANCER }, stages: [deleted(goes(mci()))] },
  {
    id: 82,
    balancers: { [mci()]: { ingress: [{ ip: '203.0.113.82' }] } },
    stages: [
      {
        ...stored(standing({ events: [UPDATED_AT_MOST] }), exported('web')),
        trigger: `UPDATE ${mci()}`,
      },
      {
        step: 'after',
        trigger: `UPDATE ${mci()}`,
        doors: EVERY,
        objects: [
          {
            key: mci(),
            ownership: 'another',
            calls: REMOVED,
            finalizer: 'removed',
            status: { loadBalancer: 'empty', trafficBlockClusters: [] },
            events: [DELETED_ONCE],
          },
        ],
        others: notExported('web'),
      },
    ],
  },
  {
    id: 83,
    stages: [
      { ...stored(ignored(mci(), 'another'), notExported('web')), trigger: `UPDATE ${mci()}` },
      { ...stored(served(), exported('web')), step: 'after', trigger: `UPDATE ${mci()}` },
    ],
  },
  { id: 84, stages: [deleted(ignored(mci(), 'finalizer'), notExported('web'))] },
  {
    id: 86,
    balancers: { [mci()]: ANY_BALANCER },
    stages: [deleted(goes(mci()))],
    variants: [
      {
        title: 'Karmada’s webhook denies the release',
        given: { denied: DENIED_86 },
        stage: deleted(goes(mci(), { finalizer: 'kept', events: [warning('DeleteLoadBalancerFailed', DENIED_86)] })),
      },
    ],
    note: 'The first stage is a control plane without Karmada’s webhook.',
  },
  {
    id: 87,
    balancers: { [mci()]: ANY_BALANCER },
    stages: [
      {
        step: 'after',
        trigger: `CREATE ${mci()}`,
        doors: EVERY,
        objects: [
          served({
            backends: { 'shop/web:80/TCP': {} },
            status: { loadBalancer: 'provider', serviceLocations: [], trafficBlockClusters: [] },
            events: [ENSURED, { type: 'Warning', reason: 'ServiceNotFound', count: 'most' }],
          }),
        ],
        others: notExported('web'),
      },
      {
        ...deleted(
          served({
            calls: LOOKED_AT,
            finalizer: 'kept',
            backends: { 'shop/web:80/TCP': {} },
            status: { loadBalancer: 'unchanged', serviceLocations: [], trafficBlockClusters: [] },
            events: [],
          }),
          notExported('web'),
        ),
        step: 'repeated',
      },
    ],
    note: 'The balancer in place is that of the first uid. The last stage is a late DELETE of that uid: the new balancer stays.',
  },
  {
    ...servedCase(
      88,
      served({
        backends: pods(LONG_88),
        status: { loadBalancer: 'provider', serviceLocations: located(LONG_88), trafficBlockClusters: [] },
      }),
      exported(LONG_88),
    ),
    note: 'As in case 22.',
  },
  {
    id: 89,
    stages: [
      stored(
        served({
          events: [ENSURED, warning('PropagationPolicyNotOurs', 'propagationpolicy shop/propagate-service-web')],
        }),
        {
          present: {
            'ServiceExport/shop/web': 'a user’s, unchanged',
            'PropagationPolicy/shop/propagate-service-web': 'a user’s, unchanged',
          },
          absent: [],
        },
      ),
    ],
  },
  {
    id: 91,
    stages: [
      {
        step: 'stored',
        trigger: 'CREATE Remedy//drain-edge-b',
        doors: SECONDARY,
        objects: [],
        others: NO_OTHERS,
      },
    ],
    note: 'Nothing of ours in the file. What follows for others is in test/domain/changes.test.ts and case 37.',
  },
  refused(92, mci(), BEFORE_REFUSAL),
  refused(93, mci(), BEFORE_REFUSAL),
  refused(94, mci(), BEFORE_REFUSAL),
  refused(96, mci(), BEFORE_REFUSAL),
  refused(97, mci(), BEFORE_REFUSAL),
  refused(98, mci(), MUTATE_ONLY),
  refused(99, mci(), BEFORE_REFUSAL),
]
