import { freePort } from '../../test/support/free-port.ts'
import type { Bench } from '../bench.ts'
import { type FunctionDoors, openDoors } from './function-doors.ts'
import { type LeafSettings, nodeLeaf } from './leaf-commands.ts'
import { type MeasuredProcess, startMeasured } from './measured-process.ts'
import { MEASURED_CORE } from './on-core.ts'

export interface RunningFunction extends Pick<MeasuredProcess, 'usage'> {
  port: number
  doors: FunctionDoors
  stop(): Promise<void>
}

/** A node leaf, on the core that is measured. */
export async function startFunction(
  bench: Bench,
  { flags = [], ...settings }: LeafSettings & { flags?: string[] },
): Promise<RunningFunction> {
  const port = await freePort()
  const command = await nodeLeaf(bench, port, settings)
  const process = startMeasured({ ...command, args: [...flags, ...command.args], core: MEASURED_CORE })
  await process.listening(port)
  const doors = openDoors(port, bench.tls.caPem)
  return {
    port,
    doors,
    usage: process.usage,
    async stop() {
      await doors.close()
      await process.stop()
    },
  }
}
