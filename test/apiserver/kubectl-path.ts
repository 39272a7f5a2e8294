import { provideBinaries } from './binaries.ts'

/** Prints where the kubectl of the test bench is, building it first if need be. */
const { kubectl } = await provideBinaries({ env: process.env, log: (line) => void process.stderr.write(`${line}\n`) })
process.stdout.write(`${kubectl}\n`)
