import type { SweepReport } from '../../domain/sweep-report.ts'
import type { Flow } from '../flow.ts'
import { UNTRACED } from '../untraced.ts'
import type { SweepRequest } from './sweep.ts'
import { SWEEP_METRICS } from './sweep-metrics.ts'

/** Runs a sweep as one span, and says what it found in one log line and in metrics. */
export async function observedSweep(
  request: SweepRequest,
  { clock, logger, metrics, tracer = UNTRACED }: Flow,
  run: () => Promise<SweepReport>,
): Promise<SweepReport> {
  const { scope } = request
  const started = clock.now()
  const ended = (result: string) => {
    const durationMs = clock.now() - started
    metrics.count(SWEEP_METRICS.sweeps.name, { scope, result })
    metrics.observe(SWEEP_METRICS.duration.name, durationMs / 1_000, { scope })
    return durationMs
  }
  try {
    const report = await tracer.step({ name: 'sweep', attributes: { scope } }, run)
    const result = report.continue === undefined ? 'completed' : 'continued'
    const durationMs = ended(result)
    count(report, metrics)
    if (result === 'completed') metrics.set(SWEEP_METRICS.lastCompleted.name, clock.now() / 1_000, { scope })
    const { listed, outcomes, orphans } = report
    logger.info({ scope, result, durationMs, listed, outcomes, orphans }, 'swept')
    return report
  } catch (error) {
    ended('failed')
    throw error
  }
}

function count({ scope, outcomes, orphans }: SweepReport, metrics: Flow['metrics']): void {
  for (const [outcome, objects] of Object.entries(outcomes)) {
    if (objects > 0) metrics.count(SWEEP_METRICS.objects.name, { scope, outcome }, objects)
  }
  for (const [result, balancers] of Object.entries(orphans)) {
    if (balancers > 0) metrics.count(SWEEP_METRICS.orphans.name, { result }, balancers)
  }
}
