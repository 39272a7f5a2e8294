import { createHash } from 'node:crypto'
import t from 'tap'
import type { Cluster } from '../../src/domain/cluster.ts'
import type { ObjectMeta } from '../../src/domain/kubernetes-object.ts'
import { crdPropagationDesired } from '../../src/domain/propagation/crd-propagation-desired.ts'
import type { DesiredChange } from '../../src/domain/propagation/desired-change.ts'
import { type ExportCandidate, exportClaim } from '../../src/domain/propagation/export-claim.ts'
import { policyName } from '../../src/domain/propagation/policy-name.ts'
import { samePropagation } from '../../src/domain/propagation/same-propagation.ts'
import {
  exportPolicyNames,
  type ServiceExportInput,
  serviceExportDesired,
} from '../../src/domain/propagation/service-export-desired.ts'
import type {
  ClusterPropagationPolicy,
  PropagationPolicy,
  PropagationSpec,
} from '../../src/domain/propagation-policy.ts'
import type { ServiceExport } from '../../src/domain/service-export.ts'
import { buildCluster, buildIngress, buildService, buildTemplate, FINALIZER } from '../support/build-objects.ts'

const digest = (text: string) => createHash('sha256').update(text).digest('hex')
const deletionTimestamp = '2026-03-01T08:00:00Z'

const SERVICE = buildTemplate()
const LONG_NAME = 'checkout-frontend-with-a-rather-long-name-eu-west1'
const LONG = buildTemplate(LONG_NAME)
const owner = (uid: string, name = 'web') => ({
  apiVersion: 'v1',
  kind: 'Service',
  name,
  uid,
  controller: true,
  blockOwnerDeletion: true,
})
const OURS = [owner('uid-web')]

const policyOf = (metadata: Partial<ObjectMeta>, clusterNames = ['edge-a', 'edge-b']): PropagationPolicy => ({
  apiVersion: 'policy.karmada.io/v1alpha1',
  kind: 'PropagationPolicy',
  metadata: { name: 'propagate-service-web', namespace: 'shop', uid: 'p', resourceVersion: '7', ...metadata },
  spec: {
    resourceSelectors: [{ apiVersion: 'multicluster.x-k8s.io/v1alpha1', kind: 'ServiceExport', name: 'web' }],
    placement: { clusterAffinity: { clusterNames } },
  },
})
const exportOf = (metadata: Partial<ObjectMeta>): ServiceExport => ({
  apiVersion: 'multicluster.x-k8s.io/v1alpha1',
  kind: 'ServiceExport',
  metadata: { name: 'web', namespace: 'shop', ...metadata },
})
const short = ({ metadata }: { metadata: ObjectMeta }) => metadata.name
/** `create web`, `leave: it is not ours` */
function describe(change: DesiredChange<PropagationPolicy>): string {
  switch (change.do) {
    case 'create':
      return `create ${short(change.object)}`
    case 'leave':
      return `leave: ${change.reason}`
    default:
      return `${change.do} ${short(change.existing)}`
  }
}

t.test('the export and its policy', async (t) => {
  const base: ServiceExportInput = {
    service: SERVICE,
    claim: 'ours',
    clusters: ['edge-a', 'edge-b'],
    serviceExport: undefined,
    policies: [],
    digest,
  }
  const made = serviceExportDesired(base)
  t.strictSame(
    made,
    {
      serviceExport: {
        do: 'create',
        object: {
          apiVersion: 'multicluster.x-k8s.io/v1alpha1',
          kind: 'ServiceExport',
          metadata: { name: 'web', namespace: 'shop', ownerReferences: OURS },
        },
      },
      policies: [
        {
          do: 'create',
          object: {
            apiVersion: 'policy.karmada.io/v1alpha1',
            kind: 'PropagationPolicy',
            metadata: { name: 'propagate-service-web', namespace: 'shop', ownerReferences: OURS },
            spec: {
              resourceSelectors: [{ apiVersion: 'multicluster.x-k8s.io/v1alpha1', kind: 'ServiceExport', name: 'web' }],
              placement: { clusterAffinity: { clusterNames: ['edge-a', 'edge-b'] } },
            },
          },
        },
      ],
      findings: [],
    },
    'names, owners and spec as the Go manager makes them',
  )
  const settled = {
    serviceExport: exportOf({ ownerReferences: OURS }),
    policies: [policyOf({ ownerReferences: OURS })],
  }
  const there = 'leave: it is there'
  const right = 'leave: it is as it should be'
  const notOurs = 'leave: it is not ours'
  const earlier = 'leave: it belongs to an earlier Service of this name and is about to go'
  const users = { serviceExport: exportOf({}), policies: [policyOf({})] }
  const longOriginal = `propagate-service-${LONG_NAME}`
  const longShort = policyName(LONG_NAME, digest)
  const ofLong = { service: LONG, serviceExport: undefined }
  const longOwner = [owner(`uid-${LONG_NAME}`, LONG_NAME)]
  const longSpec = {
    resourceSelectors: [{ apiVersion: 'multicluster.x-k8s.io/v1alpha1', kind: 'ServiceExport', name: LONG_NAME }],
    placement: { clusterAffinity: { clusterNames: ['edge-a', 'edge-b'] } },
  }
  const longPolicy = (name: string, uid?: string) => ({
    ...policyOf({ name, ownerReferences: uid === undefined ? longOwner : [owner(uid, LONG_NAME)] }),
    spec: longSpec,
  })
  const rows: [string, Partial<ServiceExportInput>, string, string[], number?][] = [
    ['settled', settled, there, [right]],
    ['B22/C89: a user’s own', users, notOurs, [notOurs], 1],
    ['a user’s export, no policy', { serviceExport: exportOf({}) }, notOurs, ['create propagate-service-web']],
    [
      'B22: a policy without clusterAffinity',
      { ...users, policies: [{ ...policyOf({}), spec: {} }] },
      notOurs,
      [notOurs],
      1,
    ],
    [
      'ours without clusterAffinity is put right',
      { ...settled, policies: [{ ...policyOf({ ownerReferences: OURS }), spec: { placement: {} } }] },
      there,
      ['update propagate-service-web'],
    ],
    [
      'ours with the spec gone',
      { ...settled, policies: [{ ...policyOf({ ownerReferences: OURS }), spec: undefined } as never] },
      there,
      ['update propagate-service-web'],
    ],
    ['clusters changed', { ...settled, clusters: ['edge-a'] }, there, ['update propagate-service-web']],
    ['B24: the last cluster went', { ...settled, clusters: [] }, there, ['delete propagate-service-web']],
    ['B23/C49: unscheduled from the start', { clusters: [] }, 'create web', []],
    ['B24: a user’s policy is not ours to delete', { ...users, clusters: [] }, notOurs, [notOurs]],
    ['not needed', { ...settled, claim: 'none' }, 'delete web', ['delete propagate-service-web']],
    ['not needed, a user’s', { ...users, claim: 'none' }, notOurs, [notOurs]],
    ['not needed, none there', { claim: 'none' }, 'leave: there is none, and none is needed', []],
    ['another provider needs it', { ...settled, claim: 'another' }, 'leave: another provider needs it', []],
    [
      'no Service',
      { ...settled, service: undefined },
      'leave: the Service does not exist; what it controls goes with it',
      [],
    ],
    [
      'a Service in deletion',
      { service: { ...SERVICE, metadata: { ...SERVICE.metadata, deletionTimestamp } } },
      'leave: the Service is being deleted; what it controls goes with it',
      [],
    ],
    [
      'of an earlier Service of this name',
      {
        serviceExport: exportOf({ ownerReferences: [owner('old')] }),
        policies: [policyOf({ ownerReferences: [owner('old')] })],
      },
      earlier,
      [earlier],
    ],
    [
      'in deletion already',
      {
        serviceExport: exportOf({ ownerReferences: OURS, deletionTimestamp }),
        policies: [policyOf({ ownerReferences: OURS, deletionTimestamp })],
      },
      'leave: it is being deleted',
      ['leave: it is being deleted'],
    ],
    [
      'another controller of the same name, and an owner that controls nothing',
      {
        serviceExport: exportOf({ ownerReferences: [{ ...owner('uid-web'), kind: 'Deployment' }] }),
        policies: [policyOf({ ownerReferences: [{ ...owner('uid-web'), controller: false }] })],
      },
      notOurs,
      [notOurs],
      1,
    ],
    [
      'policies of other names do not matter',
      { policies: [policyOf({ name: 'mine' })] },
      'create web',
      ['create propagate-service-web'],
    ],
    ['B26/C88: a long name is shortened', ofLong, `create ${LONG_NAME}`, [`create ${longShort}`]],
    [
      'B26: the long one of the Go manager is adopted',
      { ...ofLong, policies: [longPolicy(longOriginal)] },
      `create ${LONG_NAME}`,
      [right],
    ],
    [
      'B26: both are ours: the long one stays',
      { ...ofLong, policies: [longPolicy(longShort), longPolicy(longOriginal)] },
      `create ${LONG_NAME}`,
      [right, `delete ${longShort}`],
    ],
    [
      'B26: the long one is about to go',
      { ...ofLong, policies: [longPolicy(longOriginal, 'old'), longPolicy(longShort)] },
      `create ${LONG_NAME}`,
      [right],
    ],
    [
      'B26: a user has the long name: no second policy',
      { ...ofLong, policies: [{ ...longPolicy(longOriginal), metadata: { name: longOriginal, namespace: 'shop' } }] },
      `create ${LONG_NAME}`,
      [notOurs],
      1,
    ],
    [
      'no namespace',
      { service: { ...SERVICE, metadata: { name: 'web' } } },
      'create web',
      ['create propagate-service-web'],
    ],
  ]
  for (const [title, changes, expectedExport, expectedPolicies, findings = 0] of rows) {
    const desired = serviceExportDesired({ ...base, ...changes })
    t.equal(describe(desired.serviceExport as DesiredChange<PropagationPolicy>), expectedExport, title)
    t.strictSame(desired.policies.map(describe), expectedPolicies, title)
    t.equal(desired.findings.length, findings, `${title}: findings`)
  }
  const [update] = serviceExportDesired({ ...base, ...settled, clusters: ['edge-a'] }).policies
  t.strictSame(update?.do === 'update' && update.operations, [
    { op: 'test', path: '/metadata/uid', value: 'p' },
    { op: 'test', path: '/metadata/resourceVersion', value: '7' },
    { op: 'add', path: '/spec', value: policyOf({}, ['edge-a']).spec },
  ])
  const [clash] = serviceExportDesired({ ...base, ...users }).findings
  t.equal(
    clash?.message,
    'propagationpolicy shop/propagate-service-web is not ours: it decides to which clusters service shop/web is exported',
  )
  const bare = { ...policyOf({}), metadata: { name: 'propagate-service-web' } }
  t.equal(
    serviceExportDesired({ ...base, policies: [bare] }).findings[0]?.subject,
    'propagationpolicy /propagate-service-web',
  )
})

t.test('names of policies', async (t) => {
  t.equal(policyName('web', digest), 'propagate-service-web')
  const fits = 'x'.repeat(45)
  t.equal(policyName(fits, digest), `propagate-service-${fits}`, '63 characters are allowed')
  for (const name of ['x'.repeat(46), LONG_NAME, 'x'.repeat(63)]) {
    t.match(policyName(name, digest), /^propagate-service-[a-z0-9-]{34}-[0-9a-f]{10}$/)
    t.equal(policyName(name, digest).length, 63)
    t.equal(policyName(name, digest), policyName(name, digest), 'stable')
  }
  t.not(policyName(`${'x'.repeat(60)}a`, digest), policyName(`${'x'.repeat(60)}b`, digest))
  t.strictSame(exportPolicyNames('web', digest), ['propagate-service-web'])
  t.equal(exportPolicyNames(LONG_NAME, digest).length, 2)
})

t.test('what makes two policies differ', async (t) => {
  const spec = policyOf({}).spec ?? {}
  const webhook = (key: string, tolerationSeconds?: number) => ({
    key: `cluster.karmada.io/${key}`,
    operator: 'Exists',
    effect: 'NoExecute',
    ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
  })
  const rows: [string, object, boolean][] = [
    ['itself', spec, true],
    [
      'as stored: defaults of CRD and webhook',
      {
        conflictResolution: 'Abort',
        preemption: 'Never',
        priority: 0,
        schedulerName: 'default-scheduler',
        propagateDeps: false,
        suspension: {},
        dependentOverrides: [],
        resourceSelectors: [{ ...spec.resourceSelectors?.[0], namespace: 'shop' }],
        placement: {
          clusterAffinity: { clusterNames: ['edge-b', 'edge-a'], exclude: null },
          clusterTolerations: [webhook('not-ready', 300), webhook('unreachable', 300)],
        },
      },
      true,
    ],
    [
      'a toleration for ever',
      { ...spec, placement: { ...spec.placement, clusterTolerations: [webhook('not-ready')] } },
      false,
    ],
    [
      'another taint',
      { ...spec, placement: { ...spec.placement, clusterTolerations: [webhook('maintenance', 300)] } },
      false,
    ],
    [
      'another namespace',
      { ...spec, resourceSelectors: [{ ...spec.resourceSelectors?.[0], namespace: 'other' }] },
      false,
    ],
    [
      'a second selector',
      { ...spec, resourceSelectors: [...(spec.resourceSelectors ?? []), { apiVersion: 'v1', kind: 'ConfigMap' }] },
      false,
    ],
    ['priority', { ...spec, priority: 10 }, false],
    ['preemption', { ...spec, preemption: 'Always' }, false],
    ['dependents', { ...spec, propagateDeps: true }, false],
    ['groups of clusters', { ...spec, placement: { clusterAffinities: [{ affinityName: 'eu' }] } }, false],
    [
      'an excluded cluster',
      { ...spec, placement: { clusterAffinity: { ...spec.placement?.clusterAffinity, exclude: ['edge-a'] } } },
      false,
    ],
    ['a cluster less', policyOf({}, ['edge-a']).spec ?? {}, false],
  ]
  for (const [title, other, expected] of rows)
    t.equal(samePropagation(spec, other as PropagationSpec, 'shop'), expected, title)
  t.equal(samePropagation(undefined, undefined, 'shop'), true)
})

t.test('who needs an export', async (t) => {
  const web = { namespace: 'shop', name: 'web' }
  const ours = { kind: 'ours' as const }
  const another = { kind: 'another' as const, reason: 'x' }
  const unresolved = { kind: 'unresolved' as const, reason: 'x' }
  const ingress = (metadata: Partial<ObjectMeta>, ownership: ExportCandidate['ownership']): ExportCandidate => ({
    object: buildIngress({ metadata }),
    ownership,
  })
  const service = (name: string, types: string[]): ExportCandidate => ({
    object: buildService({ metadata: { name }, spec: { types } }),
    ownership: ours,
  })
  const other = 'webhook-cloud-provider.dev/other'
  const rows: [string, ExportCandidate[], string][] = [
    ['nobody', [], 'none'],
    ['an ingress of ours', [ingress({}, ours)], 'ours'],
    ['B27: being deleted', [ingress({ deletionTimestamp, finalizers: [FINALIZER] }, ours)], 'none'],
    ['B27/C26: of another class', [ingress({}, another)], 'none'],
    ['C82: changed away, to be released', [ingress({ finalizers: [FINALIZER] }, another)], 'none'],
    ['held while unresolved', [ingress({ finalizers: [FINALIZER] }, unresolved)], 'ours'],
    ['unresolved and unclaimed', [ingress({}, unresolved)], 'none'],
    ['of another provider', [ingress({ finalizers: [other] }, another)], 'another'],
    ['of our class, held by another', [ingress({ finalizers: [other] }, ours)], 'another'],
    ['of another namespace', [ingress({ namespace: 'other' }, ours)], 'none'],
    ['another Service', [{ object: buildIngress({ spec: {} }), ownership: ours }], 'none'],
    [
      'C77: a balancer Service of that name',
      [ingress({ deletionTimestamp }, ours), service('web', ['LoadBalancer'])],
      'ours',
    ],
    ['C53: CrossCluster is Karmada’s own', [service('web', ['CrossCluster'])], 'none'],
    ['a balancer Service of another name', [service('game', ['LoadBalancer'])], 'none'],
    ['ours beside another’s', [ingress({ finalizers: [other] }, another), ingress({}, ours)], 'ours'],
  ]
  for (const [title, candidates, expected] of rows) t.equal(exportClaim(web, candidates, FINALIZER), expected, title)
})

t.test('the policy of the ServiceExport CRD', async (t) => {
  const clusters = [buildCluster('edge-b'), buildCluster('edge-a')]
  const leaving: Cluster = { ...buildCluster('edge-c'), metadata: { name: 'edge-c', deletionTimestamp } }
  const made = crdPropagationDesired([...clusters, leaving], undefined, { takeOver: false })
  const forEver = (key: string) => ({ key: `cluster.karmada.io/${key}`, operator: 'Exists', effect: 'NoExecute' })
  const spec = {
    resourceSelectors: [
      {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        name: 'serviceexports.multicluster.x-k8s.io',
      },
    ],
    placement: {
      clusterAffinity: { clusterNames: ['edge-a', 'edge-b'] },
      clusterTolerations: [forEver('not-ready'), forEver('unreachable')],
    },
  }
  const mark = { 'app.kubernetes.io/managed-by': 'webhook-cloud-provider' }
  t.strictSame(made, {
    do: 'create',
    object: {
      apiVersion: 'policy.karmada.io/v1alpha1',
      kind: 'ClusterPropagationPolicy',
      metadata: { name: 'serviceexportpropagation-policy', labels: mark },
      spec,
    },
  })
  const existing = (metadata: Partial<ObjectMeta>, changed: PropagationSpec = spec): ClusterPropagationPolicy => ({
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'ClusterPropagationPolicy',
    metadata: { name: 'serviceexportpropagation-policy', uid: 'c', resourceVersion: '9', ...metadata },
    spec: changed,
  })
  const ours = existing({ labels: mark })
  const placed = (placement: object) => ({ ...spec, placement: { ...spec.placement, ...placement } })
  const old = placed({ clusterAffinity: { clusterNames: ['edge-a', 'gone-1'] } })
  const rows: [string, Cluster[], ClusterPropagationPolicy | undefined, boolean, string][] = [
    ['B24: no clusters', [], undefined, false, 'leave: there are no clusters'],
    ['settled', clusters, ours, false, 'leave: it is as it should be'],
    [
      'B25/C90: a cluster went while nobody looked',
      clusters,
      existing({ labels: mark }, old),
      false,
      'update serviceexportpropagation-policy',
    ],
    [
      'B22: clusterAffinities in place of clusterAffinity',
      clusters,
      existing({ labels: mark }, { placement: {} }),
      false,
      'update serviceexportpropagation-policy',
    ],
    [
      'karmada#5150: tolerations with an end',
      clusters,
      existing({ labels: mark }, placed({ clusterTolerations: [{ ...forEver('not-ready'), tolerationSeconds: 300 }] })),
      false,
      'update serviceexportpropagation-policy',
    ],
    ['B24: the last cluster went', [leaving], ours, false, 'delete serviceexportpropagation-policy'],
    ['in deletion', clusters, existing({ labels: mark, deletionTimestamp }, old), false, 'leave: it is being deleted'],
    ['not ours', clusters, existing({}, old), false, 'leave: it is not ours'],
    ['not ours, no clusters', [], existing({}), true, 'leave: it is not ours'],
    ['take over from the Go manager', clusters, existing({}, old), true, 'update serviceexportpropagation-policy'],
    [
      'take over from an old one',
      clusters,
      existing({ labels: { a: 'b' } }, placed({ clusterTolerations: [] })),
      true,
      'update serviceexportpropagation-policy',
    ],
    [
      'take over what a user wrote',
      clusters,
      existing({}, { ...spec, priority: 5 } as never),
      true,
      'leave: it is not ours',
    ],
    ['take over nothing', clusters, existing({}, {}), true, 'leave: it is not ours'],
    ['take over without spec', clusters, { ...existing({}), spec: undefined } as never, true, 'leave: it is not ours'],
  ]
  for (const [title, all, policy, takeOver, expected] of rows) {
    t.equal(describe(crdPropagationDesired(all, policy, { takeOver })), expected, title)
  }
  const operations = (labels?: Record<string, string>) => {
    const change = crdPropagationDesired(clusters, existing(labels === undefined ? {} : { labels }), { takeOver: true })
    return change.do === 'update' ? change.operations[2] : change
  }
  t.strictSame(operations(), { op: 'add', path: '/metadata/labels', value: mark })
  t.strictSame(operations({ a: 'b' }), {
    op: 'add',
    path: '/metadata/labels/app.kubernetes.io~1managed-by',
    value: 'webhook-cloud-provider',
  })
  const bare = crdPropagationDesired(
    clusters,
    { ...ours, metadata: { name: 'x', labels: mark }, spec: {} },
    { takeOver: false },
  )
  t.strictSame(bare.do === 'update' && bare.operations[0], { op: 'test', path: '/metadata/uid', value: null })
})
