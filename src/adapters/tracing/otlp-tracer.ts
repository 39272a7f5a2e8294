import { AsyncLocalStorage } from 'node:async_hooks'
import {
  createTraceState,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { isCatalogueError } from '../../domain/catalogue-error.ts'
import type { TraceContext } from '../../domain/trace-context.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { NewSpan, Span, Step, Tracer } from '../../ports/tracer.ts'
import { reportingExporter } from './reporting-exporter.ts'

export interface OtlpTracerOptions {
  /** A collector; `/v1/traces` is added where the URL has no path. */
  endpoint: string
  sampleRatio: number
  /** Tells installations apart. */
  clusterId: string
  clock: Clock
  logger: Logger
}

// What a collector that is down may cost: so many spans in memory, so long at the end. The rest is dropped.
const MOST_SPANS = 2_048
const EXPORT_TIMEOUT_MS = 5_000
const CLOSE_WITHIN_MS = 3_000
const SEND_EVERY_MS = 1_000

/** Spans for a collector of OpenTelemetry, in batches over HTTP. Registers nothing globally. */
export function createOtlpTracer(options: OtlpTracerOptions): { tracer: Tracer; close(): Promise<void> } {
  const { clusterId, sampleRatio, clock, logger } = options
  const exporter = new OTLPTraceExporter({ url: tracesUrl(options.endpoint), timeoutMillis: EXPORT_TIMEOUT_MS })
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'webhook-cloud-provider', 'k8s.cluster.name': clusterId }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampleRatio) }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: reportingExporter(exporter, logger),
        maxQueueSize: MOST_SPANS,
        scheduledDelayMillis: SEND_EVERY_MS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  })
  return {
    tracer: tracerOf(provider),
    async close() {
      const over = new Promise<boolean>((resolve) => void clock.after(CLOSE_WITHIN_MS, () => resolve(false)))
      const closed = provider.shutdown().then(
        () => true,
        () => false,
      )
      if (!(await Promise.race([closed, over]))) logger.warn({}, 'the last traces are lost: the collector is too slow')
    },
  }
}

function tracerOf(provider: TracerProvider): Tracer {
  const tracer = provider.getTracer('webhook-cloud-provider')
  const around = new AsyncLocalStorage<OtelSpan>()

  async function run<T>(
    { name, kind, attributes = {} }: Step,
    parent: OtelSpan | undefined,
    links: readonly TraceContext[],
    work: (span: Span) => Promise<T>,
  ): Promise<T> {
    const context = parent === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, parent)
    const span = tracer.startSpan(
      name,
      {
        kind: kind === undefined ? SpanKind.INTERNAL : SPAN_KINDS[kind],
        attributes,
        links: links.map((link) => ({ context: spanContext(link) })),
      },
      context,
    )
    let failed = false
    const fail = (code: string) => {
      failed = true
      span.setStatus({ code: SpanStatusCode.ERROR, message: code })
    }
    try {
      return await around.run(span, () => work({ set: (more) => void span.setAttributes(more), fail }))
    } catch (error) {
      // Unless it was said better.
      if (!failed) fail(isCatalogueError(error) ? error.code : 'Internal')
      throw error
    } finally {
      span.end()
    }
  }

  return {
    begin: ({ parent, links = [], ...step }: NewSpan, work) =>
      run(step, parent && trace.wrapSpanContext(spanContext(parent)), links, work),
    step(step, work) {
      const parent = around.getStore()
      return parent === undefined ? work(NO_SPAN) : run(step, parent, [], work)
    },
    current() {
      const span = around.getStore()
      return span && traceContext(span)
    },
  }
}

const NO_SPAN: Span = { set: () => {}, fail: () => {} }

const SPAN_KINDS = { server: SpanKind.SERVER, consumer: SpanKind.CONSUMER, client: SpanKind.CLIENT }

function tracesUrl(endpoint: string): string {
  const url = new URL(endpoint)
  if (url.pathname === '/') url.pathname = '/v1/traces'
  return url.href
}

function spanContext({ traceparent, tracestate }: TraceContext) {
  const [, traceId = '', spanId = '', flags = '00'] = traceparent.split('-')
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(tracestate === undefined ? {} : { traceState: createTraceState(tracestate) }),
  }
}

function traceContext(span: OtelSpan): TraceContext {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext()
  const tracestate = traceState?.serialize()
  return {
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
    ...(tracestate ? { tracestate } : {}),
  }
}
