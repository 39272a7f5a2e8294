import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { createServer } from '../src/adapters/http/create-server.ts'
import { createReloadedCertificate } from '../src/compose/reload-certificate.ts'
import { createCertificateAuthority } from '../src/local/create-certificate-authority.ts'
import type { Logger } from '../src/ports/logger.ts'
import { createManualClock } from './support/manual-clock.ts'

const authority = createCertificateAuthority(Date.now())
const issue = (notAfter = new Date(Date.now() + 86_400_000)) =>
  authority.issueServingCertificate(['localhost'], { notAfter })

function temporaryFiles(t: Test) {
  const directory = mkdtempSync(join(tmpdir(), 'certificate-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  const files = { certFile: join(directory, 'tls.crt'), keyFile: join(directory, 'tls.key') }
  const write = ({ certPem, keyPem }: { certPem: string; keyPem: string }) => {
    writeFileSync(files.certFile, certPem)
    writeFileSync(files.keyFile, keyPem)
  }
  return { files, write }
}

/** The serial number of the certificate that a new connection is given. */
function servedSerial(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca: authority.caPem }, () => {
      resolve(socket.getPeerCertificate().serialNumber)
      socket.destroy()
    })
    socket.once('error', reject)
  })
}

t.test('a renewed certificate is served to new connections, a broken one is not', async (t) => {
  const clock = createManualClock(Date.now())
  const logs: string[] = []
  const write = (_fields: object, message: string) => void logs.push(message)
  const logger: Logger = { debug: write, info: write, warn: write, error: write, child: () => logger }
  const { files, write: writePair } = temporaryFiles(t)
  writePair(issue())
  const certificate = createReloadedCertificate(files, { clock, logger })
  const app = Fastify({ serverFactory: (handler) => createServer(handler, certificate.current()) })
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as { port: number }
  certificate.watch(app)
  const first = await servedSerial(port)

  await clock.advance(6_000)
  t.equal(await servedSerial(port), first, 'nothing was replaced')

  const renewed = issue()
  writeFileSync(files.certFile, renewed.certPem)
  await clock.advance(11_000)
  t.equal(await servedSerial(port), first, 'half a pair is not served')
  t.same(logs, ['renewed certificate not used'], 'and is told once')

  writeFileSync(files.keyFile, renewed.keyPem)
  await clock.advance(5_000)
  const second = await servedSerial(port)
  t.not(second, first)
  t.equal(certificate.current().cert, renewed.certPem)

  writePair(issue(new Date(Date.now() - 1_000)))
  await clock.advance(5_000)
  t.equal(await servedSerial(port), second, 'an expired one is not served')

  certificate.stop()
  writePair(issue())
  await clock.advance(60_000)
  t.equal(await servedSerial(port), second, 'nobody looks any more')
})
