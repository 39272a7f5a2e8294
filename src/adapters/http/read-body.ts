import type { IncomingMessage } from 'node:http'
import { CatalogueError } from '../../domain/catalogue-error.ts'
import { badRequest } from './bad-request.ts'

/**
 * The API server takes objects of up to 3 MiB (server/config.go:474), and a review of an UPDATE carries two of them:
 * 2 × 3 MiB + 1 MiB for managedFields, options and user info.
 */
const MOST_BYTES = 7 * 1024 * 1024

type Done = (error: Error | null, body?: Uint8Array) => void

/** The body of a request, as bytes. Of one that is announced as too long nothing is read, and no more than allowed of others. */
export function readBody(_request: unknown, message: IncomingMessage, done: Done): void {
  if (Number(message.headers['content-length']) > MOST_BYTES) {
    done(tooLarge())
    return
  }
  const chunks: Uint8Array[] = []
  let length = 0
  message.on('data', (chunk: Uint8Array) => {
    if (length > MOST_BYTES) return
    length += chunk.length
    if (length > MOST_BYTES) done(tooLarge())
    else chunks.push(chunk)
  })
  message.on('end', () => {
    const [only] = chunks
    if (length <= MOST_BYTES) done(null, chunks.length === 1 ? only : Buffer.concat(chunks))
  })
  message.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (length <= MOST_BYTES) done(badRequest('request', `cannot be read (${code})`))
  })
}

function tooLarge(): CatalogueError {
  return new CatalogueError('BodyTooLarge', 'body: must have at most 7 MiB', { field: 'body' })
}
