import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import t from 'tap'
import { createCertificateAuthority } from '../src/adapters/certificates/certificate-authority.ts'
import { createPinoLogger } from '../src/adapters/logging/pino-logger.ts'
import { createSystemClock } from '../src/adapters/system/system-clock.ts'
import { runDemo } from '../src/cli/demo.ts'
import { startLocal } from '../src/compose/start-local.ts'
import { karmadaCrds } from '../src/local/crds/karmada-crds.ts'
import { startLocalControlPlane } from '../src/local/start-local-control-plane.ts'
import type { CallerProof } from '../src/ports/caller-proof.ts'
import type { FakeCall, FakeFailure } from '../src/providers/fake/fake-cloud.ts'
import { createFakeProvider } from '../src/providers/fake/fake-provider.ts'
import { buildClass, buildIngress, FINALIZER } from './support/build-objects.ts'
import { createRecordingConsole, startWcp, wcp } from './support/command-line.ts'
import { OPEN_DOORS, openApp } from './support/open-app.ts'
import { startStubApiServer } from './support/stub-api-server.ts'
import { stubDoors } from './support/stub-doors.ts'

const folder = mkdtempSync(join(tmpdir(), 'cli-'))
t.teardown(() => rmSync(folder, { recursive: true }))
const fixtures = join(import.meta.dirname, 'fixtures')
const clock = createSystemClock()
let files = 0

function file(content: string | object): string {
  files += 1
  const path = join(folder, `file-${files}`)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 })
  return path
}

const kubeconfig = file({
  clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
  users: [{ name: 'u', user: { token: 't' } }],
  contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
  'current-context': 'x',
})

const tokenFile = file('a-token-of-somebody-0123')

/** A configuration that is good as far as it goes. */
function configFile(overrides: object = {}): string {
  return file({
    provider: { name: 'fake' },
    callers: { admission: { tokenFile }, events: { tokenFile }, sweep: { tokenFile } },
    kubernetes: { kubeconfig },
    server: { host: '127.0.0.1', port: 0 },
    ...overrides,
  })
}

t.test('how it is used', async (t) => {
  const usage = /^usage: wcp <command> \[options\]\n\n {2}serve [\s\S]* {2}local [\s\S]* {2}replay [\s\S]* {2}sweep /
  t.match(await wcp([]), { code: 2, out: usage, err: '' })
  for (const help of ['help', '--help', '-h']) t.match(await wcp([help]), { code: 0, out: usage, err: '' })
  for (const command of ['serv', 'constructor', '__proto__', '']) {
    const said = await wcp([command])
    t.match(said, { code: 2, out: '', err: `unknown command "${command}"\n\nusage: wcp` }, command)
  }
})

t.test('each command tells its options, all of them and no other', async (t) => {
  const commands = [...(await wcp(['help'])).out.matchAll(/^ {2}([a-z]+) /gm)].map(([, name = '']) => name)
  t.equal(commands.length, 12)
  const sources = join(import.meta.dirname, '../src/cli')
  for (const command of commands) {
    const { code, out, err } = await wcp([command, '--help'])
    t.match({ code, out, err }, { code: 0, out: new RegExp(`^usage: wcp ${command} [^]+exit code: 0 `), err: '' })
    t.equal((await wcp(['help', command])).out, out)
    t.equal((await wcp([command, '-h'])).out, out)
    const told = [...out.matchAll(/^ {2}(?:-\w, )?--([a-z-]+)( [A-Za-z]|=)?/gm)]
    for (const [, option = '', value] of told) {
      const args = [`--${option}${value === undefined ? '' : '=1'}`, '--no-such']
      t.match(await wcp([command, ...args]), { code: 2, err: /^Unknown option '--no-such'/ }, `${command} ${args[0]}`)
    }
    const file = readdirSync(sources).find((name) => name === `${command}-options.ts`) ?? `${command}-command.ts`
    const taken = readFileSync(join(sources, file), 'utf8').matchAll(
      /[ {]'?([a-z-]+)'?: (?:\{ )?(?:text\b|flag\b|\.\.\.text\b|type: '(?:string|boolean)')/g,
    )
    for (const [, option = ''] of taken)
      t.ok(
        told.some(([, each]) => each === option),
        `${command} --${option}`,
      )
  }
})

t.test('what is wrong on the command line is said in one line', async (t) => {
  for (const { args, says } of [
    { args: ['serve', '--prot', '1'], says: /--prot/ },
    { args: ['serve', '--config'], says: /--config/ },
    { args: ['serve', 'now'], says: /'now'/ },
    { args: ['serve'], says: /^serve: give the configuration file with --config FILE or WCP_CONFIG$/ },
    { args: ['local', '--verbos'], says: /--verbos/ },
    { args: ['local', '--port', 'http'], says: /^--port: "http" is not a whole number from 0 to 65535$/ },
    { args: ['local', '--port', '65536'], says: /^--port: / },
    { args: ['local', '--delay-ms', '1.5'], says: /^--delay-ms: / },
    { args: ['replay'], says: /^replay: name at least one fixture/ },
    { args: ['replay', '/no/such/fixture'], says: /^replay: \/no\/such\/fixture cannot be read \(ENOENT\)$/ },
    { args: ['replay', folder], says: /cannot be read \(EISDIR\)$/ },
    { args: ['replay', '--url', 'here', join(fixtures, 'operations/healthz.json')], says: /^--url: "here" is not an/ },
    { args: ['replay', '--speed', '2'], says: /--speed/ },
    { args: ['sweep'], says: /^sweep: --url must be/ },
    { args: ['sweep', '--url', 'ftp://x'], says: /^--url: "ftp:\/\/x" is not an http or https URL$/ },
    { args: ['sweep', '--url', 'https://x', '--ca', '/no/ca'], says: /^--ca: \/no\/ca cannot be read \(ENOENT\)$/ },
    { args: ['sweep', '--all'], says: /--all/ },
  ]) {
    const { code, out, err } = await wcp(args)
    t.equal(code, 2, args.join(' '))
    t.match(err, says)
    t.equal(err.split('\n').length, 1, err)
    t.equal(out.replace(/^GET .*/, ''), '')
  }
})

t.test('serve says all that is wrong with its configuration, and starts nothing', async (t) => {
  const authority = await createCertificateAuthority(Date.now())
  const past = { notBefore: new Date(Date.now() - 9e9), notAfter: new Date(Date.now() - 1e9) }
  const expired = await authority.issueServingCertificate(['localhost'], past)
  const tls = { certFile: file(expired.certPem), keyFile: file(expired.keyPem) }
  for (const { title, config, args = [], env = {}, says } of [
    {
      title: 'three faults',
      config: { provider: { name: 'fake', options: { delayMs: 'long' } }, sever: {}, log: { level: 'loud' } },
      says: [
        'ConfigurationInvalid: 3 faults in the configuration:',
        '  sever: is not a setting; check the spelling',
        '  log.level: must be one of: debug, info, warn, error, silent',
        '  provider.options.delayMs: must be a whole number of milliseconds from 0 to 3600000',
      ],
    },
    {
      title: 'unknown provider',
      config: { provider: { name: 'aws' } },
      says: [
        'ProviderUnknown: provider.name: no provider is called "aws"; known are: caddy, example, fake, haproxy, http',
      ],
    },
    {
      title: 'no kubeconfig',
      config: { kubernetes: { kubeconfig: '/no/such/kubeconfig' } },
      says: ['KubeconfigInvalid: kubernetes.kubeconfig: /no/such/kubeconfig does not exist'],
    },
    {
      title: 'unknown context',
      config: { kubernetes: { kubeconfig, context: 'y' } },
      says: [`KubeconfigInvalid: kubernetes.context: ${kubeconfig} has no context "y"; it has: x`],
    },
    {
      title: 'a port that is none',
      config: {},
      args: ['--port', '99999'],
      says: [
        'ConfigurationInvalid: 1 fault in the configuration:',
        '  PORT: must be a port number from 0 to 65535 (from the environment, or --port)',
      ],
    },
    {
      title: 'a platform that scales to zero',
      config: {},
      env: { K_SERVICE: 'wcp' },
      says: [
        'ConfigurationInvalid: 1 fault in the configuration:',
        '  queue.kind: this platform may scale to zero and lose what the memory queue holds: set queue.kind to cloudevents or jetstream, or min-scale 1 and queue.kind: memory',
      ],
    },
  ]) {
    const { code, out, err } = await wcp(['serve', '--config', configFile(config), ...args], env)
    t.equal(code, 2, title)
    t.equal(err, says.join('\n'))
    t.equal(out, '', 'nothing was logged: it did not get so far')
  }
  const renew = await wcp(['serve', '--config', configFile({ server: { tls } })])
  t.match(renew, {
    code: 2,
    out: '',
    err: /^CertificateInvalid: server\.tls\.certFile: .* expired on .*; put a renewed/,
  })
  t.match(await wcp(['serve'], { WCP_CONFIG: '/no/such/file' }), {
    code: 2,
    err: 'ConfigurationInvalid: the configuration file /no/such/file cannot be read: give its path with --config or WCP_CONFIG',
  })
})

t.test('a port in use ends the process by itself, with 1', async (t) => {
  const taken = await listening()
  t.teardown(() => void taken.close())
  const { port } = taken.address() as { port: number }
  const config = configFile({ server: { host: '127.0.0.1', port } })
  const remedy = `server.port: 127.0.0.1:${port} is in use; stop that process or choose another port`
  const [serve, local] = await Promise.all([
    startWcp(['serve', '--config', config]).ended,
    startWcp(['local', '--port', String(port)]).ended,
  ])
  t.same(serve, { code: 1, out: '', err: `PortInUse: ${remedy}\n` })
  t.match(local, {
    code: 1,
    out: '',
    err: `PortInUse: port ${port} is in use: choose another one, or 0 for a free one\n`,
  })
  const elsewhere = configFile({ server: { host: '192.0.2.1', port: 0 } })
  t.match(await wcp(['serve', '--config', elsewhere]), { code: 1, err: /^PortRefused: server\.port: .*EADDRNOTAVAIL/ })
})

function listening(): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => resolve(server))
  })
}

const INGRESSES = { group: 'networking.karmada.io', version: 'v1alpha1', plural: 'multiclusteringresses' }
const ADMIN = { user: { username: 'admin', groups: ['system:masters'] } }

t.test('serve serves until it is told to stop, and finishes what it has taken on', async (t) => {
  const authority = await createCertificateAuthority(clock.now())
  const controlPlane = await startLocalControlPlane({ clock, authority, definitions: karmadaCrds })
  t.teardown(() => controlPlane.close())
  const { core } = controlPlane
  core.preload([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }, buildClass() as never])
  const serving = await authority.issueServingCertificate(['127.0.0.1'])
  const ca = file(authority.caPem)
  const config = configFile({
    kubernetes: { kubeconfig: file(controlPlane.kubeconfig) },
    server: { host: '127.0.0.1', port: 0, tls: { certFile: file(serving.certPem), keyFile: file(serving.keyPem) } },
    callers: { anyone: true },
    shutdown: { drainMs: 10_000 },
  })

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    await t.test(signal, async (t) => {
      const served = startWcp(['serve', '--config', config])
      const [, port] = await served.printed(/"port":(\d+).*"serving"/)
      const url = `https://127.0.0.1:${port}`

      const name = `swept-${signal.toLowerCase()}`
      await core.create({ ...INGRESSES, namespace: 'shop' }, buildIngress({ metadata: { name } }), ADMIN)
      t.match(await wcp(['sweep', '--url', url, '--ca', ca]), { code: 0, out: /"settled":[1-9]/ })
      const target = { ...INGRESSES, namespace: 'shop' }
      t.match(core.get({ ...target, name }), {
        metadata: { finalizers: [FINALIZER] },
        status: { loadBalancer: { ingress: [{ ip: /^192\.0\.2\.\d+$/ }] } },
      })

      const last = `last-${signal.toLowerCase()}`
      await core.create(target, buildIngress({ metadata: { name: last } }), ADMIN)
      const event = join(folder, 'event.json')
      writeFileSync(
        event,
        JSON.stringify({
          description: 'told just before the end',
          request: {
            method: 'POST',
            path: '/events',
            headers: { 'content-type': 'application/cloudevents+json' },
            body: {
              specversion: '1.0',
              id: '1',
              source: 'https://127.0.0.1',
              type: 'dev.knative.apiserver.ref.add',
              subject: `/apis/networking.karmada.io/v1alpha1/namespaces/shop/multiclusteringresses/${last}`,
              data: {
                apiVersion: 'networking.karmada.io/v1alpha1',
                kind: 'MultiClusterIngress',
                namespace: 'shop',
                name: last,
              },
            },
          },
          expect: { status: 202 },
        }),
      )
      const told = await wcp(['replay', event, '--url', url, '--ca', ca])
      served.child.kill(signal)
      const { code, out, err } = await served.ended
      t.equal(told.code, 0, told.out)
      t.equal(code, 0, err)
      t.equal(err, '')
      t.match(out, /"doors":\["admission","events","sweep"\].*anyone who can reach these doors may call them/)
      t.match(out, /"left":0.*"stopped"/)
      t.match(core.get({ ...target, name: last }), { status: { loadBalancer: { ingress: [{ ip: /./ }] } } })
      for (const line of out.trimEnd().split('\n')) t.doesNotThrow(() => JSON.parse(line), line)
    })
  }
})

t.test('local --demo brings everything up and down again', async (t) => {
  const { code, out, err } = await startWcp(['local', '--demo']).ended
  t.equal(code, 0, err)
  t.equal(err, '')
  for (const line of [
    /^control plane {2}https:\/\/127\.0\.0\.1:\d+$/m,
    /^multiclusteringress\/minimal-ingress +192\.0\.2\.\d+ +after \d+ ms$/m,
    /^multiclusterservice\/serve +192\.0\.2\.\d+ +after \d+ ms$/m,
    /^multiclusteringress\/minimal-ingress +gone, finalizer released$/m,
    /^multiclusterservice\/serve +gone, finalizer released$/m,
    /^balancers left in the cloud: 0 /m,
  ]) {
    t.match(out, line)
  }
})

t.test('local serves until it is interrupted, and leaves nothing behind', async (t) => {
  const started = startWcp(['local', '--delay-ms', '50'])
  const [, path = ''] = await started.printed(/export KUBECONFIG=(\S+)/)
  await started.printed(/Ctrl-C stops everything/)
  t.ok(existsSync(path))
  started.child.kill('SIGINT')
  const { code, err } = await started.ended
  t.equal(code, 0, err)
  t.notOk(existsSync(path))
})

t.test('a reader who goes away ends nothing', async (t) => {
  const demo = startWcp(['local', '--demo'])
  demo.child.stdout?.destroy()
  t.match(await demo.ended, { code: 0, err: '' })
})

/** A local control plane and function over a cloud that fails as told. */
async function startWorld(failure: (call: FakeCall) => FakeFailure | undefined = () => undefined) {
  const provider = createFakeProvider({ delayMs: 0, failure, clock })
  const logger = createPinoLogger({ level: 'silent', destination: { write: () => {} } })
  const local = await startLocal({ directory: mkdtempSync(join(folder, 'local-')), port: 0, provider, clock, logger })
  const console = createRecordingConsole()
  const demo = (patienceMs: number) =>
    runDemo(local, { provider, clock, console, demo: true, interrupted: console.interrupted, patienceMs })
  return { local, provider, console, demo }
}

t.test('the demo fails when the cloud does', async (t) => {
  const down = (method: FakeCall['method']) => (call: FakeCall) =>
    call.method === method ? { when: 'before' as const, error: new Error('the cloud is down') } : undefined

  await t.test('an address never comes', async (t) => {
    const { local, console, demo } = await startWorld(down('ensure'))
    t.equal(await demo(300), 1)
    const { out, err } = console.text()
    t.match(err, /^multiclusteringress\/minimal-ingress has no address after \d+ ms$/)
    t.notMatch(out, /balancers left/)
    await local.close()
  })
  await t.test('a balancer stays', async (t) => {
    const { local, console, demo } = await startWorld(down('ensureDeleted'))
    t.equal(await demo(1_000), 1)
    const { out } = console.text()
    t.match(out, /serve +stays: its finalizers are webhook-cloud-provider\.dev\/fake\n/)
    t.match(out, /balancers left in the cloud: 2 /)
    await local.close()
  })
})

t.test('replay shows an answer and says whether it is the expected one', async (t) => {
  const good = join(fixtures, 'admission/notify-create.json')
  const wrong = file(readFileSync(good, 'utf8').replace(/"status": 200/, '"status": 418'))
  const inProcess = await wcp(['replay', good])
  t.match(inProcess, {
    code: 0,
    err: '',
    out: /^POST \/admission\/notify[\s\S]*answer {2}200 [\s\S]* stored[\s\S]*as expected$/,
  })
  t.match(inProcess.out, /cloud {3}get, ensure[\s\S]*object .*shop\/storefront finalizers=.*"ip":"192\.0\.2\.1"/)
  const both = await wcp(['replay', good, wrong])
  t.match(both, { code: 1, out: /as expected[\s\S]*NOT AS EXPECTED {2}status: expected 418, got 200/ })
  t.match(await wcp(['replay', file('{')]), { code: 2, err: /is no fixture:\n {2}- not JSON/ })
  t.match(await wcp(['replay', file({})]), {
    code: 2,
    err: /is no fixture:[\s\S]*description[\s\S]*request[\s\S]*expect/,
  })

  const { local } = await startWorld()
  t.teardown(() => local.close())
  const there = ['--url', `${local.functionUrl}/`, '--ca', local.caPath]
  const ready = join(fixtures, 'operations/healthz.json')
  t.match(await wcp(['replay', ready, ...there]), { code: 0, out: /answer {2}200[\s\S]*as expected$/ })
  const odd = file(readFileSync(ready, 'utf8').replace(/"status": 200/, '"status": 500'))
  t.match(await wcp(['replay', odd, ...there]), { code: 1, out: /NOT AS EXPECTED {2}status: expected 500, got 200/ })
  t.match(await wcp(['replay', good, ...there]), { code: 0, out: /counted \+1 [\s\S]*as expected$/ })
  t.match(await wcp(['replay', ready, '--url', local.functionUrl]), { code: 1, err: /cannot be reached \([A-Z_]+\)$/ })
  t.match(await wcp(['replay', ready, '--url', 'https://127.0.0.1:1']), {
    code: 1,
    err: 'the function at https://127.0.0.1:1 cannot be reached (ECONNREFUSED)',
  })
})

t.test('sweep goes on until the sweep is through', async (t) => {
  const none = { settled: 0, gone: 0, ignored: 0, later: 0, failed: 0 }
  const report = (settled: number, more: object = {}) => ({
    scope: 'all',
    listed: 1,
    outcomes: { ...none, settled },
    ...more,
  })
  const stub = await startStubApiServer()
  t.teardown(() => stub.close())
  const sweep = (...args: string[]) => wcp(['sweep', '--url', `${stub.url}/`, '--ca', file(stub.caPem), ...args])

  const pages = [report(3, { continue: '0.a+b' }), report(4, { continue: '1.' }), report(5)]
  stub.answerEach(() => {
    const body = pages.shift() ?? report(0)
    return { status: 'continue' in body ? 503 : 200, headers: { 'retry-after': '1' }, body }
  })
  t.match(await sweep('--scope', 'pending'), {
    code: 0,
    err: '',
    out: /^\{.*"settled":3.*\}\n\{.*"settled":4.*\}\n\{.*"settled":5.*\}$/,
  })
  t.same(
    stub.requests.map(({ method, url }) => `${method} ${url}`),
    [
      'POST /sweep?scope=pending',
      'POST /sweep?scope=pending&continue=0.a%2Bb',
      'POST /sweep?scope=pending&continue=1.',
    ],
  )

  for (const { title, status, body, code, says } of [
    {
      title: 'an object failed',
      status: 200,
      body: { ...report(1), outcomes: { ...none, failed: 2 } },
      code: 1,
      says: /^$/,
    },
    { title: 'a proxy', status: 503, body: '<html>', code: 1, says: /^the sweep was answered 503: <html>$/ },
    {
      title: 'a function that shuts down',
      status: 503,
      body: { code: 'Draining' },
      code: 1,
      says: /answered 503: .*Draining/,
    },
    { title: 'a success in HTML', status: 200, body: '<html>', code: 1, says: /^the sweep was answered 200: <html>$/ },
    { title: 'null', status: 200, body: 'null', code: 1, says: /answered 200: null$/ },
    {
      title: 'a scope it does not know',
      status: 400,
      body: { message: 'scope' },
      code: 2,
      says: /answered 400: .*scope/,
    },
    { title: 'a fault', status: 500, body: '', code: 1, says: /^the sweep was answered 500: $/ },
    {
      title: 'the same page for ever',
      status: 503,
      body: report(0, { continue: '0.' }),
      code: 1,
      says: /does not get on/,
    },
  ]) {
    stub.answer({ status, body })
    const said = await sweep()
    t.equal(said.code, code, title)
    t.match(said.err, says, title)
  }
  await stub.close()
  t.match(await sweep(), {
    code: 1,
    out: '',
    err: /^the function at https:\/\/127\.0\.0\.1:\d+ cannot be reached \(ECONN/,
  })

  const { local } = await startWorld()
  t.teardown(() => local.close())
  const there = ['sweep', '--url', local.functionUrl, '--ca', local.caPath]
  t.match(await wcp(there), { code: 0, out: /^\{"scope":"all","listed":0,.*\}$/ })
  t.match(await wcp([...there, '--scope', 'pending']), { code: 0, out: /"scope":"pending"/ })
  t.match(await wcp([...there, '--scope', 'everything']), {
    code: 2,
    err: /answered 400: .*must be one of all, pending, services, nodes, pending-nodes, routes/,
  })
})

t.test('a function that asks who calls', async (t) => {
  const [good, wrong] = ['token-of-the-sweep-0123', 'some-other-token-0123']
  const proof: CallerProof = {
    check: ({ bearer }) => (bearer === good ? { kind: 'proven' } : { kind: 'failed', reason: 'unknown' }),
  }
  const { app } = openApp(stubDoors(), { callers: { ...OPEN_DOORS, sweep: { proofs: [proof] } } })
  t.teardown(() => app.close())
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const tokens = file(`${good}\nthe-old-one-0123456789\n`)
  t.match(await wcp(['sweep', '--url', url, '--token-file', tokens]), { code: 0, out: /"listed":0/ })
  const refused = /^the sweep was answered 401: .*; give the token of the sweep door with --token-file$/
  t.match(await wcp(['sweep', '--url', url]), { code: 1, err: refused })
  t.match(await wcp(['sweep', '--url', url, '--token-file', file(wrong)]), { code: 1, err: refused })
  const fixture = join(import.meta.dirname, 'fixtures/operations/sweep.json')
  t.match(await wcp(['replay', fixture, '--url', url, '--token-file', tokens]), { code: 0, out: /as expected$/ })
  t.match(await wcp(['replay', fixture, '--url', url]), { code: 1, out: /expected 200, got 401/ })
  for (const [path, says] of [
    ['/no/such/file', '--token-file: /no/such/file cannot be read (ENOENT)'],
    [file(' \n'), '--token-file: the file holds no token'],
  ] as const) {
    t.match(await wcp(['sweep', '--url', url, '--token-file', path]), { code: 2, err: says })
  }
})

t.test('a Node that is too old is told so in one line', async (t) => {
  const told = /^webhook-cloud-provider needs Node 22\.19 or newer, this is [\d.]+: .*npm run wcp.*\n$/
  for (const { version, isOld } of [
    { version: '18.20.0', isOld: true },
    { version: '22.18.9', isOld: true },
    { version: '22.19.0', isOld: false },
    { version: '26.0.0', isOld: false },
  ]) {
    const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`
    const nodeArgs = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`]
    const { code, out, err } = await startWcp(['help'], { nodeArgs }).ended
    t.equal(code, isOld ? 2 : 0, version)
    if (isOld) t.match(err, told)
    t.match(out, isOld ? /^$/ : /^usage/)
  }
  const old = (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((directory) => join(directory, 'node'))
    .find((path) => existsSync(path) && isTooOld(path))
  await t.test('a real one', { skip: old === undefined ? 'there is none here' : false }, async (t) => {
    const { code, out, err } = await startWcp(['local', '--demo'], { node: old ?? '' }).ended
    t.same({ code, out }, { code: 2, out: '' })
    t.match(err, told)
  })
})

function isTooOld(node: string): boolean {
  const [major = 0] = execFileSync(node, ['--version'], { encoding: 'utf8' }).slice(1).split('.').map(Number)
  return major < 22
}
