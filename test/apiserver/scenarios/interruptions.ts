import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { ApiClient } from '../../contracts/kubernetes-api/api-client.ts'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import type { Scenario } from '../scenario.ts'
import { backend, ingress, ingressPath } from '../support/balanced-objects.ts'
import { eachOf, names } from '../support/each-of.ts'
import { withInstallation } from '../support/installation.ts'
import { startKillable } from '../support/killable.ts'
import { serveCloud } from '../support/remote-cloud.ts'
import { difference, failedOpen, webhookCalls } from '../support/server-metrics.ts'

const FUNCTION_PROCESS = join(import.meta.dirname, '../function-process.ts')
const COUNT = 200
const CONCURRENCY = 10

export const scenarios: Scenario[] = [
  {
    name: 'every notify dropped: the sweep finds creations, changes and deletions',
    async run(context) {
      const { admin } = context
      const namespace = 'unnotified'
      await withInstallation(context, namespace, async (installed) => {
        await installed.start()
        await installed.register({ doors: ['mutate', 'validate'] })
        const before = await webhookCalls(admin)
        const all = names('mci', 50)
        await eachOf(all, CONCURRENCY, (name) => mustBe(201, admin.post(ingressPath(namespace), ingress(name))))
        assert.equal(installed.balancersIn([namespace]).length, 0, 'nobody was told')
        await installed.sweep()
        await eventually(() => installed.converged(50))

        const [changed, deleted] = [all.slice(0, 10), all.slice(10, 20)]
        await eachOf(changed, CONCURRENCY, (name) => editPort(admin, namespace, name))
        await eachOf(deleted, CONCURRENCY, (name) => mustBe(200, admin.delete(ingressPath(namespace, name))))
        await installed.sweep()
        await eventually(() => installed.converged(40))
        const updates = installed.cloud.calls().filter(({ method }) => method === 'update')
        const updated = new Set(updates.map(({ identity }) => identity.name))
        assert.deepEqual(
          changed.filter((name) => !updated.has(name)),
          [],
          'balancers not updated',
        )
        const calls = difference(await webhookCalls(admin), before)
        assert.equal(calls.notify, 0, 'notified')
        context.log('50 creations, 10 changes and 10 deletions, 0 notified; two sweeps brought all to their state')
      })
    },
  },
  {
    name: 'API server restarted mid-way: what was told meanwhile is not lost, without a sweep',
    async run(context) {
      const { admin, server } = context
      const namespace = 'api-restarted'
      await withInstallation(context, namespace, async (installed) => {
        await installed.start()
        await installed.register()
        const failures = { count: 0 }
        let restarted: Promise<void> | undefined
        let created = 0
        await eachOf(names('mci', COUNT), CONCURRENCY, async (name) => {
          await createStubbornly(admin, namespace, name, failures)
          created += 1
          if (created >= 60) restarted ??= server.restart()
        })
        await restarted
        const started = performance.now()
        await eventually(() => installed.converged(COUNT), 45_000, 100)
        assert.ok(failures.count > 0, 'the restart came too late to be noticed')
        context.log(
          `${COUNT} creations, ${failures.count} tries failed by the restart; all served ${seconds(started)} after the last`,
        )
      })
    },
  },
  {
    name: 'function killed mid-way: the next one and a sweep finish its work, nothing is doubled',
    async run(context) {
      const { admin } = context
      const namespace = 'killed'
      await withInstallation(context, namespace, async (installed) => {
        // For its port, and for the webhooks to be in force.
        await installed.start()
        await installed.register()
        await installed.stop()
        const cloud = await serveCloud(installed.cloud)
        const start = () => startKillable(FUNCTION_PROCESS, [installed.configFile, cloud.url])
        let running = start()
        try {
          await installed.ready()
          const before = await failedOpen(admin)
          const all = names('mci', COUNT)
          await eachOf(all.slice(0, 80), CONCURRENCY, (name) =>
            mustBe(201, admin.post(ingressPath(namespace), ingress(name))),
          )
          await running.kill()
          const served = installed.balancersIn([namespace]).length
          await eachOf(all.slice(80, 160), CONCURRENCY, (name) =>
            mustBe(201, admin.post(ingressPath(namespace), ingress(name))),
          )
          await eachOf(all.slice(0, 20), CONCURRENCY, (name) => mustBe(200, admin.delete(ingressPath(namespace, name))))
          running = start()
          await installed.ready()
          const [report] = await Promise.all([
            installed.sweep(),
            eachOf(all.slice(160), CONCURRENCY, (name) =>
              mustBe(201, admin.post(ingressPath(namespace), ingress(name))),
            ),
          ])
          await eventually(() => installed.converged(COUNT - 20), 30_000, 100)
          const open = difference(await failedOpen(admin), before)
          assert.ok(served < 80, 'it was killed too late: all was done')
          assert.ok(open.notify >= 100, `${open.notify} notifications lost`)
          context.log(
            `killed after ${served} of 80 balancers; ${open.notify} notifications lost, one sweep of ${report.listed}: all ${COUNT - 20} served once, 20 gone`,
          )
        } catch (error) {
          context.log(running.output().split('\n').slice(-5).join('\n'))
          throw error
        } finally {
          await running.kill()
          await cloud.close()
        }
      })
    },
  },
]

function editPort(admin: ApiClient, namespace: string, name: string) {
  return mustBe(
    200,
    admin.patch('merge-patch', ingressPath(namespace, name), { spec: { defaultBackend: backend(81) } }),
  )
}

/** Like a user whose kubectl failed: tries again until it is there. */
async function createStubbornly(
  admin: ApiClient,
  namespace: string,
  name: string,
  failures: { count: number },
): Promise<void> {
  await eventually(
    async () => {
      try {
        const answer = await admin.post(ingressPath(namespace), ingress(name))
        assert.ok([201, 409].includes(answer.code), answer.text)
      } catch (error) {
        failures.count += 1
        throw error
      }
    },
    60_000,
    100,
  )
}

function seconds(started: number): string {
  return `${((performance.now() - started) / 1000).toFixed(1)} s`
}
