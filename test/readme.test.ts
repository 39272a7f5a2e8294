import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { createPinoLogger } from '../src/adapters/logging/pino-logger.ts'
import { createSystemClock } from '../src/adapters/system/system-clock.ts'
import { runDemo } from '../src/cli/demo.ts'
import { startLocal } from '../src/compose/start-local.ts'
import { openDoors } from '../src/config/caller-faults.ts'
import { parseConfig } from '../src/config/parse-config.ts'
import { ERROR_CODES } from '../src/domain/catalogue-error.ts'
import type { ProviderContext } from '../src/provider/multicluster.ts'
import { createFakeProvider } from '../src/providers/fake/fake-provider.ts'
import { examineProvider, formatReport } from '../src/testing/conformance.ts'
import { acmeProvider } from './readme/provider.ts'
import { buildIngress } from './support/build-objects.ts'
import { findKubectl } from './support/find-kubectl.ts'
import { followStep, pathWith, walkThroughSteps } from './support/walk-through.ts'

const ROOT = join(import.meta.dirname, '..')
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')

/** The fenced block of this language that follows the marker. */
function block(language: string, after = ''): string {
  const start = readme.indexOf(`\`\`\`${language}\n`, readme.indexOf(after))
  const text = readme.slice(start + language.length + 4, readme.indexOf('\n```', start + 3))
  if (start < 0) throw new Error(`README has no ${language} block after "${after}"`)
  return text
}

t.test('the catalogue of errors is in the README, and nothing else', async (t) => {
  const rows = [...readme.matchAll(/^\| `(\w+)` \| (\w+) \| (.+) \|$/gm)].map(([, code, retry, meaning]) => [
    code,
    { retry, meaning },
  ])
  t.same(Object.fromEntries(rows), ERROR_CODES)
})

t.test('the configuration file of the README is valid', async (t) => {
  const { config, faults } = parseConfig(block('yaml'), {})
  t.same(faults, [])
  t.same(config && openDoors(config.callers, config.server), [], 'it leaves no door open')
})

t.test('the provider of the README is the one that is tested, and works', async (t) => {
  t.equal(block('ts'), readFileSync(join(ROOT, 'test/readme/provider.ts'), 'utf8').trimEnd())
  const balancers = new Map<string, { address?: string; fingerprint: string }>()
  const cloud = createServer((request, response) => {
    const uid = request.url?.split('/').at(-1) ?? ''
    let text = ''
    request.on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      const known = balancers.get(uid)
      if (request.method === 'PUT')
        balancers.set(uid, { ...(known && { address: '192.0.2.7' }), fingerprint: JSON.parse(text).fingerprint })
      if (request.method === 'DELETE') balancers.delete(uid)
      const found = request.method === 'PUT' ? balancers.get(uid) : known
      response
        .writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' })
        .end(JSON.stringify(found ?? {}))
    })
  })
  await new Promise<void>((resolve) => cloud.listen(0, '127.0.0.1', resolve))
  t.teardown(() => cloud.close())
  const createProvider = () => acmeProvider(`http://127.0.0.1:${(cloud.address() as AddressInfo).port}`, 'token')
  const { loadBalancer } = createProvider()
  if (loadBalancer === undefined) throw new Error('the provider serves no ingress')
  const context = { identity: { uid: 'u1' }, fingerprint: 'f1', signal: AbortSignal.timeout(5_000) } as ProviderContext
  const ingress = buildIngress()
  t.equal(await loadBalancer.getLoadBalancer(ingress, context), undefined)
  await t.rejects(loadBalancer.ensureLoadBalancer(ingress, context), { name: 'Error', message: /acme is still/ })
  t.same(await loadBalancer.ensureLoadBalancer(ingress, context), { status: { ingress: [{ ip: '192.0.2.7' }] } })
  t.same(await loadBalancer.getLoadBalancer(ingress, context), {
    status: { ingress: [{ ip: '192.0.2.7' }] },
    fingerprint: 'f1',
  })
  t.match(await loadBalancer.updateLoadBalancer(ingress, context), { changed: true })
  await t.rejects(loadBalancer.ensureLoadBalancerDeleted(ingress, context), {
    name: 'Error',
    message: /acme is removing/,
  })
  t.equal(await loadBalancer.ensureLoadBalancerDeleted(undefined, context), undefined)

  // This cloud is quick: what says `RetryAfter` is asked again at once.
  const clock = { now: () => performance.now(), wait: () => new Promise<void>((resolve) => setImmediate(resolve)) }
  const report = await examineProvider({ createProvider, level: 2, clock })
  t.ok(report.passed, formatReport(report))
})

t.test('the cloud of docs/write-a-provider.md is the one that is compiled', async (t) => {
  const page = readFileSync(join(ROOT, 'docs/write-a-provider.md'), 'utf8')
  t.ok(page.includes(`\`\`\`ts\n${readFileSync(join(ROOT, 'test/readme/registered-cloud.ts'), 'utf8')}\`\`\`\n`))
})

const kubectl = findKubectl()
const skip =
  kubectl === undefined && 'no kubectl: set KUBECTL, or put one on the PATH (https://kubernetes.io/docs/tasks/tools)'

t.test('the walk-through with kubectl, word for word', { skip }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'readme-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  const clock = createSystemClock()
  const provider = createFakeProvider({ delayMs: 0, failure: () => undefined, clock })
  const logger = createPinoLogger({ level: 'error', destination: process.stderr })
  const local = await startLocal({ directory, port: 0, provider, clock, logger })
  t.teardown(() => local.close())
  const lines: string[] = []
  const console = {
    out: (line: string) => void lines.push(line),
    err: (line: string) => void lines.push(line),
    env: {},
    interrupted: Promise.resolve(),
  }
  t.equal(await runDemo(local, { provider, clock, console, demo: false, interrupted: Promise.resolve() }), 0)
  t.ok(lines.includes(`export KUBECONFIG=${local.kubeconfigPath}`))
  const environment = { ...process.env, KUBECONFIG: local.kubeconfigPath, PATH: pathWith(kubectl ?? '') }
  for (const step of walkThroughSteps()) {
    const { actual, expected } = await followStep(step, environment)
    t.equal(actual, expected, step.command)
  }
})
