import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import t from 'tap'
import { createProtocolValidator } from '../../src/adapters/schema/create-protocol-validator.ts'
import { createSystemClock } from '../../src/adapters/system/system-clock.ts'
import { startLocal } from '../../src/compose/start-local.ts'
import { startProvider } from '../../src/compose/start-provider.ts'
import type { MultiClusterIngress } from '../../src/domain/multi-cluster-ingress.ts'
import type { ApiObject } from '../../src/local/core/api-object.ts'
import { createFakeProvider } from '../../src/providers/fake/fake-provider.ts'
import { createHttpProvider } from '../../src/providers/http/http-provider.ts'
import { createProviderClient } from '../../src/providers/http/provider-client.ts'
import { buildIngress, buildServiceWorld } from '../support/build-objects.ts'
import { startWcp, wcp } from '../support/command-line.ts'
import { scriptsOf } from '../support/doc-commands.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { parsedOptions, providerFiles, serveRemotely } from '../support/provider-server.ts'
import { silentLogger } from '../support/silent-logger.ts'

// The agent and the examiner as commands, and a whole function in front of them.

// Commands start in a second or two, each.
t.setTimeout(180_000)

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/http-provider.md'), 'utf8')

t.test('wcp provider serves, is examined by wcp conformance, and stops cleanly', async (t) => {
  const files = await providerFiles(t)
  writeFileSync(join(files.folder, 'options.yaml'), 'delayMs: 20\n')
  writeFileSync(
    join(files.folder, 'node.yaml'),
    'kind: Node\nmetadata: { name: node-1 }\nspec: { providerID: "fake://i-node-1" }\napiVersion: v1\n',
  )
  const agent = startWcp([
    ...['provider', 'fake', '--listen', '127.0.0.1:0', '--config', join(files.folder, 'options.yaml')],
    ...['--tls-cert', files.certFile, '--tls-key', files.keyFile, '--token-file', files.tokenFile],
  ])
  const [, url = ''] = await agent.printed(/^provider fake listens at (https:\S+)$/m)
  const common = [url, '--ca', files.caFile, '--token-file', files.tokenFile]
  const report = await wcp(['conformance', ...common, '--node', join(files.folder, 'node.yaml')])
  t.equal(report.code, 0, `${report.out}${report.err}`)
  t.match(report.out, /\npassed {2}MultiClusterIngress\/ensure-makes\n/)
  t.match(report.out, /\n\nfake: level 2 passed: \d+ passed, 0 failed, 3 skipped$/)
  const json = await wcp(['conformance', ...common, '--level', '1', '--json'])
  t.match(JSON.parse(json.out), { provider: 'fake', level: 1, passed: true })

  const stranger = await wcp(['conformance', url, '--ca', files.caFile])
  t.match(stranger, { code: 1, out: '', err: /answers Unauthorized: .*--token-file must hold a token/ })
  const distrusting = await wcp(['conformance', url, '--token-file', files.tokenFile])
  t.match(distrusting, { code: 1, err: /cannot be reached, .*check --ca and the URL/ })

  agent.child.kill('SIGTERM')
  const ended = await agent.ended
  t.match(ended, { code: 0, out: `provider fake listens at ${url}\n` }, 'one line, and no other')
  const down = await wcp(['conformance', ...common])
  t.match(down, { code: 1, err: new RegExp(`the provider at ${url} cannot be reached`) })
})

const curl = spawnSync('curl', ['--version']).status === 0 && spawnSync('openssl', ['version']).status === 0

t.test('docs/http-provider.md, word for word', { skip: !curl && 'there is no curl or openssl' }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'http-provider-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const main = join(import.meta.dirname, '../../src/cli/main.js')
  const port = await freePort()
  const shell = (script: string) => {
    const here = `wcp() { exec "${process.execPath}" "${main}" "$@"; }\n${script}`.replaceAll('9443', String(port))
    return spawn('bash', ['-euc', here], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  }
  const [agent = ''] = scriptsOf('docs/http-provider.md', 'agent')
  const lines = agent.split('\n')
  const prepared = await outputOf(
    shell(
      lines
        .slice(0, -1)
        .map((line) => `(${line})`)
        .join('\n'),
    ),
  )
  t.equal(prepared.code, 0, prepared.out)
  const child = shell(lines.at(-1) ?? '')
  t.teardown(() => child.kill())
  const listens = `provider fake listens at https://[::]:${port}`
  t.ok(PAGE.includes(listens.replace(String(port), '9443')), 'what the page says')
  await until(() => child.exitCode !== null || String(child.stdout.read() ?? '').includes(listens))

  const examples = scriptsOf('docs/http-provider.md', 'examples')
  t.equal(examples.length, 3)
  const runs = []
  for (const script of examples) runs.push(await outputOf(shell(script)))
  t.strictSame(
    runs.map(({ code }) => code),
    [0, 0, 0],
    runs.map(({ out }) => out).join('\n'),
  )
  t.match(runs[0]?.out, '{"name":"fake","serves":{"MultiClusterIngress":{"list":true,')
  const [, answer = ''] = /which answers `(\{.*\})`/.exec(PAGE) ?? []
  t.equal(runs[1]?.out, answer)
  t.match(runs[2]?.out, /fake: level 2 passed/)
})

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function outputOf(child: ChildProcessByStdio<null, Readable, Readable>) {
  let out = ''
  child.stdout.on('data', (chunk) => (out += chunk))
  child.stderr.resume()
  const [code] = await once(child, 'close')
  return { code: code as number, out }
}

t.test('a provider that does not keep its contract: exit code 1, with the check', async (t) => {
  const { loadBalancer } = createFakeProvider({ delayMs: 0, failure: () => undefined, clock: createManualClock() })
  if (loadBalancer === undefined) throw new TypeError('the fake serves no ingress')
  const forgetful = { name: 'wrong', loadBalancer: { ...loadBalancer, ensureLoadBalancerDeleted: async () => {} } }
  const { url, files } = await serveRemotely(t, forgetful)
  const args = ['conformance', url, '--ca', files.caFile, '--token-file', files.tokenFile, '--level', '1']
  t.match(await wcp(args), {
    code: 1,
    out: /\nfailed {2}MultiClusterIngress\/delete-removes\n {8}ensureDeleted returns only when the balancer is gone; but /,
  })
})

t.test('it does not start open, or with what cannot be used', async (t) => {
  const files = await providerFiles(t)
  const tls = ['--tls-cert', files.certFile, '--tls-key', files.keyFile]
  const token = ['--token-file', files.tokenFile]
  const other = join(files.folder, 'other')
  writeFileSync(other, 'short')
  writeFileSync(join(files.folder, 'bad.yaml'), 'delayMs: soon\nspeed: 3\n')
  for (const { args, says } of [
    { args: [], says: /^provider: name one provider/ },
    { args: ['fake'], says: /^provider: give --tls-cert and --tls-key/ },
    { args: ['fake', ...tls], says: /^provider: give --token-file/ },
    { args: ['fake', ...tls.slice(0, 2), ...token], says: /--tls-cert and --tls-key belong together/ },
    { args: ['fake', '--insecure'], says: /--insecure is for a loopback address only.*not ::$/ },
    { args: ['fake', '--insecure', '--listen', '10.0.0.1:1'], says: /--insecure is for a loopback address only/ },
    { args: ['fake', '--listen', 'here', ...tls, ...token], says: /^--listen: "here" is not an address and a port/ },
    { args: ['nobody', ...tls, ...token], says: /^ProviderUnknown: .*"nobody"/ },
    {
      args: ['fake', ...tls, '--token-file', other],
      says: /^ConfigurationInvalid: --token-file: .*at least 16 characters/,
    },
    {
      args: ['fake', '--tls-cert', files.keyFile, '--tls-key', files.keyFile, ...token],
      says: /^CertificateInvalid: --tls-cert: /,
    },
    {
      args: ['fake', ...tls, ...token, '--config', join(files.folder, 'bad.yaml')],
      says: /2 faults in the configuration:\n {2}speed: .*\n {2}delayMs: /,
    },
    {
      args: ['fake', ...tls, ...token, '--config', '/nowhere'],
      says: /^ConfigurationInvalid: the configuration file \/nowhere cannot be read/,
    },
  ]) {
    t.match(await wcp(['provider', ...args]), { code: 2, out: '', err: says }, args.join(' '))
  }
  for (const { args, says } of [
    { args: [], says: /give the URL of one provider/ },
    { args: ['nowhere'], says: /URL: must be the URL/ },
    { args: ['https://localhost:1', '--level', '3'], says: /--level: must be 1 or 2/ },
    { args: ['https://localhost:1', '--patience', '0'], says: /--patience: must be from 1 to 600/ },
    { args: ['https://localhost:1', '--ca', '/nowhere'], says: /--ca: \/nowhere cannot be read \(ENOENT\)/ },
    { args: ['https://localhost:1', '--node', files.tokenFile], says: /--node: .* holds no Node/ },
  ]) {
    t.match(await wcp(['conformance', ...args]), { code: 2, out: '', err: says }, args.join(' '))
  }
})

t.test('without TLS and token on a loopback address, when told so', async (t) => {
  const agent = startWcp(['provider', 'fake', '--insecure', '--listen', '127.0.0.1:0', '--log-level', 'silent'])
  const [, url = ''] = await agent.printed(/listens at (http:\S+)$/m)
  t.match(await wcp(['conformance', url, '--level', '1']), { code: 0, out: /fake: level 1 passed/ })
  agent.child.kill('SIGINT')
  t.match(await agent.ended, { code: 0, err: '' })
})

t.test('the whole function in front of an agent: an ingress is made, changed and removed', async (t) => {
  const files = await providerFiles(t)
  const agent = startWcp([
    ...['provider', 'fake', '--listen', '127.0.0.1:0', '--log-level', 'silent'],
    ...['--tls-cert', files.certFile, '--tls-key', files.keyFile, '--token-file', files.tokenFile],
  ])
  t.teardown(() => agent.child.kill('SIGTERM'))
  const [, url = ''] = await agent.printed(/listens at (https:\S+)$/m)
  const clock = createSystemClock()
  const options = parsedOptions({
    url,
    caFile: files.caFile,
    tokenFile: files.tokenFile,
    serves: { MultiClusterIngress: { list: true }, MultiClusterService: { list: true } },
  })
  const client = createProviderClient(options, createProtocolValidator(), clock)
  t.teardown(() => client.close())
  const directory = mkdtempSync(join(tmpdir(), 'agent-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  const provider = createHttpProvider(options, client)
  const local = await startLocal({ directory, port: 0, provider, clock, logger: silentLogger })
  t.teardown(() => local.close())

  const target = {
    group: 'networking.karmada.io',
    version: 'v1alpha1',
    plural: 'multiclusteringresses',
    namespace: 'shop',
  }
  const user = { user: { username: 'somebody', groups: ['system:masters'] } }
  const stored = () => local.core.list(target).items[0] as unknown as MultiClusterIngress | undefined
  const listed = () =>
    provider.loadBalancer?.listLoadBalancers?.({
      clusterId: 'default',
      signal: new AbortController().signal,
      logger: silentLogger,
    })
  const fingerprint = async (uid: string) => {
    const identity = {
      clusterId: 'default',
      kind: 'MultiClusterIngress',
      namespace: 'shop',
      name: 'storefront',
      uid,
    } as const
    const request = { object: buildIngress(), context: { identity, fence: '' } }
    return (await client.call('load-balancer/get', request, new AbortController().signal)).record?.fingerprint
  }

  await local.create([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } } as ApiObject,
    ...(buildServiceWorld('web') as unknown as ApiObject[]),
    buildIngress({ spec: { ...buildIngress().spec, ingressClassName: 'http' } }) as unknown as ApiObject,
  ])
  await until(() => (stored()?.status?.loadBalancer?.ingress?.length ?? 0) > 0)
  const { uid = '' } = stored()?.metadata ?? {}
  t.match(stored()?.metadata.finalizers, [/\/http$/])
  t.match(stored()?.status?.loadBalancer, { ingress: [{ ip: '192.0.2.1' }] })
  t.match(await listed(), [{ kind: 'MultiClusterIngress', name: 'storefront', uid }])
  const before = await fingerprint(uid)

  const rules = [
    {
      host: 'other.example.com',
      http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } }] },
    },
  ]
  await local.core.patch({ ...target, name: 'storefront' }, { type: 'merge', body: { spec: { rules } } }, user)
  await until(async () => (await fingerprint(uid)) !== before)
  t.match(stored()?.status?.loadBalancer, { ingress: [{ ip: '192.0.2.1' }] }, 'it stays the same balancer')

  await local.core.delete({ ...target, name: 'storefront' }, user)
  await until(() => stored() === undefined)
  t.strictSame(await listed(), [], 'no finalizer goes before the balancer')
})

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let left = 300; !(await holds()); left -= 1) {
    if (left === 0) throw new Error('it has not come about within 15 s')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const python = spawnSync('python3', ['--version']).status === 0

t.test('the provider in Python passes level 2', { skip: !python && 'there is no python3' }, async (t) => {
  const files = await providerFiles(t)
  const [, program = ''] = /^```python\n([\s\S]*?)^```$/m.exec(PAGE) ?? []
  const file = join(files.folder, 'provider.py')
  writeFileSync(file, program)
  const child = spawn('python3', [file, '0', files.certFile, files.keyFile, files.tokenFile], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.teardown(() => child.kill())
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk) => resolve(/https:\S+/.exec(String(chunk))?.[0] ?? ''))
    child.on('exit', (code) => reject(new Error(`python3 ended with ${code}`)))
  })
  const { code, out, err } = await wcp(['conformance', url, '--ca', files.caFile, '--token-file', files.tokenFile])
  t.equal(code, 0, `${out}${err}`)
  t.match(out, /\npython: level 2 passed: \d+ passed, 0 failed, 1 skipped$/m)
  t.match(await wcp(['conformance', url, '--ca', files.caFile]), { code: 1, err: /Unauthorized/ })
})

t.test('a provider that has something to start: tried again until it does, told once', async (t) => {
  const clock = createManualClock()
  const told: string[] = []
  const tell = (_: object, message: string) => void told.push(message)
  const logger = { ...silentLogger, info: tell, warn: tell }
  let attempts = 0
  const start = async () => {
    attempts += 1
    if (attempts < 4) throw new Error('the proxy beside it is down')
  }
  await startProvider({ name: 'acme', start }, { clock, logger })
  t.equal(attempts, 1, 'nobody waits for the others')
  await clock.advance(60_000)
  t.equal(attempts, 4)
  t.same(told, ['the provider cannot start yet', 'the provider has started'])

  attempts = 0
  const stop = await startProvider({ name: 'acme', start }, { clock, logger })
  stop()
  await clock.advance(60_000)
  t.equal(attempts, 1, 'not after it was stopped')
  await startProvider({ name: 'acme' }, { clock, logger })
})
