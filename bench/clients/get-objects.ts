// node get-objects.ts OPTIONS: reads one object over and over, through our adapter and by undici alone in turn.
import { Agent, request } from 'undici'
import { loadKubeConfig } from '../../src/adapters/kubernetes/kube-config.ts'
import { createKubernetesClusterStore } from '../../src/adapters/kubernetes/kubernetes-cluster-store.ts'
import { createSystemClock } from '../../src/adapters/system/system-clock.ts'
import { measuredOnly } from '../../src/compose/telemetry.ts'
import type { ClusterStore } from '../../src/ports/cluster-store.ts'
import type { GetOptions, GetResult, GetRound } from './get-options.ts'

const options: GetOptions = JSON.parse(process.argv[2] ?? '')
const { kubeconfig, url, caPem, token, rounds, requests, concurrency } = options

const config = loadKubeConfig({ kind: 'text', text: kubeconfig, origin: 'the options' })
// As the function has it: with its metrics, and with a signal for each pass.
const store: ClusterStore & { close(): Promise<void> } = createKubernetesClusterStore(config, {
  timeoutMs: 10_000,
  clock: createSystemClock(),
  ...measuredOnly(),
})
const dispatcher = new Agent({ connect: { ca: caPem } })
const { signal } = new AbortController()
const key = { kind: 'MultiClusterIngress', namespace: 'shop', name: 'storefront' } as const
const path = '/apis/networking.karmada.io/v1alpha1/namespaces/shop/multiclusteringresses/storefront'
// As long as ours, and another: connections are counted by it.
const headers = { authorization: `Bearer ${[...token].reverse().join('')}`, accept: 'application/json' }

const sides = {
  ours: () => store.get(key, { signal }),
  async floor() {
    const { body } = await request(`${url}${path}`, { dispatcher, headers })
    return JSON.parse(await body.text())
  },
}

for (const side of [sides.ours, sides.floor]) await round(side, 2_000)
const warm = await connections()
if (warm < concurrency) throw new Error(`of ours ${warm} connections were counted, and there are ${concurrency}`)
const ours: GetRound[] = []
const floor: GetRound[] = []
for (let done = 0; done < rounds; done += 1) {
  const turns = [() => turn(ours, sides.ours), () => turn(floor, sides.floor)]
  for (const next of done % 2 === 0 ? turns : turns.toReversed()) await next()
}
const result: GetResult = { ours, floor, newConnections: (await connections()) - warm }
process.stdout.write(JSON.stringify(result))
await store.close()
await dispatcher.close()

async function turn(results: GetRound[], side: () => Promise<unknown>): Promise<void> {
  results.push(await round(side, requests))
}

async function round(side: () => Promise<unknown>, count: number): Promise<GetRound> {
  const used = process.cpuUsage()
  const started = performance.now()
  let begun = 0
  const worker = async () => {
    while (begun < count) {
      begun += 1
      if ((await side()) === undefined) throw new Error('there is no such object')
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  const seconds = (performance.now() - started) / 1_000
  const { user, system } = process.cpuUsage(used)
  return { perSecond: count / seconds, cpuMicroseconds: (user + system) / count }
}

/** That our side has opened. */
async function connections(): Promise<number> {
  const { body } = await request(`${url}/connections`, { dispatcher, headers: { authorization: `Bearer ${token}` } })
  return Number(await body.text())
}
