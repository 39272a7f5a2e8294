import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadKubeConfig } from '../../../src/adapters/kubernetes/kube-config.ts'
import { createKubernetesClusterStore } from '../../../src/adapters/kubernetes/kubernetes-cluster-store.ts'
import { createLeaseLock } from '../../../src/adapters/lease/lease-lock.ts'
import { sha256 } from '../../../src/adapters/system/sha256.ts'
import { createSystemClock } from '../../../src/adapters/system/system-clock.ts'
import { CatalogueError } from '../../../src/domain/catalogue-error.ts'
import type { ObjectKey } from '../../../src/domain/object-key.ts'
import type { ClusterStore } from '../../../src/ports/cluster-store.ts'
import type { HeldLock, Lock } from '../../../src/ports/lock.ts'
import { silentLogger } from '../../support/silent-logger.ts'
import type { Scenario, ScenarioContext } from '../scenario.ts'

const MANIFEST = join(import.meta.dirname, '../../../manifests/components/several-instances/karmada/rbac.yaml')
const NAMESPACE = 'webhook-cloud-provider'
const KEY: ObjectKey = { kind: 'MultiClusterIngress', namespace: 'shop', name: 'lease-lock' }
const options = { signal: new AbortController().signal }

export const scenario: Scenario = {
  name: 'Leases: one holder, wishes, notes and take-over, with our rights and no more',
  beside: true,
  async run(context) {
    const { kubectl } = context
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }
    await kubectl(['apply', '-f', '-'], JSON.stringify(namespace))
    await kubectl(['apply', '-f', MANIFEST])
    const locks = await openLocks(context)
    try {
      await passItOn(locks.one, locks.other)
      await keepIt(locks.one, locks.other)
      await takeOver(locks)
      const { stdout } = await kubectl(['get', 'leases', '-n', NAMESPACE, '-o', 'name'])
      assert.equal(stdout, '', 'nothing is left')
    } finally {
      await locks.close()
    }
  },
}

async function passItOn(one: Lock, other: Lock): Promise<void> {
  const fences: bigint[] = []
  for (let round = 0; round < 3; round += 1) {
    const held = await locked(round % 2 === 0 ? one : other)
    fences.push(BigInt(held.fence))
    assert.equal(await (round % 2 === 0 ? other : one).acquire(KEY, options), undefined)
    await held.setNote('since', `round ${round}`)
    assert.equal(held.note('since'), `round ${round}`)
    assert.deepEqual(await held.release(), { again: true })
  }
  assert.ok(fences.every((fence, index) => index === 0 || fence > (fences[index - 1] ?? fence)))
  const last = await locked(one)
  assert.equal(last.note('since'), 'round 2')
  await last.setNote('since', undefined)
  assert.deepEqual(await last.release(), { again: false })
}

/** Over two renewals and a mark in between. */
async function keepIt(one: Lock, other: Lock): Promise<void> {
  const held = await locked(one)
  await sleep(4_000)
  assert.equal(await other.acquire(KEY, options), undefined)
  await sleep(4_000)
  assert.equal(await other.acquire(KEY, options), undefined, 'it was renewed')
  assert.equal(held.lost.aborted, false)
  assert.deepEqual(await held.release(), { again: true })
}

/** Of a holder that is cut off, when its time and the margin are over by the API server's clock. */
async function takeOver({ one, other, cutOff }: Locks): Promise<void> {
  const silent = await locked(one)
  cutOff()
  assert.equal(await other.acquire(KEY, options), undefined)
  await sleep(6_000)
  assert.equal(silent.lost.aborted, true, 'it knows that its time is over')
  assert.equal(await other.acquire(KEY, options), undefined, 'and the margin is not')
  await sleep(3_500)
  const successor = await locked(other)
  assert.ok(BigInt(successor.fence) > BigInt(silent.fence))
  assert.deepEqual(await successor.release(), { again: true }, 'who asked the dead is seen to by the living')
}

async function locked(lock: Lock): Promise<HeldLock> {
  const held = await lock.acquire(KEY, options)
  assert.ok(held, 'somebody else holds it')
  return held
}

interface Locks {
  one: Lock
  other: Lock
  /** From now on `one` reaches nobody. */
  cutOff(): void
  close(): Promise<void>
}

async function openLocks({ server, kubectl }: ScenarioContext): Promise<Locks> {
  const clock = createSystemClock()
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: NAMESPACE, namespace: NAMESPACE } }
  await kubectl(['apply', '-f', '-'], JSON.stringify(account))
  const { stdout: token } = await kubectl(['create', 'token', NAMESPACE, '-n', NAMESPACE])
  const path = join(server.directory, 'lease-lock.kubeconfig')
  await writeFile(path, server.kubeconfig(token.trim()))
  const store = createKubernetesClusterStore(loadKubeConfig({ kind: 'file', path }), { timeoutMs: 10_000, clock })
  let isCutOff = false
  const reachable: ClusterStore['patch'] = async (key, patch, call) => {
    if (isCutOff) throw new CatalogueError('ApiUnreachable', 'cut off')
    return store.patch(key, patch, call)
  }
  const open = (instance: string, own: ClusterStore) =>
    createLeaseLock({
      store: own,
      serverClock: store,
      clock,
      digest: sha256,
      logger: silentLogger,
      namespace: NAMESPACE,
      owner: 'webhook-cloud-provider.dev/fake',
      instance,
      durationMs: 5_000,
      marginMs: 2_000,
    })
  return {
    one: open('one', { ...store, patch: reachable }),
    other: open('other', store),
    cutOff() {
      isCutOff = true
    },
    close: () => store.close(),
  }
}
