import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { loadKubeConfig } from '../../src/adapters/kubernetes/kube-config.ts'
import { createKubernetesClusterStore } from '../../src/adapters/kubernetes/kubernetes-cluster-store.ts'
import { createSystemClock } from '../../src/adapters/system/system-clock.ts'
import { startLocalControlPlane } from '../../src/local/start-local-control-plane.ts'
import { lockContract } from '../contracts/lock-contract.ts'
import { createLeaseWorld, LOCKS, leaseLockOver } from '../support/lease-world.ts'

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
  const controlPlane = await startLocalControlPlane({ clock })
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
