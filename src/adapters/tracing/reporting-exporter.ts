import type { SpanExporter } from '@opentelemetry/sdk-trace'
import type { Logger } from '../../ports/logger.ts'

/** The same exporter; that it fails, and that it works again, is said once. */
export function reportingExporter(exporter: SpanExporter, logger: Logger): SpanExporter {
  let isFailing = false
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.code !== 0
        if (failed && !isFailing) {
          const reason = reasonOf(result.error)
          logger.warn({ reason }, 'the collector does not take traces; they are lost')
        }
        if (!failed && isFailing) logger.info({}, 'the collector takes traces again')
        isFailing = failed
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  }
}

/** Of several addresses that were tried the message is empty, and the code says it. */
function reasonOf(error: Error | undefined): string {
  const code = error !== undefined && 'code' in error ? String(error.code) : ''
  return error?.message || code || 'no answer'
}
