import assert from 'node:assert/strict'
import type { ApiClient, Body } from '../../contracts/kubernetes-api/api-client.ts'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import type { Scenario } from '../scenario.ts'
import { addressesOf, collectionPath, ingress, ingressPath, service, servicePath } from '../support/balanced-objects.ts'
import { eachOf, names } from '../support/each-of.ts'
import { emptyNamespace } from '../support/empty-namespace.ts'
import { removeAll, withInstallation } from '../support/installation.ts'
import { difference, webhookCalls } from '../support/server-metrics.ts'

const CRD = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/multiclusteringresses.networking.karmada.io'

export const scenarios: Scenario[] = [
  {
    name: 'deletecollection: every balancer goes, and nothing else',
    async run(context) {
      const { admin } = context
      const namespace = 'collection'
      await withInstallation(context, namespace, async (installed) => {
        await installed.start()
        await installed.register()
        const other = await installed.namespaceNamed('other')
        await eachOf(names('mci', 50), 10, (name) => mustBe(201, admin.post(ingressPath(namespace), ingress(name))))
        await eachOf(names('mcs', 10), 10, (name) => mustBe(201, admin.post(servicePath(namespace), service(name))))
        await mustBe(201, admin.post(ingressPath(other), ingress('stays')))
        await eventually(() => installed.converged(61, [namespace, other]))
        const started = performance.now()
        await mustBe(200, admin.delete(ingressPath(namespace)))
        await mustBe(200, admin.delete(servicePath(namespace)))
        await eventually(() => installed.converged(1, [namespace, other]))
        context.log(`60 objects and balancers gone after ${ms(started)}, the one of another namespace serves`)
      })
    },
  },
  {
    name: 'namespace deletion: balancers go with it, and it is not held up',
    async run(context) {
      const { admin } = context
      await withInstallation(context, 'namespaces', async (installed) => {
        await installed.start()
        await installed.register()
        const doomed = await installed.namespaceNamed('doomed')
        await eachOf(names('mci', 20), 10, (name) => mustBe(201, admin.post(ingressPath(doomed), ingress(name))))
        await eachOf(names('mcs', 10), 10, (name) => mustBe(201, admin.post(servicePath(doomed), service(name))))
        await eventually(() => installed.converged(30, [doomed]))
        const started = performance.now()
        const answer = await admin.delete(`/api/v1/namespaces/${doomed}`)
        assert.ok([200, 409].includes(answer.code), answer.text)
        await emptyNamespace(admin, doomed, 20_000)
        await mustBe(404, admin.get(`/api/v1/namespaces/${doomed}`))
        assert.equal(installed.balancersIn([doomed]).length, 0, 'balancers left')
        context.log(`30 objects, balancers and their namespace gone after ${ms(started)}`)
      })
    },
  },
  {
    name: 'CRD deletion: no review tells, the sweep cleans up, nothing hangs',
    async run(context) {
      const { admin } = context
      const namespace = 'crd'
      await withInstallation(context, namespace, async (installed) => {
        await installed.start()
        await installed.register()
        await eachOf(names('mci', 20), 10, (name) => mustBe(201, admin.post(ingressPath(namespace), ingress(name))))
        await mustBe(201, admin.post(servicePath(namespace), service('game')))
        await eventually(() => installed.converged(21))
        const definition = await mustBe(200, admin.get(CRD))
        const before = await webhookCalls(admin)
        const started = performance.now()
        await mustBe(200, admin.delete(CRD))
        try {
          await eventually(async () => {
            const { items = [] } = await mustBe(200, admin.get(ingressPath(namespace)))
            assert.ok(items.every(({ metadata }) => metadata.deletionTimestamp !== undefined))
          })
          assert.deepEqual(difference(await webhookCalls(admin), before), { mutate: 0, validate: 0, notify: 0 })
          assert.equal(installed.balancersIn([namespace]).length, 21, 'nobody was told')
          await installed.sweep()
          await eventually(() => assert.equal(installed.balancersIn([namespace]).length, 1, 'balancers left'))
          await eventually(() => mustBe(404, admin.get(CRD)), 60_000, 100)
          const took = ms(started)

          // The kind is not served now; the other one is, and is swept.
          const published = await mustBe(200, admin.get(servicePath(namespace, 'game')))
          const patch = { status: { loadBalancer: null } }
          await mustBe(200, admin.patch('merge-patch', servicePath(namespace, 'game', 'status'), patch))
          await installed.sweep()
          const repaired = await mustBe(200, admin.get(servicePath(namespace, 'game')))
          assert.deepEqual(addressesOf(repaired), addressesOf(published))
          context.log(`20 objects, 20 balancers and their CRD gone after ${took}, without a review`)
        } finally {
          await recreate(admin, definition)
        }
        await mustBe(201, admin.post(ingressPath(namespace), ingress('again')))
        await eventually(() => installed.converged(2))
      })
    },
  },
]

/** As it was, and served again. */
async function recreate(admin: ApiClient, { apiVersion, kind, metadata, spec }: Body): Promise<void> {
  await eventually(
    async () => {
      if ((await admin.get(CRD)).code !== 404) await removeAll(admin, 'multiclusteringresses')
      await mustBe(404, admin.get(CRD))
    },
    90_000,
    100,
  )
  const { name, labels = {}, annotations = {} } = metadata
  const definition = { apiVersion, kind, metadata: { name, labels, annotations }, spec }
  await mustBe(201, admin.post(CRD.slice(0, CRD.lastIndexOf('/')), definition))
  await eventually(() => mustBe(200, admin.get(collectionPath('multiclusteringresses'))), 30_000)
}

function ms(started: number): string {
  return `${((performance.now() - started) / 1000).toFixed(1)} s`
}
