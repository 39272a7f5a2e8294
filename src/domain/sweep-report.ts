/**
 * What a sweep goes through, and how soon it finds what no event told when a platform's cron calls it so often; `wcp watch
 * --sweep-every` ticks faster than a minute.
 *
 * | scope | objects | to be called every |
 * |---|---|---|
 * | `all` | every one, the routes, balancers of gone objects | 10 to 30 min |
 * | `pending` | those that are not finished, of every kind | 1 min, or 30 s |
 * | `services` | Services of one cluster | 10 to 30 min, where `all` comes rarely |
 * | `nodes` | nodes: labels, addresses, life | 5 min |
 * | `pending-nodes` | nodes not initialised, not Ready, or marked as shut down | 1 min, or 15 s |
 * | `routes` | the routes of one cluster | 5 to 10 min |
 */
export const SWEEP_SCOPES = ['all', 'pending', 'services', 'nodes', 'pending-nodes', 'routes'] as const

export type SweepScope = (typeof SWEEP_SCOPES)[number]

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
