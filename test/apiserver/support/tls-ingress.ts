import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { createServer } from 'node:https'
import { join } from 'node:path'

/** Ends TLS before a function that speaks plain HTTP, as Knative's ingress does with the Secret of a DomainMapping. */
export async function startTlsIngress(
  port: number,
  secretFolder: string,
  targetPort: number,
): Promise<() => Promise<void>> {
  const [cert, key] = await Promise.all([
    readFile(join(secretFolder, 'tls.crt')),
    readFile(join(secretFolder, 'tls.key')),
  ])
  const server = createServer({ cert, key }, (incoming, answer) => {
    const { method, url, headers } = incoming
    const passedOn = request({ host: '127.0.0.1', port: targetPort, method, path: url, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(answer)
    })
    passedOn.once('error', () => answer.writeHead(502).end())
    incoming.pipe(passedOn)
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}
