import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A span as a collector gets it, in the JSON form of OTLP. */
export interface CollectedSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  links?: { traceId: string; spanId: string }[]
  attributes: { key: string; value: Record<string, unknown> }[]
  status: { code?: number; message?: string }
}

/** Stands for an OpenTelemetry collector: its receiver for traces over HTTP. */
export interface TraceCollector {
  /** Without a path, as people write it. */
  url: string
  spans: CollectedSpan[]
  /** `service.name` and the others of what sent them. */
  resources: Record<string, unknown>[]
  /** Paths that were asked for. */
  paths: string[]
  /** From now on requests are taken and never answered. */
  hang(): void
  close(): Promise<void>
}

export async function startTraceCollector(): Promise<TraceCollector> {
  const spans: CollectedSpan[] = []
  const resources: Record<string, unknown>[] = []
  const paths: string[] = []
  let hanging = false
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    paths.push(request.url ?? '')
    if (hanging) return
    const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString()) as ExportRequest
    for (const { resource, scopeSpans } of resourceSpans) {
      resources.push(Object.fromEntries(resource.attributes.map(({ key, value }) => [key, Object.values(value)[0]])))
      for (const { spans: sent } of scopeSpans) spans.push(...sent)
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    resources,
    paths,
    hang() {
      hanging = true
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

interface ExportRequest {
  resourceSpans: {
    resource: { attributes: CollectedSpan['attributes'] }
    scopeSpans: { spans: CollectedSpan[] }[]
  }[]
}

/** `admission notify > work MultiClusterIngress > gather`: the names from the root to this span. */
export function pathOf(span: CollectedSpan, spans: readonly CollectedSpan[]): string {
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId)
  return parent === undefined ? span.name : `${pathOf(parent, spans)} > ${span.name}`
}
