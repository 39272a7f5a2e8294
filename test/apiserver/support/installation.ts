import assert from 'node:assert/strict'
import { mkdtemp, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Agent, request } from 'undici'
import {
  type CertificateAuthority,
  createCertificateAuthority,
} from '../../../src/adapters/certificates/certificate-authority.ts'
import { createPinoLogger } from '../../../src/adapters/logging/pino-logger.ts'
import { createSystemClock } from '../../../src/adapters/system/system-clock.ts'
import { type DrainResult, drainObjects } from '../../../src/compose/drain-objects.ts'
import { loadSettings } from '../../../src/compose/load-settings.ts'
import { type ServedFunction, serve } from '../../../src/compose/serve.ts'
import { webhookConfigurations } from '../../../src/compose/webhook-configurations.ts'
import type { SweepReport, SweepScope } from '../../../src/domain/sweep-report.ts'
import type { MultiClusterProvider } from '../../../src/provider/multicluster.ts'
import { createProviderRegistry } from '../../../src/provider/registry.ts'
import type { FakeBalancer, FakeCloud } from '../../../src/providers/fake/fake-cloud.ts'
import { createFakeProvider, type FakeProvider } from '../../../src/providers/fake/fake-provider.ts'
import type { ApiClient, Body } from '../../contracts/kubernetes-api/api-client.ts'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import type { ScenarioContext } from '../scenario.ts'
import { type AuditLog, openAuditLog } from './audit-log.ts'
import { addressesOf, collectionPath, ingress, ingressPath, type Plural } from './balanced-objects.ts'
import { emptyNamespace } from './empty-namespace.ts'
import type { Door } from './review-front.ts'
import { difference, webhookCalls } from './server-metrics.ts'

export const FINALIZER = 'webhook-cloud-provider.dev/fake'
export const IDENTITY = 'system:serviceaccount:webhook-cloud-provider:webhook-cloud-provider'

const ACCOUNT = 'webhook-cloud-provider'
const WATCH_ACCOUNT = 'webhook-cloud-provider-watch'
const ALL_DOORS: readonly Door[] = ['mutate', 'validate', 'notify']
const KINDS: readonly Plural[] = ['multiclusteringresses', 'multiclusterservices']
const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1'
const MANIFESTS = join(import.meta.dirname, '../../../manifests')
const PORT_OF_ANY = 0

/** Below `manifests/`: what function and watch may do on Karmada's API server. */
export const KARMADA_ROLES = [
  'base/karmada/rbac.yaml',
  'components/several-instances/karmada/rbac.yaml',
  'components/watch/karmada/rbac.yaml',
]

/**
 * The function as a user installs it on the API server: its ServiceAccount and role from manifests/, a kubeconfig with
 * a token of that account, a serving certificate in files, its webhooks. The cloud is the fake one, and outlives it.
 */
export interface Installation {
  /** Made for this installation; more can be made with `namespaceNamed`. */
  namespace: string
  directory: string
  configFile: string
  /** As the ServiceAccount of `wcp watch`. */
  watchKubeconfig: string
  /** Where the function listens, from the first start on. */
  url: string
  caPem: string
  cloud: FakeCloud
  audit: AuditLog
  namespaceNamed(suffix: string): Promise<string>
  start(): Promise<void>
  stop(): Promise<void>
  /** Once whoever listens at `url` is ready. */
  ready(): Promise<void>
  /** Registers these doors, or all, in place of those before; returns when the API server calls them and no other. */
  register(options?: { doors?: readonly Door[]; at?: { url: string; caPem: string } }): Promise<void>
  sweep(scope?: SweepScope): Promise<SweepReport>
  /** As `wcp drain`, with the cloud of this installation; its lines. */
  drain(how?: { dryRun?: boolean }): Promise<DrainResult & { lines: string[] }>
  /** A new certificate of the same authority. `swapped`: the files are replaced as a whole; else they are rewritten. */
  renewCertificate(how: 'swapped' | 'rewritten'): Promise<void>
  /** Log lines of this level and above, as objects. */
  logged(level: 'warn' | 'error'): Record<string, unknown>[]
  /** Fails unless every object of these namespaces is held and published, each by one balancer, and there is no other. */
  converged(expected: number, namespaces?: readonly string[]): Promise<void>
  balancersIn(namespaces: readonly string[]): FakeBalancer[]
}

export interface InstallationOptions {
  /** Beside the usual settings. */
  config?: Record<string, unknown>
  /** Before the doors. */
  pathPrefix?: string
  /** How long the cloud takes to make the balancer of the ingress of this name. */
  makingTakesMs?: (name: string) => number
}

/** Runs the story with an installation of its own, and takes everything away afterwards. */
export async function withInstallation(
  context: ScenarioContext,
  name: string,
  story: (installation: Installation) => Promise<void>,
  options: InstallationOptions = {},
): Promise<void> {
  const installed = await install(context, name, options)
  try {
    await story(installed.installation)
    // A fault of the program is one in every scenario.
    assert.deepEqual(
      installed.installation.logged('error').filter(({ msg }) => msg !== 'renewed certificate not used'),
      [],
    )
  } catch (error) {
    for (const line of installed.installation.logged('warn').slice(-10)) context.log(JSON.stringify(line))
    throw error
  } finally {
    await installed.remove()
  }
}

async function install(context: ScenarioContext, name: string, options: InstallationOptions) {
  const { server, admin, kubectl } = context
  await applyAccountAndRole(kubectl)
  await createIngressClasses(admin)
  const directory = await mkdtemp(join(server.directory, 'function-'))
  const authority = await createCertificateAuthority(Date.now(), 'function')
  const files = new Files(directory, authority)
  await files.writeKubeconfig('kubeconfig.json', server.kubeconfig(await tokenOf(admin, ACCOUNT)))
  await files.writeKubeconfig('watch-kubeconfig.json', server.kubeconfig(await tokenOf(admin, WATCH_ACCOUNT)))
  await files.renewCertificate('rewritten')
  const probe = await createNamespace(admin, `${name}-probe`)
  const namespaces = [await createNamespace(admin, name)]
  const clock = createSystemClock()
  const fake = createFakeProvider({ delayMs: 0, failure: () => undefined, clock })
  const provider = slowedDown(fake, options.makingTakesMs ?? (() => 0))
  const registry = createProviderRegistry({ fake: () => provider })
  const dispatcher = new Agent({ connect: { ca: authority.caPem }, headersTimeout: 0 })
  const logLines: string[] = []
  const { pathPrefix, config: more = {} } = options
  let served: ServedFunction | undefined
  let port = PORT_OF_ANY

  const settings = async () =>
    loadSettings({
      text: await readFile(files.config, 'utf8'),
      environment: {},
      registry,
      clock,
      createLogger: (level) => createPinoLogger({ level, destination: { write: (line) => void logLines.push(line) } }),
    })

  const installation: Installation = {
    namespace: name,
    directory,
    configFile: files.config,
    watchKubeconfig: join(directory, 'watch-kubeconfig.json'),
    get url() {
      return `https://127.0.0.1:${port}${pathPrefix ?? ''}`
    },
    caPem: authority.caPem,
    cloud: fake.cloud,
    audit: await openAuditLog(server.auditLogPath),
    async namespaceNamed(suffix) {
      const created = await createNamespace(admin, `${name}-${suffix}`)
      namespaces.push(created)
      return created
    },
    async start() {
      await files.writeConfig({ clusterId: name, port, pathPrefix, more })
      served = await serve(await settings(), clock)
      port = served.port
      await files.writeConfig({ clusterId: name, port, pathPrefix, more })
    },
    async stop() {
      await served?.close()
      served = undefined
    },
    async ready() {
      await eventually(async () => {
        const answer = await request(`${new URL(installation.url).origin}/readyz`, { dispatcher })
        await answer.body.dump()
        assert.equal(answer.statusCode, 200, 'readyz')
      }, 20_000)
    },
    async register({ doors = ALL_DOORS, at = installation } = {}) {
      await unregister(admin)
      const { url, caPem } = at
      for (const configuration of webhookConfigurations({ url, caPem, finalizer: FINALIZER, identity: IDENTITY })) {
        // `notify.…`, and `notify-services.…` and its like.
        const webhooks = configuration.webhooks.filter(({ name }) => doors.some((door) => name.startsWith(door)))
        if (webhooks.length > 0)
          await mustBe(201, admin.post(collectionOf(configuration.kind), { ...configuration, webhooks }))
      }
      await inForce(admin, probe, doors)
    },
    async sweep(scope = 'all') {
      const total: SweepReport = {
        scope,
        listed: 0,
        outcomes: { settled: 0, gone: 0, ignored: 0, later: 0, failed: 0 },
        orphans: { found: 0, removed: 0 },
      }
      let token: string | undefined
      do {
        const query = new URLSearchParams({ scope, ...(token === undefined ? {} : { continue: token }) })
        const answer = await request(`${installation.url}/sweep?${query}`, { method: 'POST', dispatcher })
        const text = await answer.body.text()
        assert.ok([200, 503].includes(answer.statusCode), `the sweep answers ${answer.statusCode}: ${text}`)
        const report = JSON.parse(text) as SweepReport
        assert.ok('outcomes' in report, `the sweep answers ${answer.statusCode}: ${text}`)
        total.listed += report.listed
        for (const outcome of ['settled', 'gone', 'ignored', 'later', 'failed'] as const)
          total.outcomes[outcome] += report.outcomes[outcome]
        token = report.continue
      } while (token !== undefined)
      return total
    },
    async drain({ dryRun = false } = {}) {
      const lines: string[] = []
      const signal = AbortSignal.timeout(60_000)
      const report = (line: string) => void lines.push(line)
      const result = await drainObjects(await settings(), clock, { keepBalancers: false, dryRun, report, signal })
      return { ...result, lines }
    },
    renewCertificate: (how) => files.renewCertificate(how),
    logged(level) {
      const least = level === 'warn' ? 40 : 50
      return logLines
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter((line) => Number(line['level']) >= least)
    },
    balancersIn: (wanted) => fake.cloud.balancers().filter(({ identity }) => wanted.includes(identity.namespace)),
    async converged(expected, wanted = [name]) {
      const objects = await objectsIn(admin, wanted)
      assert.equal(objects.length, expected, 'objects')
      assertServed(objects, installation.balancersIn(wanted))
    },
  }

  return {
    installation,
    async remove() {
      await unregister(admin)
      await installation.stop()
      await dispatcher.destroy()
      for (const plural of KINDS) await removeAll(admin, plural)
      for (const namespace of [...namespaces, probe]) await removeNamespace(admin, namespace)
    },
  }
}

function slowedDown(fake: FakeProvider, makingTakesMs: (name: string) => number): MultiClusterProvider {
  const { loadBalancer } = fake
  if (loadBalancer === undefined) return fake
  return {
    ...fake,
    loadBalancer: {
      ...loadBalancer,
      async ensureLoadBalancer(ingress, context) {
        const result = await loadBalancer.ensureLoadBalancer(ingress, context)
        const ms = makingTakesMs(ingress.metadata.name)
        if (ms > 0) await pause(ms)
        return result
      },
    },
  }
}

class Files {
  readonly config: string
  readonly #directory: string
  readonly #authority: CertificateAuthority

  constructor(directory: string, authority: CertificateAuthority) {
    this.config = join(directory, 'config.json')
    this.#directory = directory
    this.#authority = authority
  }

  async writeKubeconfig(name: string, text: string): Promise<void> {
    await writeFile(this.#path(name), text, { mode: 0o600 })
  }

  async writeConfig(settings: {
    clusterId: string
    port: number
    pathPrefix: string | undefined
    more: object
  }): Promise<void> {
    const { clusterId, port, pathPrefix, more } = settings
    const tls = { certFile: this.#path('tls.crt'), keyFile: this.#path('tls.key') }
    const config = {
      clusterId,
      provider: { name: 'fake' },
      callers: { anyone: true },
      identity: IDENTITY,
      ingressClass: { names: ['fake'], default: true },
      kubernetes: { kubeconfig: this.#path('kubeconfig.json') },
      server: { host: '127.0.0.1', port, tls, ...(pathPrefix === undefined ? {} : { pathPrefix }) },
      shutdown: { drainMs: 2_000 },
      ...more,
    }
    await writeFile(this.config, JSON.stringify(config))
  }

  async renewCertificate(how: 'swapped' | 'rewritten'): Promise<void> {
    const { certPem, keyPem } = await this.#authority.issueServingCertificate(['127.0.0.1'])
    for (const [name, text] of Object.entries({ 'tls.crt': certPem, 'tls.key': keyPem })) {
      const path = this.#path(name)
      await writeFile(how === 'swapped' ? `${path}.new` : path, text, { mode: 0o600 })
      if (how === 'swapped') await rename(`${path}.new`, path)
    }
  }

  #path(name: string): string {
    return join(this.#directory, name)
  }
}

export async function applyAccountAndRole(kubectl: ScenarioContext['kubectl']): Promise<void> {
  for (const file of [
    'base/karmada/namespace.yaml',
    'base/karmada/service-account.yaml',
    'components/watch/karmada/service-account.yaml',
    ...KARMADA_ROLES,
  ])
    await kubectl(['apply', '-f', join(MANIFESTS, file)])
}

/** Ours, the default, and `another`, which is not. */
async function createIngressClasses(admin: ApiClient): Promise<void> {
  const annotations = { 'ingressclass.kubernetes.io/is-default-class': 'true' }
  const classes = [
    { metadata: { name: 'fake', annotations }, spec: { controller: FINALIZER } },
    { metadata: { name: 'another' }, spec: { controller: 'example.com/another' } },
  ]
  for (const each of classes) {
    const object = { apiVersion: 'networking.k8s.io/v1', kind: 'IngressClass', ...each }
    const answer = await admin.post('/apis/networking.k8s.io/v1/ingressclasses', object)
    assert.ok([201, 409].includes(answer.code), answer.text)
  }
}

export async function tokenOf(admin: ApiClient, account: string): Promise<string> {
  const path = `/api/v1/namespaces/${ACCOUNT}/serviceaccounts/${account}/token`
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3_600 } }
  const { status } = await mustBe(201, admin.post(path, request))
  return (status as { token: string }).token
}

async function createNamespace(admin: ApiClient, name: string): Promise<string> {
  await mustBe(201, admin.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }))
  return name
}

async function removeNamespace(admin: ApiClient, name: string): Promise<void> {
  const { code } = await admin.delete(`/api/v1/namespaces/${name}`)
  if (code === 200 || code === 409) await emptyNamespace(admin, name, 10_000)
}

/** Whatever holds them: what a scenario left when it failed must not trouble the next. */
export async function removeAll(admin: ApiClient, plural: Plural): Promise<void> {
  const { items = [] } = await admin.get(collectionPath(plural)).then(({ body }) => body)
  for (const { metadata } of items) {
    const path = `/apis/networking.karmada.io/v1alpha1/namespaces/${metadata.namespace}/${plural}/${metadata.name}`
    await admin.delete(path)
    await admin.patch('merge-patch', path, { metadata: { finalizers: null } })
  }
}

export async function unregister(admin: ApiClient): Promise<void> {
  for (const kind of ['mutating', 'validating'])
    await admin.delete(`${CONFIGURATIONS}/${kind}webhookconfigurations/webhook-cloud-provider`)
}

function collectionOf(kind: string): string {
  return `${CONFIGURATIONS}/${kind.toLowerCase()}s`
}

/** A dry run of a create passes every door that is open, and is stored nowhere. */
async function inForce(admin: ApiClient, namespace: string, doors: readonly Door[]): Promise<void> {
  const expected = { mutate: 0, validate: 0, notify: 0 }
  for (const door of doors) expected[door] = 1
  await eventually(async () => {
    const before = await webhookCalls(admin)
    await mustBe(201, admin.post(`${ingressPath(namespace)}?dryRun=All`, ingress('probe')))
    assert.deepEqual(difference(await webhookCalls(admin), before), expected, 'calls of the doors')
  }, 20_000)
}

async function objectsIn(admin: ApiClient, namespaces: readonly string[]): Promise<Body[]> {
  const lists = await Promise.all(KINDS.map((plural) => mustBe(200, admin.get(collectionPath(plural)))))
  return lists
    .flatMap(({ items = [] }) => items)
    .filter(({ metadata }) => namespaces.includes(metadata.namespace ?? ''))
}

function assertServed(objects: readonly Body[], balancers: readonly FakeBalancer[]): void {
  const unheld = objects.filter(({ metadata }) => metadata.finalizers?.includes(FINALIZER) !== true)
  assert.deepEqual(unheld.map(nameOf), [], 'objects without our finalizer')
  const addresses = new Map(balancers.map(({ identity, address }) => [identity.uid, address]))
  const unpublished = objects.filter(
    (object) => addressesOf(object).join() !== addresses.get(object.metadata.uid ?? ''),
  )
  assert.deepEqual(unpublished.map(nameOf), [], 'objects whose status is not the address of their balancer')
  assert.equal(addresses.size, balancers.length, 'balancers of one object')
  const uids = new Set(objects.map(({ metadata }) => metadata.uid))
  const orphans = balancers.filter(({ identity }) => !uids.has(identity.uid))
  assert.deepEqual(
    orphans.map(({ identity }) => identity.name),
    [],
    'balancers without an object',
  )
}

function nameOf({ kind, metadata }: Body): string {
  return `${kind} ${metadata.namespace}/${metadata.name}`
}
