import type { Logger } from '../ports/logger.ts'
import type { Metrics } from '../ports/metrics.ts'
import { CODE_CACHE_REJECTED } from './metric-catalogue.ts'

/** What became of the code that V8 compiled of one part of the bundle; `absent` when none came with it. */
export interface CompiledPart {
  part: string
  state: 'used' | 'rejected' | 'absent'
}

/** Tells of every part that is loaded, those before and those to come. */
export type CodeCache = (listener: (part: CompiledPart) => void) => void

/** Of what was not bundled. */
export const NO_CODE_CACHE: CodeCache = () => {}

/** A start that has to compile anew takes several times as long, and nothing else would say so. */
export function reportCodeCache(codeCache: CodeCache, { metrics, logger }: { metrics: Metrics; logger: Logger }): void {
  let rejected = false
  codeCache(({ part, state }) => {
    if (state === 'absent') return
    if (state === 'rejected' && !rejected) {
      const node = process.version
      logger.warn(
        { node, part },
        'the code compiled when this was bundled is of another Node, or of other flags for V8: bundle again with these',
      )
      rejected = true
    }
    metrics.set(CODE_CACHE_REJECTED, rejected ? 1 : 0, {})
  })
}
