import type { SweepReport } from '../domain/sweep-report.ts'
import type { Flow } from '../flow/flow.ts'
import { type SweepRequest, sweep } from '../flow/sweep/sweep.ts'
import type { SweepSettings } from '../flow/sweep/sweep-pass.ts'
import type { ConfiguredLock } from './create-lock.ts'

/** A sweep; a whole one that has come to its end also looks after what dead holders of the lock left behind. */
export async function sweepAndTidy(
  request: SweepRequest,
  flow: Flow,
  settings: SweepSettings,
  { cleanUp }: ConfiguredLock,
  signal: AbortSignal,
): Promise<SweepReport> {
  const report = await sweep(request, flow, settings, signal)
  if (request.scope !== 'all' || report.continue !== undefined) return report
  try {
    // Somebody may have relied on the dead to look once more.
    for (const key of await cleanUp(signal)) await flow.queue.add({ key, hints: [] })
  } catch (error) {
    flow.logger.warn({ error: String(error), scope: request.scope }, 'locks left to the next sweep')
  }
  return report
}
