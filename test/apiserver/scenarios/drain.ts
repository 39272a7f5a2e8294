import assert from 'node:assert/strict'
import type { ApiClient, Body } from '../../contracts/kubernetes-api/api-client.ts'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import type { Scenario } from '../scenario.ts'
import { CLUSTERS, cluster, createBackend } from '../support/backends.ts'
import { addressesOf, ingress, ingressPath, service, servicePath } from '../support/balanced-objects.ts'
import { withCloudInstallation } from '../support/cloud-installation.ts'
import { unregister, withInstallation } from '../support/installation.ts'

const KARMADA = 'drained'
const CLOUD = 'drained-cloud'
const POLICIES = '/apis/policy.karmada.io/v1alpha1'
const CRD_POLICY = `${POLICIES}/clusterpropagationpolicies/serviceexportpropagation-policy`
const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${KARMADA}/leases`
const EXPORTS = `/apis/multicluster.x-k8s.io/v1alpha1/namespaces/${KARMADA}/serviceexports`
const SERVICES = `/api/v1/namespaces/${CLOUD}/services`
const CLEANUP = 'service.kubernetes.io/load-balancer-cleanup'

export const scenarios: Scenario[] = [
  {
    name: 'drain on Karmada: nothing of ours is left, and what is not ours stays',
    async run(context) {
      const { admin, log, kubectl } = context
      const config = { lock: 'lease', lease: { namespace: KARMADA } }
      await withInstallation(
        context,
        KARMADA,
        async (installed) => {
          await kubectl(['apply', '-f', '-'], leaseRights(KARMADA))
          await mustBe(201, admin.post(CLUSTERS, cluster('member1')))
          try {
            await createBackend(admin, KARMADA, 'web')
            await installed.start()
            await installed.register()
            await mustBe(201, admin.post(ingressPath(KARMADA), ingress('storefront')))
            await mustBe(201, admin.post(servicePath(KARMADA), service('web')))
            await eventually(() => installed.converged(2))
            await installed.sweep()
            await eventually(() => mustBe(200, admin.get(`${EXPORTS}/web`)))
            await eventually(() => mustBe(200, admin.get(CRD_POLICY)))

            const seen = await installed.drain({ dryRun: true })
            assert.ok(seen.lines.length >= 5, seen.lines.join('\n'))
            assert.equal(installed.balancersIn([KARMADA]).length, 2)
            await unregister(admin)
            await installed.stop()
            const { left, hindrances, lines } = await installed.drain()
            assert.deepEqual([left, hindrances], [0, []], lines.join('\n'))
            assert.equal(installed.balancersIn([KARMADA]).length, 0)
            for (const path of [ingressPath(KARMADA, 'storefront'), servicePath(KARMADA, 'web')]) {
              const object = await mustBe(200, admin.get(path))
              assert.deepEqual([object.metadata.finalizers, addressesOf(object)], [undefined, []])
            }
            for (const path of [EXPORTS, `${POLICIES}/namespaces/${KARMADA}/propagationpolicies`, LEASES])
              assert.deepEqual(await namesIn(admin, path), [], path)
            await mustBe(404, admin.get(CRD_POLICY))
            const again = await installed.drain()
            assert.deepEqual(
              again.lines.filter((line) => !line.startsWith('webhooks: ')),
              [],
            )
            log(`${lines.length} lines, nothing left; with the role of the function alone`)
          } finally {
            await admin.delete(`${CLUSTERS}/member1`)
            await admin.delete(CRD_POLICY)
          }
        },
        { config },
      )
    },
  },
  {
    name: 'drain under one cluster: Services lose their balancers, another class and nodes nothing',
    async run(context) {
      const { admin } = context
      await mustBe(
        201,
        admin.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: CLOUD } }),
      )
      try {
        await withCloudInstallation(context, async (installed) => {
          await mustBe(201, admin.post(SERVICES, balanced('ours')))
          const theirs = balanced('theirs', { loadBalancerClass: 'example.com/theirs' }, { finalizers: [CLEANUP] })
          await mustBe(201, admin.post(SERVICES, theirs))
          await installed.sweep('services')
          await eventually(async () => {
            const { metadata } = await mustBe(200, admin.get(`${SERVICES}/ours`))
            assert.deepEqual(metadata.finalizers, [CLEANUP])
          })
          const other = await mustBe(200, admin.get(`${SERVICES}/theirs`))
          await installed.stop()
          const { left, lines } = await installed.drain()
          assert.equal(left, 0, lines.join('\n'))
          assert.ok(lines.includes(`Service/${CLOUD}/ours: balancer removed, let go`), lines.join('\n'))
          const { metadata, status } = await mustBe(200, admin.get(`${SERVICES}/ours`))
          assert.deepEqual([metadata.finalizers, status], [undefined, { loadBalancer: {} }])
          assert.deepEqual(installed.cloud.balancers.all(), [])
          assert.deepEqual(await mustBe(200, admin.get(`${SERVICES}/theirs`)), other)
        })
      } finally {
        for (const name of ['ours', 'theirs']) {
          await admin.delete(`${SERVICES}/${name}`)
          await admin.patch('merge-patch', `${SERVICES}/${name}`, { metadata: { finalizers: null } })
        }
        await admin.delete(`/api/v1/namespaces/${CLOUD}`)
      }
    },
  },
]

async function namesIn(admin: ApiClient, path: string): Promise<string[]> {
  const { items = [] } = await mustBe(200, admin.get(path))
  return items.map(({ metadata }: Body) => metadata.name ?? '')
}

function balanced(name: string, spec: object = {}, metadata: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, ...metadata },
    spec: { type: 'LoadBalancer', ports: [{ port: 80 }], ...spec },
  }
}

/** The manifest's Role, in the namespace of this scenario. */
function leaseRights(namespace: string): string {
  const name = 'webhook-cloud-provider'
  const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name, namespace } }
  return [
    {
      ...rbac,
      kind: 'Role',
      rules: [
        {
          apiGroups: ['coordination.k8s.io'],
          resources: ['leases'],
          verbs: ['get', 'list', 'create', 'patch', 'delete'],
        },
      ],
    },
    {
      ...rbac,
      kind: 'RoleBinding',
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace: 'webhook-cloud-provider' }],
    },
  ]
    .map((each) => JSON.stringify(each))
    .join('\n---\n')
}
