import type { Bench } from './bench.ts'
import type { Row } from './row.ts'

/** Something that is measured, and what it is measured against. */
export interface Figure {
  /** As `--only` takes it. */
  name: string
  /** Left out of the quick check: it takes long, or wants what not every machine has. */
  slow?: boolean
  /** Measured with `--peers` alone: it installs what others made. */
  peers?: boolean
  run(bench: Bench): Promise<Row[]>
  /** Writes profiles of it into this folder. */
  profile?(bench: Bench, folder: string): Promise<void>
}

/** What the machine lacks; the figure is left out, and why is said. */
export class CannotMeasure extends Error {
  override readonly name = 'CannotMeasure'
}
