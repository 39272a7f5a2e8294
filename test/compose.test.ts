import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import {
  type CertificateAndKey,
  createCertificateAuthority,
  type Validity,
} from '../src/adapters/certificates/certificate-authority.ts'
import { createServer } from '../src/adapters/http/create-server.ts'
import { createReloadedCertificate } from '../src/compose/reload-certificate.ts'
import type { Logger } from '../src/ports/logger.ts'
import { createManualClock } from './support/manual-clock.ts'

const authority = await createCertificateAuthority(Date.now())
const successor = await createCertificateAuthority(Date.now(), 'next')
const issue = (validity: Partial<Validity> = {}) => authority.issueServingCertificate(['localhost'], validity)
const LOOK_MS = 5_000

function temporaryFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'certificate-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Two files of a folder, replaced one after the other. */
function plainFiles(t: Test) {
  const folder = temporaryFolder(t)
  const files = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') }
  const replace = ({ certPem, keyPem }: CertificateAndKey) => {
    writeFileSync(files.certFile, certPem)
    writeFileSync(files.keyFile, keyPem)
  }
  return { files, replace }
}

/** As the kubelet mounts a Secret: the files are links through `..data`, which is swapped as a whole. */
function mountedSecret(t: Test) {
  const folder = temporaryFolder(t)
  const at = (...names: string[]) => join(folder, ...names)
  let version = 0
  const replace = ({ certPem, keyPem }: CertificateAndKey) => {
    version += 1
    mkdirSync(at(`..v${version}`))
    writeFileSync(at(`..v${version}`, 'tls.crt'), certPem)
    writeFileSync(at(`..v${version}`, 'tls.key'), keyPem)
    symlinkSync(`..v${version}`, at('..data_tmp'))
    renameSync(at('..data_tmp'), at('..data'))
    if (version > 1) return rmSync(at(`..v${version - 1}`), { recursive: true })
    for (const name of ['tls.crt', 'tls.key']) symlinkSync(join('..data', name), at(name))
  }
  return { files: { certFile: at('tls.crt'), keyFile: at('tls.key') }, replace }
}

/** A server with TLS whose certificate is read from these files, on a clock that stands still. */
async function serveFrom(t: Test, files: { certFile: string; keyFile: string }) {
  const clock = createManualClock(Date.now())
  const logs: string[] = []
  const write = (_fields: object, message: string) => void logs.push(message)
  const logger: Logger = { debug: write, info: write, warn: write, error: write, child: () => logger }
  const certificate = createReloadedCertificate(files, { clock, logger })
  const app = Fastify({
    forceCloseConnections: true,
    serverFactory: (handler) => createServer(handler, certificate.current()),
  })
  app.post('/', (request) => request.body)
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as { port: number }
  certificate.watch(app)
  return { port, clock, logs, certificate, look: () => clock.advance(LOOK_MS) }
}

const TRUSTED = { host: '127.0.0.1', servername: 'localhost', ca: [authority.caPem, successor.caPem] }

/** The serial number of the certificate that a new connection is given. */
function servedSerial(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ ...TRUSTED, port }, () => {
      resolve(socket.getPeerCertificate().serialNumber)
      socket.destroy()
    })
    socket.once('error', reject)
  })
}

t.test('a renewed certificate is served to new connections, what cannot be used is not', async (t) => {
  const { files, replace } = plainFiles(t)
  replace(await issue())
  const { port, clock, logs, certificate, look } = await serveFrom(t, files)
  const first = await servedSerial(port)
  await look()
  t.equal(await servedSerial(port), first, 'nothing was replaced')

  const renewed = await issue()
  writeFileSync(files.certFile, renewed.certPem)
  await look()
  t.equal(await servedSerial(port), first, 'half a pair is not served')
  t.same(logs, [], 'nor is it news: the other half may be on its way')
  await look()
  await look()
  t.same(logs, ['renewed certificate not used'], 'if it stays so it is told, once')

  writeFileSync(files.keyFile, renewed.keyPem)
  await look()
  const second = await servedSerial(port)
  t.not(second, first)
  t.equal(certificate.current().cert, renewed.certPem)

  const now = Date.now()
  const unusable: Record<string, () => Promise<void> | void> = {
    expired: async () => replace(await issue({ notAfter: new Date(now - 1_000) })),
    'not yet valid': async () => replace(await issue({ notBefore: new Date(now + 3_600_000) })),
    'cut short': async () => writeFileSync(files.certFile, renewed.certPem.slice(0, 200)),
    'a broken chain behind a good certificate': async () =>
      replace({
        ...renewed,
        certPem: `${renewed.certPem}${renewed.certPem.slice(0, 200)}\n-----END CERTIFICATE-----\n`,
      }),
    empty: () => writeFileSync(files.keyFile, ''),
    gone: () => {
      rmSync(files.certFile)
      rmSync(files.keyFile)
    },
  }
  for (const [title, spoil] of Object.entries(unusable)) {
    logs.length = 0
    await spoil()
    await look()
    await look()
    t.equal(await servedSerial(port), second, title)
    t.same(logs, ['renewed certificate not used'], title)
  }
  replace(await issue())
  await look()
  const third = await servedSerial(port)
  t.not(third, second, 'files that come back are used')

  certificate.stop()
  replace(await issue())
  await clock.advance(60_000)
  t.equal(await servedSerial(port), third, 'nobody looks any more')
})

/** Requests without a pause, over connections that are kept and over one of its own each. */
function startLoad(port: number) {
  const kept = new https.Agent({ keepAlive: true, maxSockets: 4 })
  const answered = { kept: 0, fresh: 0 }
  const failures: string[] = []
  const sockets = new Set<unknown>()
  let newest = ''
  let running = true
  const send = (agent: https.Agent | false) =>
    new Promise<void>((resolve, reject) => {
      const headers = { 'content-type': 'application/json' }
      const request = https.request({ ...TRUSTED, port, agent, method: 'POST', path: '/', headers }, (response) => {
        const socket = response.socket as TLSSocket
        if (agent === false) newest = socket.getPeerCertificate().serialNumber
        else sockets.add(socket)
        response.resume().once('end', () => (response.statusCode === 200 ? resolve() : reject(new Error('not 200'))))
      })
      request.once('error', reject).end('{"uid":"1"}')
    })
  const repeat = async (name: keyof typeof answered, agent: https.Agent | false) => {
    while (running) {
      await send(agent).catch((error: unknown) => failures.push(String(error)))
      answered[name] += 1
    }
  }
  const loops = [...Array(4).keys()]
    .map(() => repeat('kept', kept))
    .concat([repeat('fresh', false), repeat('fresh', false)])
  return {
    answered,
    failures,
    sockets,
    newest: () => newest,
    async stop() {
      running = false
      await Promise.all(loops)
      kept.destroy()
    },
  }
}

for (const { title, source } of [
  { title: 'files rewritten', source: plainFiles },
  { title: 'a Secret remounted', source: mountedSecret },
]) {
  t.test(`no request is dropped while certificates and their authority change under load: ${title}`, async (t) => {
    const { files, replace } = source(t)
    replace(await issue())
    const { port, look, logs } = await serveFrom(t, files)
    const load = startLoad(port)
    const rotations = 40
    for (let count = 0; count < rotations; count += 1) {
      const pair = await (count % 2 === 0 ? successor : authority).issueServingCertificate(['localhost'])
      replace(pair)
      await look()
      const serial = await servedSerial(port)
      const before = { ...load.answered }
      while (load.newest() !== serial || load.answered.kept < before.kept + 8) await new Promise(setImmediate)
    }
    await load.stop()
    t.same(load.failures, [])
    t.equal(load.sockets.size, 4, 'kept connections are kept')
    t.equal(logs.filter((message) => message === 'serving certificate replaced').length, rotations)
    t.comment(
      `${rotations} rotations, ${load.answered.kept} requests on 4 kept connections, ${load.answered.fresh} on fresh ones`,
    )
  })
}
