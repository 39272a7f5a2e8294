import { join } from 'node:path'
import type { LoadOptions, LoadResult } from '../clients/load-options.ts'
import { startMeasured } from './measured-process.ts'

const LOAD = join(import.meta.dirname, '../clients/load.ts')

/** Servers that are put under load stay on one core, and what loads them on the other. */
export const SERVER_CORE = 1
export const CLIENT_CORE = 0

/** In a process of its own. */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  return JSON.parse(await startMeasured({ args: [LOAD, JSON.stringify(options)], core: CLIENT_CORE }).output())
}
