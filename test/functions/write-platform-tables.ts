// npm run function-platforms: runs every request fixture through every leaf and writes what came of it into the document.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleFunctions } from '../../functions/bundle-functions.ts'
import { startLeafBench } from './leaf-bench.ts'
import { platformTables, withTables } from './platform-tables.ts'
import { runLeaves } from './run-leaves.ts'

const DOCUMENT = join(import.meta.dirname, '../../docs/function-platforms.md')

const bundles = mkdtempSync(join(tmpdir(), 'bundles-'))
const bench = await startLeafBench()
try {
  await bundleFunctions(bundles)
  const runs = await runLeaves({ bundles, bench })
  writeFileSync(DOCUMENT, withTables(readFileSync(DOCUMENT, 'utf8'), platformTables(runs)))
} finally {
  await bench.close()
  rmSync(bundles, { recursive: true })
}
