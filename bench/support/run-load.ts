import { join } from 'node:path'
import type { LoadOptions, LoadResult } from '../load/load-options.ts'
import { startMeasured } from './measured-process.ts'

const LOAD = join(import.meta.dirname, '../load/load.ts')

/** Servers that are put under load stay on one core, and what loads them on the other. */
export const SERVER_CORE = 1
const LOAD_CORE = 0

/** In a process of its own. */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  return JSON.parse(await startMeasured({ args: [LOAD, JSON.stringify(options)], core: LOAD_CORE }).output())
}
