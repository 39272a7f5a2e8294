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
          logger.warn(
            { reason: result.error?.name ?? 'no answer' },
            'the collector does not take traces; they are lost',
          )
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
