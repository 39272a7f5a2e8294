import type { Logger } from '../ports/logger.ts'
import type { Metrics } from '../ports/metrics.ts'
import { CODE_CACHE_REJECTED } from './metric-catalogue.ts'

/** What became of the code that V8 compiled when the function was bundled; `absent` when it was not. */
export type CodeCache = 'used' | 'rejected' | 'absent'

/** A start that has to compile anew takes several times as long, and nothing else would say so. */
export function reportCodeCache(codeCache: CodeCache, { metrics, logger }: { metrics: Metrics; logger: Logger }): void {
  if (codeCache === 'absent') return
  metrics.set(CODE_CACHE_REJECTED, codeCache === 'rejected' ? 1 : 0, {})
  if (codeCache === 'used') return
  const node = process.version
  logger.warn({ node }, 'the code compiled when this was bundled is of another Node: bundle again with this one')
}
