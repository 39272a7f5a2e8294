import type { IncomingMessage } from 'node:http'
import { parse } from 'yaml'
import { badRequest, StatusError, tooLarge } from '../core/status-error.ts'
import { decodeProtobuf } from './protobuf.ts'

/** The API server's own limit. */
const MOST_BYTES = 3 * 1024 * 1024

/** JSON, or YAML where the content type says so; `undefined` for an empty body. */
export async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    // What is too much is read to its end all the same: left unread, it would be taken for the next request.
    if (size <= MOST_BYTES) chunks.push(chunk)
  }
  if (size > MOST_BYTES) throw tooLarge(`limit is ${MOST_BYTES}`)
  const body = Buffer.concat(chunks)
  const [mediaType = ''] = (request.headers['content-type'] ?? 'application/json').split(';')
  const type = mediaType.trim().toLowerCase()
  if (type === 'application/vnd.kubernetes.protobuf' && body.length > 0) return decodeProtobuf(body)
  const text = body.toString()
  return text === '' ? undefined : parseText(text, type)
}

function parseText(text: string, mediaType: string): unknown {
  const isYaml = mediaType === 'application/yaml' || mediaType === 'application/apply-patch+yaml'
  if (!isYaml && mediaType !== 'application/json' && !mediaType.endsWith('+json')) {
    const accepted = 'application/json, application/yaml'
    const message = `the body of the request was in an unknown format - accepted media types include: ${accepted}`
    throw new StatusError(415, 'UnsupportedMediaType', message)
  }
  try {
    return isYaml && !text.trimStart().startsWith('{') ? parse(text) : JSON.parse(text)
  } catch (error) {
    throw badRequest(`the object provided is unrecognized: ${error instanceof Error ? error.message : String(error)}`)
  }
}
