import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { type MeasuredProcess, type ProcessCommand, startMeasured } from './measured-process.ts'
import { MEASURED_CORE } from './on-core.ts'
import { ingressReview } from './reviews.ts'
import { runLoad } from './run-load.ts'

/** `cpu`: microseconds of the server's process for one review. */
export type DoorMetric = 'perSecond' | 'p50' | 'p99' | 'cpu'

export interface Door {
  server: MeasuredProcess
  port: number
  path: string
}

export interface Load {
  connections: number
  /** Of all connections together; those that are sent before are not counted. */
  requests: number
  warmUp: number
}

/** On the core that is measured. */
export async function startServer(command: ProcessCommand, port: number): Promise<MeasuredProcess> {
  const server = startMeasured({ ...command, core: MEASURED_CORE })
  await server.listening(port)
  return server
}

/** The review of one ingress over and over. */
export async function measureDoor(
  { folder, tls }: Bench,
  { server, port, path }: Door,
  load: Load,
): Promise<Record<DoorMetric, number>> {
  const bodyFile = join(folder, 'review.json')
  writeFileSync(bodyFile, ingressReview())
  const before = server.usage().cpuMs
  const { perSecond, p50, p99 } = await runLoad({ port, path, caFile: tls.caFile, bodyFile, ...load })
  const cpu = ((server.usage().cpuMs - before) * 1_000) / (load.requests + load.warmUp)
  return { perSecond, p50, p99, cpu }
}
