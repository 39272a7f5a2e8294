import { freePort } from '../../test/support/free-port.ts'
import type { Bench } from '../bench.ts'
import { ASKED } from '../bounds.ts'
import type { Figure } from '../figure.ts'
import { interleaved, type Samples, type Variant } from '../rounds.ts'
import { type Asked, compared, type Row } from '../row.ts'
import { nodeLeaf } from '../support/leaf-commands.ts'
import { type Door, type DoorMetric, measureDoor, startServer } from '../support/measure-door.ts'
import { type MeasuredProcess, type ProcessCommand, startMeasured } from '../support/measured-process.ts'
import { PEPR_TOKEN, type Peers, startPeers } from '../support/peer-commands.ts'
import { postReview, type Target } from '../support/post-review.ts'
import { ingressReview } from '../support/reviews.ts'
import { type StubCluster, startStubCluster } from '../support/stub-cluster.ts'

/** The same review by Pepr and by Express: our notify door beside what only looks, our mutate door beside what patches. */
export const peersFigure: Figure = {
  name: 'peers',
  peers: true,
  async run(bench) {
    const peers = await startPeers(bench)
    const cluster = await startStubCluster()
    try {
      return [...(await coldStarts(bench, peers, cluster)), ...(await doorsUnderLoad(bench, peers, cluster))]
    } finally {
      await cluster.close()
      await peers.close()
    }
  },
}

type StartMetric = 'ms' | 'peakRssMb'

async function coldStarts(bench: Bench, peers: Peers, cluster: StubCluster): Promise<Row[]> {
  const start = (path: string, commandFor: (port: number) => ProcessCommand | Promise<ProcessCommand>) => async () => {
    const port = await freePort()
    return firstAnswer({ port, path, caPem: bench.tls.caPem }, await commandFor(port))
  }
  const variants: Record<'ours' | 'pepr' | 'hurried' | 'express', Variant<StartMetric>> = {
    ours: start('/admission/mutate', (port) => nodeLeaf(bench, port, cluster)),
    pepr: start(`/mutate/${PEPR_TOKEN}`, (port) => peers.pepr(port)),
    hurried: start(`/mutate/${PEPR_TOKEN}`, (port) => peers.pepr(port, { withoutJitter: true })),
    express: start('/admission/notify', (port) => peers.express(port)),
  }
  const rowsOf = ({ ours, pepr, hurried, express }: Record<keyof typeof variants, Samples<StartMetric>>) => {
    const row = (beside: string, peer: Samples<StartMetric>, asked?: Asked) => {
      const name = `cold start: node, mutate, beside ${beside}`
      return [
        compared({ name, unit: 'ms', ours: ours.ms, floor: peer.ms, clock: true }, asked),
        compared({ name: `${name}: peak RSS`, unit: 'MB', ours: ours.peakRssMb, floor: peer.peakRssMb }),
      ]
    }
    return [
      ...row('Pepr', pepr, ASKED.pepr.coldStart),
      ...row('Pepr without its waiting on purpose', hurried),
      ...row('Express 5', express),
    ]
  }
  return interleaved(variants, rowsOf, { ...bench, rounds: bench.rounds ?? 7, seconds: 30 })
}

async function firstAnswer(target: Target, command: ProcessCommand): Promise<Record<StartMetric, number>> {
  const started = performance.now()
  const server = startMeasured(command)
  try {
    await answering(server, target)
    return { ms: performance.now() - started, peakRssMb: server.usage().peakRssMb }
  } finally {
    await server.kill()
  }
}

const ATTEMPT_MS = 10
const PATIENCE_MS = 20_000

/** Resolves with the first answer: Pepr takes connections before it has doors. */
async function answering(server: MeasuredProcess, target: Target): Promise<string> {
  await server.listening(target.port)
  const until = performance.now() + PATIENCE_MS
  for (;;) {
    try {
      return await postReview(target, ingressReview())
    } catch (error) {
      if (performance.now() > until) throw error
      await new Promise((resolve) => setTimeout(resolve, ATTEMPT_MS))
    }
  }
}

interface Comparison {
  name: string
  ours: Door
  peer: Door
  asked: Partial<Record<DoorMetric, Asked>>
}

async function doorsUnderLoad(bench: Bench, peers: Peers, cluster: StubCluster): Promise<Row[]> {
  const port = { ours: await freePort(), pepr: await freePort(), express: await freePort() }
  const servers = {
    ours: await startServer(await nodeLeaf(bench, port.ours, cluster), port.ours),
    pepr: await startServer(peers.pepr(port.pepr), port.pepr),
    express: await startServer(peers.express(port.express), port.express),
  }
  const door = (who: keyof typeof servers, path: string): Door => ({ server: servers[who], port: port[who], path })
  const ours = { notify: door('ours', '/admission/notify'), mutate: door('ours', '/admission/mutate') }
  const comparisons: Comparison[] = [
    {
      name: 'notify door beside Pepr',
      ours: ours.notify,
      peer: door('pepr', `/validate/${PEPR_TOKEN}`),
      asked: ASKED.pepr,
    },
    {
      name: 'mutate door beside Pepr',
      ours: ours.mutate,
      peer: door('pepr', `/mutate/${PEPR_TOKEN}`),
      asked: ASKED.pepr,
    },
    { name: 'notify door beside Express 5', ours: ours.notify, peer: door('express', '/admission/notify'), asked: {} },
  ]
  try {
    for (const { ours, peer } of comparisons) await mustDoTheSame(bench, ours, peer)
    const rows: Row[] = []
    for (const connections of [10, 50]) {
      for (const comparison of comparisons) rows.push(...(await compareDoors(bench, comparison, connections)))
    }
    return rows
  } finally {
    for (const server of Object.values(servers)) await server.kill()
  }
}

async function mustDoTheSame({ tls }: Bench, ours: Door, peer: Door): Promise<void> {
  const [our, theirs] = await Promise.all(
    [ours, peer].map(({ server, port, path }) => answering(server, { port, path, caPem: tls.caPem })),
  )
  const patches = (answer = '') => /"patchType":"JSONPatch"/.test(answer)
  if (patches(our) !== patches(theirs)) throw new Error(`not the same answers: ${our} and ${theirs}`)
}

async function compareDoors(
  bench: Bench,
  { name, ours, peer, asked }: Comparison,
  connections: number,
): Promise<Row[]> {
  // When the machine stops once, it stops every connection: among so many requests that is not the p99.
  const load = { connections, requests: 105 * connections, warmUp: 300 }
  const variants = { ours: () => measureDoor(bench, ours, load), peer: () => measureDoor(bench, peer, load) }
  return interleaved(
    variants,
    (samples) => {
      const row = (metric: DoorMetric, what: string, unit: string) =>
        compared(
          {
            name: `${name}, ${connections} connections: ${what}`,
            unit,
            ours: samples.ours[metric],
            floor: samples.peer[metric],
            clock: metric !== 'cpu',
          },
          asked[metric],
        )
      return [row('perSecond', 'throughput', '/s'), row('p99', 'p99', 'µs'), row('cpu', 'CPU a review', 'µs')]
    },
    { ...bench, rounds: bench.rounds ?? 5, seconds: 10 },
  )
}
