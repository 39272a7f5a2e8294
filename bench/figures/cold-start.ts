import { freePort } from '../../test/support/free-port.ts'
import type { Bench } from '../bench.ts'
import { ASKED } from '../bounds.ts'
import type { Figure } from '../figure.ts'
import { interleaved, type Samples, type Variant } from '../rounds.ts'
import { type Asked, compared, type Row } from '../row.ts'
import { floorServer, hostedLeaf, knativeLeaf, nodeLeaf } from '../support/leaf-commands.ts'
import { type ProcessCommand, startMeasured } from '../support/measured-process.ts'
import { postReview, type Target } from '../support/post-review.ts'
import { PROFILED_PATIENCE_MS, profileFlags } from '../support/profile-flags.ts'
import { ingressReview } from '../support/reviews.ts'
import { type Sink, startSink } from '../support/start-sink.ts'
import { type StubCluster, startStubCluster } from '../support/stub-cluster.ts'

type Metric = 'ms' | 'cpuMs' | 'peakRssMb'

interface Start {
  name: string
  /** Of the doors; the floor speaks it too. */
  scheme: 'http' | 'https'
  command(port: number): Promise<ProcessCommand>
  path: string
  /** Whether the work that the review asks for counts too: up to the first request that reaches the API server. */
  asksApiServer?: boolean
  asked: Partial<Record<Metric, Asked>>
}

/** From the moment a process is started to the first review answered, and what it took up to then. */
export const coldStart: Figure = {
  name: 'cold-start',
  async run(bench) {
    const cluster = await startStubCluster()
    const sink = await startSink()
    try {
      const starts = startsOf(bench, cluster, sink)
      return await interleaved(
        variantsOf(bench, cluster, starts),
        (samples) => starts.flatMap((start) => rowsOf(start, samples)),
        {
          ...bench,
          rounds: bench.rounds ?? (bench.quick ? 5 : 15),
          seconds: bench.quick ? 20 : 75,
        },
      )
    } finally {
      await sink.close()
      await cluster.close()
    }
  },
  async profile(bench, folder) {
    const cluster = await startStubCluster()
    const sink = await startSink()
    try {
      for (const start of [bareStart(bench, 'https'), ...startsOf(bench, cluster, sink)]) {
        const port = await freePort()
        const command = await start.command(port)
        const flags = profileFlags(folder, start.name.replace(/\W+/g, '-'), 100)
        await measureStart(bench, cluster, start, port, { ...command, args: [...flags, ...command.args] }, 'stop')
      }
    } finally {
      await sink.close()
      await cluster.close()
    }
  },
}

function bareStart(bench: Bench, scheme: 'http' | 'https'): Start {
  return {
    name: `bare ${scheme}`,
    scheme,
    command: (port) => floorServer(bench, port, { name: 'bare-https', scheme }),
    path: '/admission/mutate',
    asked: {},
  }
}

function startsOf(bench: Bench, { kubeconfig }: StubCluster, { url: sink }: Sink): Start[] {
  const hosted = (platform: 'kn-func' | 'google' | 'aws-lambda', leaf: string) => (port: number) =>
    hostedLeaf(bench, port, {
      platform,
      leaf,
      kubeconfig,
      // A function that is only a door hands its work over.
      config: platform === 'kn-func' ? { queue: { kind: 'cloudevents', sink } } : {},
    })
  const node = (port: number) => nodeLeaf(bench, port, { kubeconfig })
  const https = { scheme: 'https', path: '/admission/mutate', asked: ASKED.coldStart.door } as const
  return [
    { ...https, name: 'node, mutate', command: node },
    { ...https, name: 'node, notify', command: node, path: '/admission/notify' },
    {
      ...https,
      name: 'node, notify, and the API server asked',
      command: node,
      path: '/admission/notify',
      asksApiServer: true,
      asked: ASKED.coldStart.withClient,
    },
    { ...https, name: 'kn-func/mutate', command: hosted('kn-func', 'kn-func/mutate') },
    { ...https, name: 'kn-func/notify', command: hosted('kn-func', 'kn-func/notify'), path: '/admission/notify' },
    { ...https, name: 'kn-func/validate', command: hosted('kn-func', 'kn-func/validate'), asked: {} },
    { ...https, name: 'google, mutate', command: hosted('google', 'google') },
    { ...https, name: 'aws-lambda, mutate', command: hosted('aws-lambda', 'aws-lambda') },
    {
      ...https,
      scheme: 'http',
      name: 'knative, mutate',
      command: (port) => knativeLeaf(bench, port, { kubeconfig }),
    },
  ]
}

/** Each with a start of its floor right beside it. */
function variantsOf(bench: Bench, cluster: StubCluster, starts: readonly Start[]): Record<string, Variant<Metric>> {
  const pairs = starts.flatMap((start): [string, Variant<Metric>][] => [
    [`floor of ${start.name}`, () => measure(bench, cluster, bareStart(bench, start.scheme))],
    [start.name, () => measure(bench, cluster, start)],
  ])
  return Object.fromEntries(pairs)
}

async function measure(bench: Bench, cluster: StubCluster, start: Start): Promise<Record<Metric, number>> {
  const port = await freePort()
  return measureStart(bench, cluster, start, port, await start.command(port))
}

async function measureStart(
  { tls }: Bench,
  { asked }: StubCluster,
  { scheme, path, asksApiServer = false }: Start,
  port: number,
  command: ProcessCommand,
  // A profile is written by a process that ends itself.
  end: 'kill' | 'stop' = 'kill',
): Promise<Record<Metric, number>> {
  const review = ingressReview()
  const target: Target = { port, path, ...(scheme === 'https' && { caPem: tls.caPem }) }
  const reached = asked()
  const started = performance.now()
  const server = startMeasured(command)
  try {
    await server.listening(port)
    await postReview(target, review)
    if (asksApiServer) await reached
    const ms = performance.now() - started
    const { cpuMs, peakRssMb } = server.usage()
    return { ms, cpuMs, peakRssMb }
  } finally {
    await (end === 'kill' ? server.kill() : server.stop(PROFILED_PATIENCE_MS))
  }
}

function rowsOf({ name, asked }: Start, samples: Record<string, Samples<Metric>>): Row[] {
  const ours = samples[name]
  const bare = samples[`floor of ${name}`]
  if (ours === undefined || bare === undefined) return []
  const row = (metric: Metric, what: string, unit: string) =>
    compared(
      { name: `${what}: ${name}`, unit, ours: ours[metric], floor: bare[metric], clock: metric === 'ms' },
      asked[metric],
    )
  return [row('ms', 'cold start', 'ms'), row('cpuMs', 'cold start, CPU', 'ms'), row('peakRssMb', 'peak RSS', 'MB')]
}
