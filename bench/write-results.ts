import { readFileSync, writeFileSync } from 'node:fs'
import type { Results } from './results.ts'
import { formatRatios, putBetweenMarks } from './table.ts'

/** All of them as JSON, and the ratios as a table into a file that has a place for it. */
export function writeResults(results: Results, { out, markdown }: { out: string; markdown: string | undefined }): void {
  writeFileSync(out, `${JSON.stringify(results, null, 2)}\n`)
  if (markdown === undefined) return
  writeFileSync(markdown, putBetweenMarks(readFileSync(markdown, 'utf8'), formatRatios(results)))
}
