import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { ApiClient, Body } from '../../contracts/kubernetes-api/api-client.ts'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import type { Scenario } from '../scenario.ts'
import type { AuditedRequest } from '../support/audit-log.ts'
import { CLUSTERS, cluster, createBackend, createCertificate } from '../support/backends.ts'
import { backend, ingress, ingressPath, service, servicePath } from '../support/balanced-objects.ts'
import { type Installation, KARMADA_ROLES, withInstallation } from '../support/installation.ts'
import { startWatchProcess } from '../support/watch-process.ts'

const MANIFESTS = join(import.meta.dirname, '../../../manifests')
const namespace = 'rbac'
const BINDINGS = `/apis/work.karmada.io/v1alpha2/namespaces/${namespace}/resourcebindings`
const EXPORTS = `/apis/multicluster.x-k8s.io/v1alpha1/namespaces/${namespace}/serviceexports`
const POLICIES = `/apis/policy.karmada.io/v1alpha1/namespaces/${namespace}/propagationpolicies`
const REMEDIES = '/apis/remedy.karmada.io/v1alpha1/remedies'
const REMEDY = { metadata: { name: 'keep-away' }, spec: { clusterAffinity: { clusterNames: ['member1'] } } }
const CRD_POLICY = '/apis/policy.karmada.io/v1alpha1/clusterpropagationpolicies/serviceexportpropagation-policy'

export const scenario: Scenario = {
  name: 'RBAC: the roles grant what function and watch do, no more and no less',
  async run(context) {
    await withInstallation(
      context,
      namespace,
      async (installed) => {
        await installed.start()
        await installed.register()
        const watch = await startWatchProcess(installed, { kubeconfig: installed.watchKubeconfig })
        try {
          await liveAndDie(context.admin, installed)
          await eventually(async () => {
            const watched = (await installed.audit.requests()).filter(({ verb }) => verb === 'watch')
            assert.equal(new Set(watched.map(called)).size, 2, 'kinds watched')
          })
        } finally {
          await watch.kill()
          for (const name of ['member1', 'member2']) await context.admin.delete(`${CLUSTERS}/${name}`)
          for (const path of [`${REMEDIES}/keep-away`, CRD_POLICY]) await context.admin.delete(path)
        }

        const requests = await installed.audit.requests()
        const refused = requests.filter(({ forbidden }) => forbidden)
        assert.deepEqual([...new Set(refused.map(called))], [], 'refused by RBAC')
        const used = new Set(requests.map(called))
        const granted = await grants()
        const idle = granted.filter((grant) => !used.has(grant))
        assert.deepEqual(idle, [], 'granted and never used')
        context.log(`${requests.length} requests, 0 refused; ${granted.length} grants, 0 unused`)
      },
      // One balancer takes longer than a third of a Lease: it is renewed.
      {
        config: { lock: 'lease', lease: { durationSeconds: 5 } },
        makingTakesMs: (name) => (name === 'of-our-class' ? 2_000 : 0),
      },
    )
  },
}

/** Everything that the function does for its objects, in one story. */
async function liveAndDie(admin: ApiClient, installed: Installation): Promise<void> {
  const edit = (path: string, spec: object) => mustBe(200, admin.patch('merge-patch', path, { spec }))
  await mustBe(201, admin.post(CLUSTERS, cluster('member1')))
  await createBackend(admin, namespace, 'web')
  await createCertificate(admin, namespace, 'web-tls')
  const tls = [{ hosts: ['store.example.com'], secretName: 'web-tls' }]
  await mustBe(201, admin.post(ingressPath(namespace), ingress('of-our-class', { spec: { tls } })))
  // Three of a namespace are worth lists to the sweep.
  for (const name of ['of-the-default', 'of-the-default-too'])
    await mustBe(201, admin.post(ingressPath(namespace), ingress(name, { spec: { ingressClassName: null } })))
  await mustBe(201, admin.post(servicePath(namespace), service('game')))
  await eventually(() => installed.converged(4))

  await edit(ingressPath(namespace, 'of-our-class'), { defaultBackend: backend(8080) })
  await edit(servicePath(namespace, 'game'), { ports: [{ name: 'http', port: 8080 }] })
  await eventually(() => assertUpdated(installed))

  // Given away, it is let go; taken back, it is claimed.
  await edit(ingressPath(namespace, 'of-our-class'), { ingressClassName: 'another' })
  await eventually(() => assert.equal(installed.balancersIn([namespace]).length, 3))
  await edit(ingressPath(namespace, 'of-our-class'), { ingressClassName: 'fake' })
  await eventually(() => installed.converged(4))

  await sweepUntil(installed, async () => {
    await mustBe(200, admin.get(`${EXPORTS}/web`))
    assert.deepEqual(await clustersOf(admin, POLICIES), [['member1']])
    assert.deepEqual(await clustersOf(admin, CRD_POLICY), [['member1']])
  })
  await mustBe(201, admin.post(REMEDIES, { apiVersion: 'remedy.karmada.io/v1alpha1', kind: 'Remedy', ...REMEDY }))
  await mustBe(201, admin.post(CLUSTERS, cluster('member2')))
  await edit(`${BINDINGS}/web-service`, { clusters: [{ name: 'member1' }, { name: 'member2' }] })
  await sweepUntil(installed, async () => {
    assert.deepEqual(await clustersOf(admin, POLICIES), [['member1', 'member2']])
    assert.deepEqual(await clustersOf(admin, CRD_POLICY), [['member1', 'member2']])
  })

  await mustBe(200, admin.delete(ingressPath(namespace)))
  await mustBe(200, admin.delete(servicePath(namespace)))
  await eventually(() => installed.converged(0))
  for (const name of ['member1', 'member2']) await mustBe(200, admin.delete(`${CLUSTERS}/${name}`))
  await sweepUntil(installed, async () => {
    await mustBe(404, admin.get(`${EXPORTS}/web`))
    assert.deepEqual(await clustersOf(admin, POLICIES), [])
    await mustBe(404, admin.get(CRD_POLICY))
  })
}

async function sweepUntil(installed: Installation, settled: () => Promise<void>): Promise<void> {
  const { outcomes } = await installed.sweep()
  assert.equal(outcomes.failed, 0, 'failed in the sweep')
  await eventually(settled)
}

/** Where the policy, or each policy of the list, sends what it selects. */
async function clustersOf(admin: ApiClient, path: string): Promise<string[][]> {
  const found = await mustBe(200, admin.get(path))
  return (found.items ?? [found]).map(({ spec }: Body) => {
    const { placement } = spec as { placement?: { clusterAffinity?: { clusterNames?: string[] } } }
    return placement?.clusterAffinity?.clusterNames ?? []
  })
}

function assertUpdated({ cloud }: Installation): void {
  const updated = new Set(
    cloud
      .calls()
      .filter(({ method }) => method === 'update')
      .map(({ identity }) => identity.name),
  )
  assert.ok(
    ['game', 'of-our-class'].every((name) => updated.has(name)),
    `updated: ${[...updated]}`,
  )
}

function called({
  account,
  verb,
  resource,
  group,
}: Pick<AuditedRequest, 'account' | 'verb' | 'resource' | 'group'>): string {
  return `${account}: ${verb} ${resource}.${group}`
}

/** As `called`, of every rule in the manifests. A role there has the name of the account that it is bound to. */
async function grants(): Promise<string[]> {
  const texts = await Promise.all(KARMADA_ROLES.map((file) => readFile(join(MANIFESTS, file), 'utf8')))
  return texts
    .flatMap((text) => parseAllDocuments(text))
    .map((document) => document.toJS() as Role)
    .flatMap(({ metadata, rules = [] }) => rules.flatMap((rule) => grantsOf(metadata.name, rule)))
}

function grantsOf(account: string, { apiGroups, resources, verbs }: Rule): string[] {
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) => verbs.map((verb) => called({ account, verb, resource, group }))),
  )
}

interface Role {
  metadata: { name: string }
  rules?: Rule[]
}

interface Rule {
  apiGroups: string[]
  resources: string[]
  verbs: string[]
}
