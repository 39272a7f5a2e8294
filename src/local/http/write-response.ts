import type { ServerResponse } from 'node:http'
import { stringify } from 'yaml'
import type { Response } from './serve-request.ts'
import { warningHeaders } from './warning-headers.ts'

/** Writes the answer. A stream stays open until either side ends it. */
export function writeResponse(response: Response, out: ServerResponse): void {
  if (response.kind === 'stream') {
    writeStream(response, out)
    return
  }
  if (response.kind === 'text') {
    out.writeHead(response.status, { 'content-type': 'text/plain; charset=utf-8' }).end(response.body)
    return
  }
  const { status, body, yaml = false, contentType } = response
  // As bytes: with a text Node would write the headers in UTF-8 too, which those of warnings are already.
  const bytes = Buffer.from(yaml ? stringify(body) : `${JSON.stringify(body)}\n`)
  const warnings = warningHeaders(response.warnings ?? [])
  if (warnings.length > 0) out.setHeader('warning', warnings)
  out.writeHead(status, {
    'content-type': yaml ? 'application/yaml' : (contentType ?? 'application/json'),
    'content-length': bytes.length,
    'cache-control': 'no-cache, private',
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
  })
  out.end(bytes)
}

function writeStream({ start }: Extract<Response, { kind: 'stream' }>, out: ServerResponse): void {
  out.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-cache, private' })
  out.flushHeaders()
  const stop = start(
    (event) => out.write(`${JSON.stringify(event)}\n`),
    () => out.end(),
  )
  out.on('close', stop)
}
