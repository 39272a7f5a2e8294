import { CatalogueError, isCatalogueError } from '../domain/catalogue-error.ts'
import type { ObjectKey } from '../domain/object-key.ts'
import { formatKey } from '../domain/object-key.ts'
import type { Outcome } from '../domain/outcome.ts'
import { traceIdOf } from '../domain/trace-context.ts'
import type { LogFields, Logger } from '../ports/logger.ts'
import type { ReconcilePass } from '../reconcilers/reconciler.ts'
import type { Flow } from './flow.ts'
import { FLOW_METRICS } from './flow-metrics.ts'

/** Reconciles one key and says what became of it, in one log line and one count. Never throws. */
export async function reconcileKey(key: ObjectKey, flow: Flow, pass: ReconcilePass): Promise<Outcome> {
  const started = flow.clock.now()
  const outcome = await runReconciler(key, flow.reconcilers[key.kind], pass, flow.logger)
  report(key, outcome, started, flow)
  return outcome
}

/** A pass that failed before its reconciler was asked is said the same way. */
export function failedToReconcile(key: ObjectKey, error: unknown, flow: Flow): Outcome {
  const outcome = outcomeOfError(error, key, flow.logger)
  report(key, outcome, flow.clock.now(), flow)
  return outcome
}

function report(key: ObjectKey, outcome: Outcome, started: number, { clock, logger, metrics, tracer }: Flow): void {
  const durationMs = clock.now() - started
  const controller = key.kind
  metrics.count(FLOW_METRICS.reconciles.name, { controller, result: RESULTS[outcome.kind] })
  metrics.observe(FLOW_METRICS.reconcileTime.name, durationMs / 1_000, { controller })
  if (outcome.kind === 'failed') {
    const { code, retry } = outcome.error
    metrics.count(FLOW_METRICS.reconcileErrors.name, { controller })
    metrics.count(FLOW_METRICS.failures.name, { controller, code })
    if (retry === 'never') metrics.count(FLOW_METRICS.terminalErrors.name, { controller })
  }
  const trace = tracer?.current()
  logOutcome(logger, { key: formatKey(key), durationMs, ...(trace && { traceId: traceIdOf(trace) }) }, outcome)
}

/** In controller-runtime's words. */
const RESULTS: Record<Outcome['kind'], string> = {
  settled: 'success',
  gone: 'success',
  ignored: 'success',
  later: 'requeue_after',
  failed: 'error',
}

async function runReconciler(
  key: ObjectKey,
  reconciler: Flow['reconcilers'][ObjectKey['kind']],
  pass: ReconcilePass,
  logger: Logger,
): Promise<Outcome> {
  if (reconciler === undefined) return { kind: 'ignored', reason: `${key.kind} is not reconciled here` }
  try {
    return await reconciler.reconcile(key, pass)
  } catch (error) {
    return outcomeOfError(error, key, logger)
  }
}

// Long enough that two who write to one object in turns do not keep each other busy.
const UNSTATED_AFTER_MS = 100

/** What an error means for the key: by its code, never by its text. */
function outcomeOfError(error: unknown, key: ObjectKey, logger: Logger): Outcome {
  if (isCatalogueError(error)) {
    return error.retry === 'after'
      ? { kind: 'later', afterMs: error.afterMs ?? UNSTATED_AFTER_MS, reason: error.message }
      : { kind: 'failed', error }
  }
  logger.error({ key: formatKey(key), stack: error instanceof Error ? error.stack : String(error) }, 'unexpected error')
  const message = 'an unexpected fault of this program; the log has the details'
  return { kind: 'failed', error: new CatalogueError('Internal', message, { object: key, cause: error }) }
}

function logOutcome(logger: Logger, about: LogFields, outcome: Outcome): void {
  const { kind } = outcome
  switch (kind) {
    case 'failed':
      logger.warn({ ...about, outcome: kind, code: outcome.error.code, reason: outcome.error.message }, 'reconciled')
      break
    case 'ignored':
      logger.debug({ ...about, outcome: kind, reason: outcome.reason }, 'reconciled')
      break
    case 'later':
      logger.info({ ...about, outcome: kind, reason: outcome.reason, afterMs: outcome.afterMs }, 'reconciled')
      break
    default:
      logger.info({ ...about, outcome: kind }, 'reconciled')
  }
}
