import { CatalogueError } from '../../domain/catalogue-error.ts'
import type { Outcome } from '../../domain/outcome.ts'
import type { SweepReport } from '../../domain/sweep-report.ts'
import type { WorkItem } from '../../domain/work-item.ts'
import { withDeadline } from './deadline.ts'
import { DOOR_METRICS } from './door-metrics.ts'
import type { DoorOptions } from './door-options.ts'
import type { Doors } from './doors.ts'
import { type ErrorBody, workErrorAnswer } from './error-answer.ts'
import type { Intent } from './interpret-cloud-event.ts'
import { outcomeToResponse } from './outcome-to-response.ts'
import { retryAfterSeconds } from './retry-after.ts'

/** Never a body on 2xx: a broker takes one that is no CloudEvent for a failure. */
export interface EventAnswer {
  status: number
  headers: Record<string, string>
  body?: ErrorBody | SweepReport
}

/**
 * Does what one event asks, now.
 *
 * | intent | does | answers |
 * |---|---|---|
 * | change | queues its keys | 202, or 204 when it concerns no key; 503 when the queue is full |
 * | work | reconciles the key, once it is due | as `outcomeToResponse` |
 * | sweep | sweeps | 204, or 503 when time ran out |
 * | unknown | nothing | 204 |
 *
 * A catalogue error becomes an answer here, so that the rest of a batch goes on; any other is a bug and is thrown.
 */
export async function handleIntent(intent: Intent, doors: Doors, options: DoorOptions): Promise<EventAnswer> {
  const answer = await attempt(() => perform(intent, doors, options))
  const result = resultOf(answer.status, intent)
  options.metrics.count(DOOR_METRICS.cloudEvents.name, { purpose: intent.purpose, result })
  options.logger.debug({ purpose: intent.purpose, result, status: answer.status }, 'event answered')
  return answer
}

async function perform(intent: Intent, doors: Doors, options: DoorOptions): Promise<EventAnswer> {
  const { clock } = options
  switch (intent.purpose) {
    case 'change': {
      const trace = options.tracer?.current()
      const { keys } = await doors.acceptEvent({ ...intent.event, ...(trace && { trace }) })
      return { status: keys > 0 ? 202 : 204, headers: {} }
    }
    case 'work':
      return outcomeToResponse(await workOn(intent, doors, options))
    case 'sweep': {
      const report = await withDeadline(clock, options.sweepDeadlineMs, (signal) => doors.sweep(intent.request, signal))
      if (report.continue === undefined) return { status: 204, headers: {} }
      return { status: 503, headers: { 'retry-after': retryAfterSeconds(0) }, body: report }
    }
    case 'unknown':
      return { status: 204, headers: {} }
  }
}

async function workOn(
  { item, dueAt }: { item: WorkItem; dueAt: number },
  doors: Doors,
  { clock, workDeadlineMs }: DoorOptions,
): Promise<Outcome> {
  const waitMs = dueAt - clock.now()
  if (waitMs > 0) return { kind: 'later', afterMs: waitMs, reason: 'not due yet' }
  return withDeadline(clock, workDeadlineMs, (signal) => doors.work(item, signal))
}

async function attempt(perform: () => Promise<EventAnswer>): Promise<EventAnswer> {
  try {
    return await perform()
  } catch (error) {
    if (error instanceof CatalogueError) return workErrorAnswer(error)
    throw error
  }
}

function resultOf(status: number, { purpose }: Intent): string {
  if (purpose === 'unknown') return 'ignored'
  if (status === 503) return 'retry'
  if (status >= 400) return 'failed'
  return status === 202 ? 'accepted' : 'done'
}
