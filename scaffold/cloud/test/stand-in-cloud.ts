import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AcmeBalancer } from '../src/acme-api.ts'

/** Acme's API in memory. An address takes one call more, as a real one takes minutes. */
export async function startStandInCloud(): Promise<{ endpoint: string; close(): void }> {
  const balancers = new Map<string, AcmeBalancer>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://acme')
    const answer = (body: unknown) =>
      response
        .writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' })
        .end(JSON.stringify(body ?? {}))

    const known = balancers.get(pathname)
    if (pathname === '/balancers') {
      return answer(
        [...balancers.values()].filter(({ identity }) => identity.clusterId === searchParams.get('clusterId')),
      )
    }
    if (request.method === 'PUT') {
      const { identity, fingerprint } = JSON.parse(Buffer.concat(chunks).toString()) as AcmeBalancer
      // Of those that RFC 5737 keeps for documentation.
      const address = known && (known.address ?? `192.0.2.${balancers.size}`)
      const balancer = { identity, ...(fingerprint && { fingerprint }), ...(address && { address }) }
      balancers.set(pathname, balancer)
      return answer(balancer)
    }
    if (request.method === 'DELETE') balancers.delete(pathname)
    return answer(known)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
