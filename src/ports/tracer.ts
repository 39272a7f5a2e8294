import type { TraceContext } from '../domain/trace-context.ts'

/** Tells what happened as spans of traces, to whoever collects them. What it does never fails, nor delays what is traced. */
export interface Tracer {
  /**
   * Runs the work as a span of its own: in the trace that came with what asked for it, or in a new one. What the work
   * throws is noted on the span and thrown on.
   */
  begin<T>(span: NewSpan, work: (span: Span) => Promise<T>): Promise<T>
  /** Runs the work as a part of the span around the caller; without one, the work alone. */
  step<T>(span: Step, work: (span: Span) => Promise<T>): Promise<T>
  /** The span around the caller, to travel with what it asks of others. */
  current(): TraceContext | undefined
}

export interface Step {
  name: string
  /** `client`: the time of somebody who is asked. */
  kind?: 'server' | 'consumer' | 'client'
  attributes?: SpanAttributes
}

export interface NewSpan extends Step {
  parent?: TraceContext | undefined
  /** Others that asked for the same. */
  links?: readonly TraceContext[]
}

export interface Span {
  set(attributes: SpanAttributes): void
  /** It did not do what it was for; `code` as in the error catalogue. */
  fail(code: string): void
}

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>
