import type { IncomingMessage, ServerResponse } from 'node:http'
import { startHandler } from '../start-handler.ts'

/** As the Functions Framework hands it over: the body has been read, and `url` may have been rewritten. */
type FrameworkRequest = IncomingMessage & { originalUrl: string; rawBody?: Buffer }

const started = startHandler({ worksBetweenRequests: true })

/** `functions-framework --target=webhookCloudProvider`, signature `http`; CloudEvents come through `/events` as well. */
export async function webhookCloudProvider(request: FrameworkRequest, response: ServerResponse): Promise<void> {
  const { method = 'GET', originalUrl: url, headers, rawBody, socket } = request
  const handler = await started
  const { status, ...answer } = await handler.answer({
    method,
    url,
    headers,
    body: rawBody ?? Buffer.alloc(0),
    ...(socket.remoteAddress === undefined ? {} : { remoteAddress: socket.remoteAddress }),
  })
  response.writeHead(status, answer.headers).end(answer.body)
}
