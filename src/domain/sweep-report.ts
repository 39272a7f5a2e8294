export type SweepScope = 'all' | 'pending'

export interface SweepReport {
  scope: SweepScope
  /** Objects listed, and how many of them had each outcome. */
  listed: number
  outcomes: { settled: number; gone: number; ignored: number; later: number; failed: number }
  /** Balancers of objects that are gone: found and still there, and removed because they were found before. */
  orphans: { found: number; removed: number }
  /** Present when time ran out: where the next call goes on. */
  continue?: string
}
