import type { ReconcilerParts } from './reconciler-parts.ts'

/** What the provider states; said at start where the note of a create that nobody answered dies with the process. */
export function consistencyWindow(statedMs: number | undefined, { config, logger }: ReconcilerParts): number {
  if (!statedMs) return 0
  if (config.lock === 'none') logger.warn({ lock: config.lock, consistencyWindowMs: statedMs }, FORGETS)
  return statedMs
}

const FORGETS =
  'a create that is under way when this process is killed is forgotten, and the cloud may still bring its balancer: ' +
  'set "lock: lease", which remembers it'
