import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import type { Scenario } from '../scenario.ts'
import { backend, ingress, ingressPath } from '../support/balanced-objects.ts'
import { eachOf, names } from '../support/each-of.ts'
import { withInstallation } from '../support/installation.ts'
import { startReviewFront } from '../support/review-front.ts'
import { servedSerial, startLoad } from '../support/review-load.ts'
import { difference, failedOpen } from '../support/server-metrics.ts'

// As registered: the longest that one webhook may keep a write waiting.
const TIMEOUT_MS = 3_000

export const scenarios: Scenario[] = [
  {
    name: 'webhook down, then back: users notice nothing, the sweep catches up',
    async run(context) {
      const { admin } = context
      const namespace = 'webhook-down'
      await withInstallation(context, namespace, async (installed) => {
        await installed.start()
        await installed.register()
        const [kept, late] = [names('before', 20), names('meanwhile', 20)]
        await eachOf(kept, 5, (name) => mustBe(201, admin.post(ingressPath(namespace), ingress(name))))
        await eventually(() => installed.converged(20))

        await installed.stop()
        const before = await failedOpen(admin)
        const started = performance.now()
        await eachOf(late, 5, (name) => mustBe(201, admin.post(ingressPath(namespace), ingress(name))))
        await eachOf(kept.slice(0, 10), 5, (name) =>
          mustBe(
            200,
            admin.patch('merge-patch', ingressPath(namespace, name), { spec: { defaultBackend: backend(81) } }),
          ),
        )
        await eachOf(kept.slice(10, 15), 5, (name) => mustBe(200, admin.delete(ingressPath(namespace, name))))
        const slowest = performance.now() - started
        const open = difference(await failedOpen(admin), before)
        assert.deepEqual(open, { mutate: 20, validate: 30, notify: 35 }, 'calls that failed open')

        await installed.start()
        const report = await installed.sweep()
        await eventually(() => installed.converged(35))
        const updates = installed.cloud.calls().filter(({ method }) => method === 'update')
        const updated = new Set(updates.map(({ identity }) => identity.name))
        assert.deepEqual(
          kept.slice(0, 10).filter((name) => !updated.has(name)),
          [],
          'balancers not updated',
        )
        context.log(
          `35 writes in ${Math.round(slowest)} ms without a function, 0 refused, 85 calls failed open; one sweep of ${report.listed} brought all to their state`,
        )
      })
    },
  },
  {
    name: 'slow webhook: a write waits for its timeout and no longer, and is served all the same',
    async run(context) {
      const { admin } = context
      const namespace = 'webhook-slow'
      await withInstallation(context, namespace, async (installed) => {
        await installed.start()
        const front = await startReviewFront(installed)
        try {
          await installed.register({ at: front })
          front.answerAfter(TIMEOUT_MS + 1_000)
          const before = await failedOpen(admin)
          const waits: number[] = []
          await eachOf(names('slow', 10), 10, async (name) => {
            const started = performance.now()
            await mustBe(201, admin.post(ingressPath(namespace), ingress(name)))
            waits.push(performance.now() - started)
          })
          const open = difference(await failedOpen(admin), before)
          assert.deepEqual(open, { mutate: 10, validate: 10, notify: 10 }, 'calls that failed open')
          const [least, most] = [Math.min(...waits), Math.max(...waits)]
          // One timeout for the mutating call, one for the two validating ones, which are asked at once.
          assert.ok(least > 1.9 * TIMEOUT_MS && most < 2.5 * TIMEOUT_MS, `writes took ${least} to ${most} ms`)
          await eventually(() => installed.converged(10), 15_000)
          context.log(
            `10 creates took ${Math.round(least)} to ${Math.round(most)} ms, all 30 calls failed open; all served without a sweep`,
          )
        } finally {
          await front.close()
        }
      })
    },
  },
  {
    name: 'serving certificate replaced under load: no call fails open',
    async run(context) {
      const { admin } = context
      const namespace = 'certificate'
      await withInstallation(context, namespace, async (installed) => {
        await installed.start()
        await installed.register()
        const before = await failedOpen(admin)
        const load = startLoad(admin, namespace)
        for (const how of ['swapped', 'rewritten', 'swapped'] as const) {
          const old = await servedSerial(installed)
          await installed.renewCertificate(how)
          await eventually(async () => assert.notEqual(await servedSerial(installed), old), 15_000, 50)
          // Calls on connections of both certificates.
          await pause(500)
        }
        const { created, tried } = await load.stop()
        assert.deepEqual(difference(await failedOpen(admin), before), { mutate: 0, validate: 0, notify: 0 })
        await eventually(() => installed.converged(created))
        context.log(`3 certificates, ${created} creates and ${tried} dry runs meanwhile, 0 calls failed open`)
      })
    },
  },
]
