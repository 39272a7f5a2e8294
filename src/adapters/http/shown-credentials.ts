import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { FastifyRequest } from 'fastify'
import type { ShownCredentials } from '../../ports/caller-proof.ts'
import { certificateNames } from './certificate-names.ts'

const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i

/** Reads header and connection. Query, cookies and what proxies say about somebody are no credentials here. */
export function createCredentialReader(): (request: FastifyRequest) => ShownCredentials {
  // A certificate belongs to its connection; it is read once.
  const known = new WeakMap<Socket, readonly string[]>()

  function namesOf(socket: Socket): readonly string[] | undefined {
    if (!isAuthorized(socket)) return undefined
    const names = known.get(socket) ?? certificateNames(socket.getPeerCertificate())
    known.set(socket, names)
    return names
  }

  return ({ raw }) => {
    const bearer = bearerOf(raw.rawHeaders)
    const names = namesOf(raw.socket)
    return { ...(bearer !== undefined && { bearer }), ...(names && { certificateNames: names }) }
  }
}

/** Its certificate comes from our authority. There is no TLS in front of us where a proxy ends it. */
function isAuthorized(socket: Socket): socket is TLSSocket {
  return 'authorized' in socket && socket.authorized === true
}

/** Of the one Authorization header. Of two, one server sees the first and another the second: they are none. */
function bearerOf(rawHeaders: readonly string[]): string | undefined {
  const values = rawHeaders.filter(
    (_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'authorization',
  )
  const [value = ''] = values
  return values.length === 1 ? BEARER.exec(value)?.[1] : undefined
}
