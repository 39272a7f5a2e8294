import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { kubeconfigOf } from '../../src/local/kubeconfig.ts'
import type { Bench } from '../bench.ts'
import type { GetOptions, GetResult } from '../clients/get-options.ts'
import type { Figure } from '../figure.ts'
import { type Asked, compared, counted, type Row } from '../row.ts'
import { freePort } from '../support/free-port.ts'
import { startMeasured } from '../support/measured-process.ts'
import { MEASURED_CORE, OTHER_CORE } from '../support/on-core.ts'
import { ingressReview } from '../support/reviews.ts'

const CLIENT = join(import.meta.dirname, '../clients/get-objects.ts')
const TOKEN = 'token'

const ASKED: readonly { concurrency: number; asked: Asked }[] = [
  { concurrency: 1, asked: { bound: { atLeast: 0.6 }, aim: { atLeast: 0.9 } } },
  { concurrency: 10, asked: { bound: { atLeast: 0.45 }, aim: { atLeast: 0.9 } } },
]

/** One object read through our adapter, and by undici alone, in one process that takes turns. */
export const adapter: Figure = {
  name: 'adapter',
  run: (bench) =>
    withObjectServer(bench, async (server) => {
      const rows: Row[] = []
      for (const { concurrency, asked } of ASKED)
        rows.push(...rowsOf(concurrency, await read(bench, server, concurrency), asked))
      return rows
    }),
  profile: (bench, folder) =>
    withObjectServer(bench, async (server) => {
      const flags = ['--cpu-prof', `--cpu-prof-dir=${folder}`, '--cpu-prof-name=adapter.cpuprofile']
      await read(bench, server, 10, flags)
    }),
}

type Server = Pick<GetOptions, 'url' | 'caPem' | 'token' | 'kubeconfig'>

async function withObjectServer<T>(bench: Bench, use: (server: Server) => Promise<T>): Promise<T> {
  const { folder, tls } = bench
  const objectFile = join(folder, 'object.json')
  writeFileSync(objectFile, JSON.stringify(JSON.parse(ingressReview()).request.object))
  const port = await freePort()
  const process = startMeasured({
    args: [join(await bench.floors(), 'object-server.cjs')],
    env: { PORT: String(port), CERT_FILE: tls.certFile, KEY_FILE: tls.keyFile, OBJECT_FILE: objectFile },
    core: OTHER_CORE,
  })
  try {
    await process.listening(port)
    const url = `https://127.0.0.1:${port}`
    const { caPem } = tls
    return await use({
      url,
      caPem,
      token: TOKEN,
      kubeconfig: kubeconfigOf({ url, caPem, token: TOKEN, user: 'bench' }),
    })
  } finally {
    await process.stop()
  }
}

async function read(
  { rounds, quick }: Bench,
  server: Server,
  concurrency: number,
  flags: string[] = [],
): Promise<GetResult> {
  const options: GetOptions = { ...server, concurrency, rounds: rounds ?? (quick ? 15 : 41), requests: 300 }
  const client = startMeasured({ args: [...flags, CLIENT, JSON.stringify(options)], core: MEASURED_CORE })
  return JSON.parse(await client.output())
}

function rowsOf(concurrency: number, { ours, floor, newConnections }: GetResult, asked: Asked): Row[] {
  const name = `adapter, GET, ${concurrency} at a time`
  const perSecond = (rounds: GetResult['ours']) => rounds.map((round) => round.perSecond)
  const cpu = (rounds: GetResult['ours']) => rounds.map((round) => round.cpuMicroseconds)
  return [
    compared({ name: `${name}: throughput`, unit: '/s', ours: perSecond(ours), floor: perSecond(floor) }, asked),
    compared({ name: `${name}: CPU a request`, unit: 'µs', ours: cpu(ours), floor: cpu(floor) }),
    counted({ name: `${name}: TLS handshakes once warm`, unit: '', ours: [newConnections] }, { bound: { atMost: 0 } }),
  ]
}
