import { join } from 'node:path'
import type { LoadOptions, LoadResult } from '../clients/load-options.ts'
import { startMeasured } from './measured-process.ts'
import { OTHER_CORE } from './on-core.ts'

const LOAD = join(import.meta.dirname, '../clients/load.ts')

/** In a process of its own. */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  return JSON.parse(await startMeasured({ args: [LOAD, JSON.stringify(options)], core: OTHER_CORE }).output())
}
