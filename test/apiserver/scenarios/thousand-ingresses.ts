import assert from 'node:assert/strict'
import type { Watch } from '../../contracts/kubernetes-api/api-client.ts'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import type { Scenario } from '../scenario.ts'
import { isWrite, requestTable } from '../support/audit-log.ts'
import { createBackend } from '../support/backends.ts'
import { addressesOf, backend, ingress, ingressPath } from '../support/balanced-objects.ts'
import { eachOf, names } from '../support/each-of.ts'
import { type Installation, withInstallation } from '../support/installation.ts'

const namespace = 'thousand'
const COUNT = 1_000
const CONCURRENCY = 20
const EACH_TOOK_AT_MOST_S = 60

export const scenario: Scenario = {
  name: '1,000 ingresses: none lost, none doubled, and a quiet sweep writes nothing',
  async run(context) {
    const { admin, log } = context
    await withInstallation(context, namespace, async (installed) => {
      await createBackend(admin, namespace, 'web')
      await installed.start()
      await installed.register()
      await installed.audit.mark()

      const applied = new Map<string, number>()
      const { resourceVersion } = (await mustBe(200, admin.get(ingressPath(namespace)))).metadata
      const watch = await admin.watch(`${ingressPath(namespace)}?watch=true&resourceVersion=${resourceVersion}`)
      const published = publishedTimes(watch)
      const started = performance.now()
      await eachOf(names('mci', COUNT), CONCURRENCY, async (name) => {
        applied.set(name, performance.now())
        await mustBe(201, admin.post(ingressPath(namespace), ingressOfHost(name)))
      })
      const createdAfter = performance.now() - started
      const publishedAt = await published
      watch.close()
      const convergedAfter = performance.now() - started
      await eventually(() => installed.converged(COUNT))
      assertNoneDoubled(installed)
      log(`created in ${seconds(createdAfter)}, all published after ${seconds(convergedAfter)}`)
      const waits = [...applied].map(([name, at]) => (publishedAt.get(name) ?? Number.NaN) - at)
      log(
        `from apply to status: p50 ${quantile(waits, 0.5)} ms, p99 ${quantile(waits, 0.99)} ms, most ${quantile(waits, 1)} ms`,
      )
      for (const row of requestTable(await installed.audit.requests(), COUNT)) log(`  ${row}`)

      await installed.audit.mark()
      const sweepStarted = performance.now()
      const report = await installed.sweep()
      const swept = await installed.audit.requests()
      const { settled, ...others } = report.outcomes
      assert.ok(settled >= COUNT, JSON.stringify(report))
      assert.deepEqual(others, { gone: 0, ignored: 0, later: 0, failed: 0 })
      assert.deepEqual(swept.filter(isWrite), [], 'writes of a quiet sweep')
      log(`a quiet sweep: ${swept.length} reads, 0 writes, ${seconds(performance.now() - sweepStarted)}`)

      await installed.audit.mark()
      const deleteStarted = performance.now()
      await eachOf(names('mci', COUNT), CONCURRENCY, (name) => mustBe(200, admin.delete(ingressPath(namespace, name))))
      await eventually(() => installed.converged(0), EACH_TOOK_AT_MOST_S * 1_000, 200)
      log(`all deleted after ${seconds(performance.now() - deleteStarted)}, 0 objects and 0 balancers left`)
      for (const row of requestTable(await installed.audit.requests(), COUNT)) log(`  ${row}`)
    })
  },
}

function ingressOfHost(name: string) {
  const path = { path: '/', pathType: 'Prefix', backend: backend(80) }
  return ingress(name, { spec: { rules: [{ host: `${name}.example.com`, http: { paths: [path] } }] } })
}

/** When each was seen with an address, once all were. */
async function publishedTimes(watch: Watch): Promise<Map<string, number>> {
  const times = new Map<string, number>()
  while (times.size < COUNT) {
    const event = await watch.next()
    if (event === undefined) throw new Error(`the watch ended after ${times.size} were published`)
    const { name = '' } = event.object.metadata
    if (!times.has(name) && addressesOf(event.object).length > 0) times.set(name, performance.now())
  }
  return times
}

/** One balancer was made for each, once. */
function assertNoneDoubled({ cloud }: Installation): void {
  const made = cloud.calls().filter(({ method }) => method === 'ensure')
  const uids = new Set(made.map(({ identity }) => identity.uid))
  assert.equal(uids.size, COUNT, 'objects for which a balancer was made')
}

function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return Math.round(sorted[Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)] ?? Number.NaN)
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`
}
