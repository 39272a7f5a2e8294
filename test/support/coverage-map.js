import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** The path that every event takes must be covered to the last line, by all tests together; adapters by contracts. */
const COVERED = ['src/domain', 'src/flow', 'src/reconcilers']

const files = COVERED.flatMap((folder) =>
  readdirSync(join(import.meta.dirname, '../..', folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name)),
)

// tap asks with a default import.
// biome-ignore lint/style/noDefaultExport: the form that tap takes
export default () => files
