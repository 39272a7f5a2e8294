/** Where in a trace something was asked for, as W3C Trace Context writes it: in headers, events and records. */
export interface TraceContext {
  /** `00-<trace id>-<span id>-<flags>` in lower-case hexadecimal digits. */
  traceparent: string
  tracestate?: string
}

const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/
const TRACESTATE = /^[\x20-\x7e]{1,512}$/

/** Undefined for what is no trace context; a state that cannot be used is left out. Neither is worth an error. */
export function parseTraceContext(traceparent: unknown, tracestate?: unknown): TraceContext | undefined {
  if (typeof traceparent !== 'string' || !TRACEPARENT.test(traceparent)) return undefined
  const hasState = typeof tracestate === 'string' && TRACESTATE.test(tracestate)
  return { traceparent, ...(hasState ? { tracestate } : {}) }
}

/** For log lines. */
export function traceIdOf({ traceparent }: TraceContext): string {
  return traceparent.slice(3, 35)
}
