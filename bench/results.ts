import type { Row } from './row.ts'

/** Of one run. */
export interface Results {
  node: string
  cores: number
  seconds: number
  rows: Row[]
  failures: Failure[]
}

/** A figure without rows. */
export interface Failure {
  figure: string
  /** `left out`: the machine lacks what it wants. */
  kind: 'failed' | 'left out'
  message: string
}
