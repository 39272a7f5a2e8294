import type { FastifyReply, FastifyRequest } from 'fastify'
import { CatalogueError } from '../../domain/catalogue-error.ts'
import { excerpt } from './excerpt.ts'
import { isUtf8, type MediaType, parseMediaType } from './media-type.ts'

/** Checks that need no body, made before it is read. They throw what they find, or are done. */
export type Guard = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void

/** 503 and `Retry-After: 1` make the API server send the same review again within its timeout (with_retry.go:148). */
export function refuseWhileDraining(draining: () => boolean): Guard {
  return (_request, _reply, done) => {
    if (!draining()) return done()
    throw new CatalogueError('Draining', 'this instance is shutting down; send the request again', { afterMs: 1_000 })
  }
}

/** The 7 MiB limit holds for what is sent; a compressed body would get around it. */
export const refuseCompressed: Guard = (request, _reply, done) => {
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (encoding.trim().toLowerCase() === 'identity') return done()
  throw unsupported('content-encoding', `must be absent: compressed bodies are not taken, not ${excerpt(encoding)}`)
}

/** For doors that read no body: Fastify would refuse a media type it cannot parse all the same. */
export const ignoreMediaType: Guard = (request, _reply, done) => {
  request.raw.headers['content-type'] = undefined
  done()
}

export const requireJson: Guard = (request, _reply, done) => {
  // As API servers write it.
  if (request.headers['content-type'] === 'application/json') return done()
  const mediaType = mediaTypeOf(request)
  if (mediaType?.essence !== 'application/json') {
    const sent = excerpt(request.headers['content-type'])
    throw unsupported('content-type', `must be application/json, not ${sent}`)
  }
  done()
}

/** The request's media type; undefined when it has none. Throws when it is no media type, or not UTF-8. */
export function mediaTypeOf(request: Pick<FastifyRequest, 'headers'>): MediaType | undefined {
  const header = request.headers['content-type']
  if (header === undefined || header.trim() === '') return undefined
  const mediaType = parseMediaType(header)
  if (mediaType === undefined) throw unsupported('content-type', `must be a media type, not ${excerpt(header)}`)
  if (!isUtf8(mediaType)) throw unsupported('content-type', `charset must be utf-8, not ${excerpt(mediaType.charset)}`)
  return mediaType
}

export function unsupported(field: string, fault: string): CatalogueError {
  return new CatalogueError('UnsupportedMediaType', `${field}: ${fault}`, { field })
}
