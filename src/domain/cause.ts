import { parseTraceContext, type TraceContext } from './trace-context.ts'

/** An event that asked for work: what was done is measured from here, and traced to here. */
export interface Cause {
  /** When the event arrived, in milliseconds since the epoch. */
  at: number
  trace?: TraceContext
}

// A burst of events is one piece of work; what it says of each must stay small.
const MOST_CAUSES = 8

/** In the order they came. Of many the earliest stay: from those the time is measured. */
export function mergeCauses(a: Cause[], b: Cause[]): Cause[] {
  const latest = a[MOST_CAUSES - 1]
  if (latest !== undefined && b.every(({ at }) => at >= latest.at)) return a
  const all = [...a, ...b].sort((one, other) => one.at - other.at)
  const distinct = new Map(all.map((cause) => [`${cause.at} ${cause.trace?.traceparent}`, cause]))
  return [...distinct.values()].slice(0, MOST_CAUSES)
}

/** A cause as it travels: `{"at": 1772352000000, "traceparent": "00-…"}`. */
export interface CauseData {
  at: number
  traceparent?: string
  tracestate?: string
}

export function causeData({ at, trace }: Cause): CauseData {
  return { at, ...trace }
}

/** The inverse. What cannot be read is left out: the work is done without it. */
export function causesOfData(data: unknown): Cause[] {
  if (!Array.isArray(data)) return []
  return data.slice(0, MOST_CAUSES).flatMap((entry: unknown) => {
    const { at, traceparent, tracestate }: Partial<Record<string, unknown>> = Object(entry)
    if (typeof at !== 'number' || !Number.isFinite(at)) return []
    const trace = parseTraceContext(traceparent, tracestate)
    return [{ at, ...(trace === undefined ? {} : { trace }) }]
  })
}
