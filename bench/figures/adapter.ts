import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { kubeconfigOf } from '../../src/local/kubeconfig.ts'
import { freePort } from '../../test/support/free-port.ts'
import type { Bench } from '../bench.ts'
import { ASKED } from '../bounds.ts'
import type { GetOptions, GetResult } from '../clients/get-options.ts'
import type { Figure } from '../figure.ts'
import { compared, counted, type Row } from '../row.ts'
import { startMeasured } from '../support/measured-process.ts'
import { MEASURED_CORE, OTHER_CORE } from '../support/on-core.ts'
import { profileFlags } from '../support/profile-flags.ts'
import { ingressReview } from '../support/reviews.ts'

const CLIENT = join(import.meta.dirname, '../clients/get-objects.ts')
const TOKEN = 'token'

type Concurrency = keyof typeof ASKED.adapter.perSecond

/** One object read through our adapter, and by undici alone, in one process that takes turns. */
export const adapter: Figure = {
  name: 'adapter',
  run: (bench) =>
    withObjectServer(bench, async (server) => {
      const rows: Row[] = []
      for (const concurrency of [1, 10] as const)
        rows.push(...rowsOf(concurrency, await read(bench, server, concurrency)))
      return rows
    }),
  profile: (bench, folder) =>
    withObjectServer(bench, async (server) => {
      await read(bench, server, 10, profileFlags(folder, 'both'))
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

function rowsOf(concurrency: Concurrency, { ours, floor, newConnections }: GetResult): Row[] {
  const name = `adapter, GET, ${concurrency} at a time`
  const perSecond = (rounds: GetResult['ours']) => rounds.map((round) => round.perSecond)
  const cpu = (rounds: GetResult['ours']) => rounds.map((round) => round.cpuMicroseconds)
  const asked = ASKED.adapter
  return [
    compared(
      { name: `${name}: throughput`, unit: '/s', ours: perSecond(ours), floor: perSecond(floor), clock: true },
      asked.perSecond[concurrency],
    ),
    compared({ name: `${name}: CPU a request`, unit: 'µs', ours: cpu(ours), floor: cpu(floor) }, asked.cpu),
    counted({ name: `${name}: TLS handshakes once warm`, unit: '', ours: [newConnections] }, asked.newConnections),
  ]
}
