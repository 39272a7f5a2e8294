import type { IncomingHttpHeaders } from 'node:http'
import { parseTraceContext, type TraceContext } from '../../domain/trace-context.ts'
import type { CloudEvent } from './cloud-event.ts'

/** The trace that a caller is in; the API server tells it where its own tracing is on. */
export function traceOfRequest({ traceparent, tracestate }: IncomingHttpHeaders): TraceContext | undefined {
  return parseTraceContext(traceparent, tracestate)
}

/** The trace that an event was made in: CloudEvents' extension for distributed tracing. */
export function traceOfEvent({ extensions }: CloudEvent): TraceContext | undefined {
  return parseTraceContext(extensions.get('traceparent'), extensions.get('tracestate'))
}
