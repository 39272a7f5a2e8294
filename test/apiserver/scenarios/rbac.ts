import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { ApiClient, Body } from '../../contracts/kubernetes-api/api-client.ts'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import type { Scenario } from '../scenario.ts'
import { CLUSTERS, cluster, createBackend, createCertificate } from '../support/backends.ts'
import { backend, ingress, ingressPath, service, servicePath } from '../support/balanced-objects.ts'
import { type Installation, withInstallation } from '../support/installation.ts'

const MANIFESTS = join(import.meta.dirname, '../../../manifests/base')
const namespace = 'rbac'
const BINDINGS = `/apis/work.karmada.io/v1alpha2/namespaces/${namespace}/resourcebindings`
const EXPORTS = `/apis/multicluster.x-k8s.io/v1alpha1/namespaces/${namespace}/serviceexports`
const POLICIES = `/apis/policy.karmada.io/v1alpha1/namespaces/${namespace}/propagationpolicies`
const CRD_POLICY = '/apis/policy.karmada.io/v1alpha1/clusterpropagationpolicies/serviceexportpropagation-policy'

export const scenario: Scenario = {
  name: 'RBAC: the role grants what the function does, no more and no less',
  async run(context) {
    await withInstallation(context, namespace, async (installed) => {
      await installed.start()
      await installed.register()
      try {
        await liveAndDie(context.admin, installed)
      } finally {
        for (const name of ['member1', 'member2']) await context.admin.delete(`${CLUSTERS}/${name}`)
        await context.admin.delete(CRD_POLICY)
      }

      const requests = await installed.audit.requests()
      const called = ({ verb, resource, group }: (typeof requests)[number]) => `${verb} ${resource}.${group}`
      const refused = requests.filter(({ forbidden }) => forbidden)
      assert.deepEqual([...new Set(refused.map(called))], [], 'refused by RBAC')
      const used = new Set(requests.map(called))
      const granted = await grants()
      const idle = granted.filter((grant) => !used.has(grant))
      assert.deepEqual(idle, [], 'granted and never used')
      context.log(`${requests.length} requests, 0 refused; ${granted.length} grants, 0 unused`)
    })
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
  // No review tells of clusters and bindings.
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

/** `verb resource.group` of every rule in the manifests. */
async function grants(): Promise<string[]> {
  const files = (await readdir(MANIFESTS)).filter((file) => file.endsWith('.yaml'))
  const texts = await Promise.all(files.map((file) => readFile(join(MANIFESTS, file), 'utf8')))
  return texts
    .flatMap((text) => parseAllDocuments(text))
    .flatMap((document) => (document.toJS() as { rules?: Rule[] }).rules ?? [])
    .flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}.${group}`)),
      ),
    )
}

interface Rule {
  apiGroups: string[]
  resources: string[]
  verbs: string[]
}
