import type { FastifyInstance } from 'fastify'
import { CatalogueError } from '../domain/catalogue-error.ts'

/** Opens the port; answers the one that was opened (0 asks for a free one). Throws `PortInUse` and `PortRefused`. */
export async function listen(app: FastifyInstance, { host, port }: { host: string; port: number }): Promise<number> {
  try {
    await app.listen({ host, port })
  } catch (error) {
    throw listenError(error, host, port)
  }
  const address = app.server.address()
  return typeof address === 'object' && address !== null ? address.port : port
}

function listenError(error: unknown, host: string, port: number): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const at = `${host}:${port}`
  if (code === 'EADDRINUSE') {
    return new CatalogueError('PortInUse', `server.port: ${at} is in use; stop that process or choose another port`, {
      field: 'server.port',
      cause: error,
    })
  }
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL') {
    return new CatalogueError('PortRefused', `server.port: the system does not let us listen on ${at} (${code})`, {
      field: 'server.port',
      cause: error,
    })
  }
  return error
}
