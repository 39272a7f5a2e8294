import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import type { Scenario } from '../scenario.ts'
import { backend, ingress, ingressPath, service, servicePath } from '../support/balanced-objects.ts'
import { eachOf, names } from '../support/each-of.ts'
import { withInstallation } from '../support/installation.ts'
import { startWatchProcess } from '../support/watch-process.ts'

const namespace = 'watched'
const KIND = { group: 'networking.karmada.io', version: 'v1alpha1' }
const WATCHED = [
  { ...KIND, plural: 'multiclusteringresses', kind: 'MultiClusterIngress' },
  { ...KIND, plural: 'multiclusterservices', kind: 'MultiClusterService' },
]

export const scenario: Scenario = {
  name: 'wcp watch alone, no webhook at all: killed and restarted across a compaction, nothing is lost',
  beside: true,
  async run(context) {
    const { admin, server } = context
    await withInstallation(context, namespace, async (installed) => {
      await installed.start()
      const start = () =>
        startWatchProcess(installed, { kubeconfig: server.kubeconfigPath, watch: { resources: WATCHED } })
      const create = (some: readonly string[]) =>
        eachOf(some, 10, (name) => mustBe(201, admin.post(ingressPath(namespace), ingress(name))))
      const all = names('mci', 90)

      let watch = await start()
      try {
        await create(all.slice(0, 30))
        await mustBe(201, admin.post(servicePath(namespace), service('game')))
        await eventually(() => installed.converged(31), 20_000, 50)

        await watch.kill()
        await create(all.slice(30, 60))
        await eachOf(all.slice(0, 10), 10, (name) =>
          mustBe(
            200,
            admin.patch('merge-patch', ingressPath(namespace, name), { spec: { defaultBackend: backend(81) } }),
          ),
        )
        await eachOf(all.slice(10, 20), 10, (name) => mustBe(200, admin.delete(ingressPath(namespace, name))))
        await server.compact()
        watch = await start()
        await eventually(() => installed.converged(51), 20_000, 50)
        await eventually(() => {
          const updates = installed.cloud.calls().filter(({ method }) => method === 'update')
          const updated = new Set(updates.map(({ identity }) => identity.name))
          for (const name of all.slice(0, 10)) if (!updated.has(name)) throw new Error(`${name} was not updated`)
        })

        // It lives on through a compaction and a restart that lose its place.
        await server.compact()
        await server.restart()
        await create(all.slice(60))
        await eachOf(all.slice(20, 30), 10, (name) => mustBe(200, admin.delete(ingressPath(namespace, name))))
        await eventually(() => installed.converged(71), 40_000, 50)
        context.log(
          '90 creations, 10 changes, 20 deletions, 0 webhooks; watch killed once, two compactions, one restart of the API server: 71 served, 20 gone',
        )
      } catch (error) {
        context.log(watch.output().split('\n').slice(-8).join('\n'))
        throw error
      } finally {
        await watch.kill()
      }
    })
  },
}
