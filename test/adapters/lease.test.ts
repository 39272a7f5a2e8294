import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { createCertificateAuthority } from '../../src/adapters/certificates/certificate-authority.ts'
import { loadKubeConfig } from '../../src/adapters/kubernetes/kube-config.ts'
import { createKubernetesClusterStore } from '../../src/adapters/kubernetes/kubernetes-cluster-store.ts'
import { createServerTime } from '../../src/adapters/kubernetes/server-time.ts'
import { cleanUpLeases } from '../../src/adapters/lease/clean-up-leases.ts'
import { createLeaseLock } from '../../src/adapters/lease/lease-lock.ts'
import { createSystemClock } from '../../src/adapters/system/system-clock.ts'
import type { JsonValue } from '../../src/domain/kubernetes-object.ts'
import { formatKey as nameOf, type ObjectKey } from '../../src/domain/object-key.ts'
import type { ApiObject } from '../../src/local/core/api-object.ts'
import { karmadaCrds } from '../../src/local/crds/karmada-crds.ts'
import { startLocalControlPlane } from '../../src/local/start-local-control-plane.ts'
import type { HeldLock, Lock } from '../../src/ports/lock.ts'
import { lockContract } from '../contracts/lock-contract.ts'
import { buildIngress, buildService } from '../support/build-objects.ts'
import { leaseHistories, playLeaseHistory } from '../support/lease-history.ts'
import { createLeaseWorld, type Flaws, LOCKS, leaseLockOver } from '../support/lease-world.ts'
import { createManualClock } from '../support/manual-clock.ts'
import type { Fault } from '../support/unreliable-store.ts'

const KEY: ObjectKey = { kind: 'MultiClusterIngress', namespace: 'shop', name: 'storefront' }
const options = { signal: new AbortController().signal }

async function locked(lock: Lock, key = KEY): Promise<HeldLock> {
  const held = await lock.acquire(key, options)
  if (held === undefined) throw new Error('somebody else holds it')
  return held
}

t.test('the Lease lock over the store in memory', async (t) =>
  lockContract(t, () => {
    const { join } = createLeaseWorld()
    return { one: join('one').lock, other: join('other').lock }
  }),
)

t.test('the Lease lock over HTTPS', async (t) => {
  const clock = createSystemClock()
  const folder = mkdtempSync(join(tmpdir(), 'lease-'))
  const path = join(folder, 'kubeconfig')
  const controlPlane = await startLocalControlPlane({ clock, authority: await createCertificateAuthority(clock.now()) })
  writeFileSync(path, controlPlane.kubeconfig)
  controlPlane.core.preload([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: LOCKS.namespace } }])
  const stores = ['one', 'other'].map(() =>
    createKubernetesClusterStore(loadKubeConfig({ kind: 'file', path }), { timeoutMs: 10_000, clock }),
  )
  t.teardown(async () => {
    for (const store of stores) await store.close()
    await controlPlane.close()
    rmSync(folder, { recursive: true })
  })
  let owners = 0
  lockContract(t, () => {
    owners += 1
    const [one, other] = stores.map((store, index) =>
      leaseLockOver({ store, serverClock: store, clock, instance: `instance-${index}`, owner: `test/${owners}` }),
    )
    if (one === undefined || other === undefined) throw new TypeError('two of them')
    return { one, other }
  })
})

t.test('the API server’s time is known from its answers, and never run ahead of', async (t) => {
  const clock = createManualClock()
  const time = createServerTime(clock)
  const answered = (server: number, sentAt: number) => time.observe(new Date(server).toUTCString(), sentAt)
  const start = clock.now()
  t.equal(time.now(), start, 'our own until it has answered')
  time.observe(undefined, start)
  time.observe('yesterday', start)
  t.equal(time.now(), start)

  answered(start + 600_900, start)
  t.equal(time.now(), start + 600_000, 'the beginning of the second it names')
  await clock.advance(950)
  answered(start + 600_900 + 950, start + 900)
  t.equal(time.now(), start + 601_000, 'the same second begun later would be a lower bound and no news')
  await clock.advance(1_000)
  answered(start + 602_900, start + 1_900)
  t.equal(time.now(), start + 602_000)
  await clock.advance(40)
  answered(start + 603_010, start + 1_980)
  t.equal(time.now(), start + 603_000, 'a second that has just begun tells more')
  await clock.advance(10_000)
  answered(start + 300_000, start + 11_990)
  t.equal(time.now(), start + 300_000, 'one of the clocks was set')
})

t.test('a holder renews while it works, and nothing is left when it is done', async (t) => {
  const { join, clock, leases } = createLeaseWorld()
  const holder = join('holder')
  const held = await locked(holder.lock)
  holder.requests.length = 0
  await clock.advance(5 * 60_000)
  t.notOk(held.lost.aborted)
  t.equal(holder.requests.length, 60, 'once every five seconds')
  const [lease] = leases()
  t.match(lease, {
    metadata: {
      name: /^wcp-[0-9a-f]{40}$/,
      labels: {
        'app.kubernetes.io/managed-by': 'webhook-cloud-provider',
        'webhook-cloud-provider.dev/owner': 'webhook-cloud-provider.dev_fake',
        'webhook-cloud-provider.dev/kind': 'MultiClusterIngress',
        'webhook-cloud-provider.dev/namespace': 'shop',
      },
      annotations: { 'webhook-cloud-provider.dev/key': 'MultiClusterIngress/shop/storefront' },
    },
    spec: {
      holderIdentity: 'holder',
      leaseDurationSeconds: 15,
      acquireTime: '2026-03-01T08:00:00.000000Z',
      renewTime: '2026-03-01T08:05:00.000000Z',
    },
  })
  t.same(await held.release(), { again: false })
  t.same(leases(), [])
  holder.requests.length = 0
  await clock.advance(3_600_000)
  t.same(holder.requests, [], 'who holds nothing asks nothing')
})

t.test('a holder that died is replaced when its time and the margin are over, whatever our clock says', async (t) => {
  for (const skewMs of [0, 600_000, -600_000]) {
    const { join, clock } = createLeaseWorld()
    const dead = join('dead')
    await locked(dead.lock)
    dead.machine.freeze()
    const other = join('other', { skewMs })
    await clock.advance(20_000)
    t.equal(await other.lock.acquire(KEY, options), undefined, `at its end, with ${skewMs} ms`)
    await clock.advance(2_000)
    const held = await locked(other.lock)
    t.same(await held.release(), { again: true }, 'and what was asked of the dead is done by the living')
  }
})

t.test('whoever left its wish with a holder that died is told, once, when its time is over', async (t) => {
  const { join, clock } = createLeaseWorld()
  const dying = join('dying')
  const abandoned: ObjectKey[] = []
  const waiter = join('waiter', { onAbandoned: (key) => void abandoned.push(key) })
  const held = await locked(dying.lock)
  await waiter.lock.acquire(KEY, options)
  await waiter.lock.acquire(KEY, options)
  await clock.advance(60_000)
  t.same(abandoned, [], 'a living one is trusted')
  dying.machine.freeze()
  waiter.requests.length = 0
  await clock.advance(45_000)
  t.same(abandoned, [KEY])
  t.ok(waiter.requests.length <= 2, 'at the price of a look or two')
  dying.machine.thaw()
  await held.release()
  await (await locked(waiter.lock)).release()

  const second = await locked(dying.lock)
  await waiter.lock.acquire(KEY, options)
  await second.release()
  const third = await locked(dying.lock)
  dying.machine.freeze()
  await clock.advance(60_000)
  t.same(abandoned, [KEY], 'the wish was done by the second holding; nobody asked the third for anything')
  t.notOk(third.lost.aborted)
})

t.test('a holder that was frozen knows that it lost before it does anything more', async (t) => {
  const { join, clock } = createLeaseWorld()
  const frozen = join('frozen')
  const held = await locked(frozen.lock)
  frozen.machine.freeze()
  await clock.advance(30_000)
  const successor = await locked(join('successor').lock)
  t.notOk(held.lost.aborted, 'a frozen one knows nothing')
  frozen.machine.thaw()
  t.ok(held.lost.aborted)
  t.match(held.lost.reason, { code: 'Conflict', object: KEY })
  await t.rejects(held.setNote('a', 'b'), { code: 'Conflict' })
  t.same(await held.release(), { again: true }, 'it cannot know who asked in the meantime')
  t.notOk(successor.lost.aborted)
  t.same(await successor.release(), { again: false })
})

t.test('a holder that slept past its time finds out by its clock, before anything tells it', async (t) => {
  const { join, clock } = createLeaseWorld()
  const sleeper = join('sleeper')
  const held = await locked(sleeper.lock)
  held.check()
  sleeper.machine.freeze()
  await clock.advance(15_000)
  t.notOk(held.lost.aborted, 'what woke it came before the timer that says so')
  t.throws(() => held.check(), { code: 'Conflict', object: KEY })
  t.ok(held.lost.aborted)
})

t.test('a holder that cannot renew stops before others may begin', async (t) => {
  const { join, clock } = createLeaseWorld()
  let fault: Fault = { kind: 'none' }
  const cutOff = join('cut-off', { fault: () => fault })
  const held = await locked(cutOff.lock)
  await clock.advance(6_000)
  fault = { kind: 'lostBefore' }
  await clock.advance(13_000)
  t.notOk(held.lost.aborted)
  await clock.advance(2_000)
  t.ok(held.lost.aborted, '15 s after the last renewal')
  t.equal(await join('other').lock.acquire(KEY, options), undefined, 'the margin is not over')
  t.same(await held.release(), { again: true })
})

t.test('a holder whose Lease was taken by force learns it at the next renewal', async (t) => {
  const { join, clock, store, leases } = createLeaseWorld()
  const holder = join('holder')
  const held = await locked(holder.lock)
  const [lease] = leases()
  const key = { kind: 'Lease', namespace: LOCKS.namespace, name: lease?.metadata.name ?? '' } as const
  await store.patch(key, { type: 'merge', body: { spec: { holderIdentity: 'somebody' } } }, options)
  await clock.advance(5_000)
  t.ok(held.lost.aborted)
  t.same(await held.release(), { again: true })
  t.equal(leases()[0]?.spec?.holderIdentity, 'somebody', 'and leaves it to them')
})

t.test('whoever comes while it is held is remembered across renewals and passes of one process', async (t) => {
  const { join, clock } = createLeaseWorld()
  const holder = join('holder')
  const other = join('other')
  const first = await locked(holder.lock)
  await other.lock.acquire(KEY, options)
  await clock.advance(60_000)
  t.same(await first.release(), { again: true })
  const second = await locked(holder.lock)
  other.requests.length = 0
  await other.lock.acquire(KEY, options)
  await other.lock.acquire(KEY, options)
  t.same(other.requests, ['get Lease', 'patch Lease', 'get Lease'], 'one mark is enough')
  holder.requests.length = 0
  await holder.lock.acquire(KEY, options)
  t.same(holder.requests, [], 'one process need not ask the API server')
  t.same(await second.release(), { again: true })
})

t.test('a mark that comes with the release is either kept or was too late to be one', async (t) => {
  const { join, clock } = createLeaseWorld()
  const holder = join('holder', { fault: () => ({ kind: 'slow', ms: 100 }) })
  const other = join('other', { fault: () => ({ kind: 'slow', ms: 30 }) })
  let rounds = 0
  for (let offset = 0; offset <= 500; offset += 10) {
    const entering = locked(holder.lock)
    await clock.advance(1_000)
    const held = await entering
    let again: boolean | undefined
    clock.after(300, () => void held.release().then((result) => (again = result.again)))
    let entered: HeldLock | undefined | 'pending' = 'pending'
    clock.after(offset, () => void other.lock.acquire(KEY, options).then((result) => (entered = result)))
    await clock.advance(5_000)
    t.equal(again, entered === undefined, `${offset} ms`)
    if (entered !== undefined && entered !== 'pending') {
      const releasing = (entered as HeldLock).release()
      await clock.advance(1_000)
      t.same(await releasing, { again: false })
    }
    rounds += 1
  }
  t.equal(rounds, 51)
})

t.test('a Lease whose creation was answered to nobody is taken up by the process it was made for', async (t) => {
  for (const kind of ['lostAfter', 'lostBefore'] as const) {
    const { join, clock, leases } = createLeaseWorld()
    const faults: Fault[] = [{ kind: 'none' }, { kind, ms: 0 }]
    const unlucky = join('unlucky', { fault: () => faults.shift() ?? { kind: 'none' } })
    const failed = t.rejects(unlucky.lock.acquire(KEY, options), { code: 'ApiTimeout' })
    await clock.advance(10_000)
    await failed
    t.equal(leases().length, kind === 'lostAfter' ? 1 : 0)
    const held = await locked(unlucky.lock)
    t.same(await held.release(), { again: false })
  }
})

t.test('a release whose answer is lost is done again, and is certain when its own request did it', async (t) => {
  const { join, clock, leases } = createLeaseWorld()
  let fault: Fault = { kind: 'none' }
  const holder = join('holder', { fault: () => fault })
  const held = await locked(holder.lock)
  fault = { kind: 'lostAfter', ms: 0 }
  const releasing = held.release()
  await clock.advance(9_000)
  fault = { kind: 'none' }
  await clock.advance(3_000)
  t.same(await releasing, { again: false })
  t.same(leases(), [])

  const second = await locked(holder.lock)
  const [lease] = leases()
  const { uid = '', resourceVersion = '' } = lease?.metadata ?? {}
  const key = { kind: 'Lease', namespace: LOCKS.namespace, name: lease?.metadata.name ?? '' } as const
  await join('admin').options.store.delete(key, { ...options, preconditions: { uid, resourceVersion } })
  t.same(await second.release(), { again: true }, 'with a Lease that others deleted marks may have gone')
})

t.test('without the namespace it says so', async (t) => {
  const world = createLeaseWorld()
  const { options: parts } = world.join('lost')
  const lock = createLeaseLock({ ...parts, namespace: 'nowhere' })
  await t.rejects(lock.acquire(KEY, options), { code: 'NotFound', message: /nowhere/ })
})

t.test('what dead holders and gone objects leave is cleaned up', async (t) => {
  const { join, clock, leases, core } = createLeaseWorld()
  core.preload([...karmadaCrds, buildIngress() as unknown as ApiObject])
  const dead = join('dead')
  await locked(dead.lock, { ...KEY, name: 'orphaned' })
  await locked(dead.lock, KEY)
  for (const name of ['storefront', 'gone']) {
    const noted = await locked(join('tidy').lock, { ...KEY, kind: 'MultiClusterService', name })
    await noted.setNote('since', 'yesterday')
    await noted.release()
  }
  core.preload([buildService({ metadata: { name: 'storefront' } }) as unknown as ApiObject])
  dead.machine.freeze()
  const living = join('living')
  await clock.advance(21_500)
  const held = await locked(living.lock, { ...KEY, name: 'in-use' })
  const stranger = createLeaseLock({ ...living.options, owner: 'somebody/else' })
  await locked(stranger, KEY)

  t.same(await cleanUpLeases(living.options, options), {
    removed: 2,
    abandoned: [KEY, { ...KEY, name: 'orphaned' }].toSorted((a, b) => nameOf(a).localeCompare(nameOf(b))),
  })
  t.same(
    leases()
      .map(({ metadata }) => metadata.annotations?.['webhook-cloud-provider.dev/key'])
      .sort(),
    [
      'MultiClusterIngress/shop/in-use',
      'MultiClusterIngress/shop/storefront',
      'MultiClusterService/shop/gone',
      'MultiClusterService/shop/storefront',
    ],
    'what was noted a moment ago a later sweep may want to know',
  )
  t.notOk(held.lost.aborted)
  t.same(await cleanUpLeases(living.options, options), { removed: 0, abandoned: [] })
  await held.release()
  await clock.advance(86_400_000)
  t.match(await cleanUpLeases(living.options, options), { removed: 2 }, 'and nobody does after a day')
})

t.test('whatever freezes, dies or gets lost, one holder at a time, and nobody who asked is forgotten', async (t) => {
  const runs = { numRuns: 1_000, seed: 20_260_301 }
  const seen = { passes: 0, lost: 0, waited: 0 }
  await fc.assert(
    fc.asyncProperty(leaseHistories(), async (history) => {
      const { faults, ...counts } = await playLeaseHistory(history)
      seen.passes += counts.passes
      seen.lost += counts.lost
      seen.waited += counts.waited
      if (faults.length > 0) throw new Error(faults.join('\n'))
    }),
    runs,
  )
  t.comment(
    `${runs.numRuns} histories: ${seen.passes} passes, ${seen.waited} left to a holder, ${seen.lost} locks lost`,
  )
  t.ok(seen.lost > 100 && seen.waited > 100, 'they were not all harmless')
})

t.test('those histories notice what would go wrong without a part of it', async (t) => {
  const flaws: Record<string, { flaws: Flaws; fault: RegExp }> = {
    'a holder replaced too early': { flaws: { marginMs: -12_000 }, fault: /two holders/ },
    'a release that looks at no version': {
      flaws: {
        store: (whole) => ({
          ...whole,
          async delete(key, call) {
            const { uid = '', resourceVersion = '' } = (await whole.get(key, call))?.metadata ?? {}
            await whole.delete(key, { ...call, preconditions: { uid, resourceVersion } })
          },
        }),
      },
      fault: /last whole pass/,
    },
    'a take-over that looks at no version': {
      flaws: {
        store: (whole) => ({
          ...whole,
          patch(key, patch, call) {
            if (patch.type === 'json') return whole.patch(key, patch, call)
            const { metadata: _, ...body } = patch.body as { metadata: JsonValue }
            return whole.patch(key, { type: 'merge', body }, call)
          },
        }),
      },
      fault: /two holders/,
    },
  }
  for (const [name, { flaws: built, fault }] of Object.entries(flaws)) {
    const result = await fc.check(
      fc.asyncProperty(leaseHistories(), async (history) => {
        const { faults } = await playLeaseHistory(history, built)
        if (faults.some((found) => fault.test(found))) throw new Error(faults.join('\n'))
      }),
      { numRuns: 2_000, seed: 3, endOnFailure: true },
    )
    t.ok(result.failed, `${name}: after ${result.numRuns} histories`)
  }
})
