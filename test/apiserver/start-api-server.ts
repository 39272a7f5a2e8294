import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, rmSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCertificateAuthority } from '../../src/local/create-certificate-authority.ts'
import { type ApiClient, createApiClient } from '../contracts/kubernetes-api/api-client.ts'
import { eventually } from '../contracts/kubernetes-api/eventually.ts'
import { createTestAuthority } from '../support/test-authority.ts'
import type { Binaries } from './binaries.ts'

export interface ApiServerOptions {
  binaries: Binaries
  /** Users of the kubeconfig with which the API server calls webhooks, beside `*`: `host:port` and a token. */
  webhookUsers?: readonly { name: string; token: string }[]
  log?: (line: string) => void
}

/** A kube-apiserver with its etcd, on loopback, with nothing else of Kubernetes: no controllers, no scheduler. */
export interface ApiServer {
  url: string
  caPem: string
  version: string
  /** Of a member of system:masters. */
  adminToken: string
  /** Of user `plain`, who may do nothing until a role is bound. */
  plainToken: string
  /** What the API server says to webhooks that no kubeconfig user names: `Authorization: Bearer …`. */
  webhookToken: string
  /** The name in the client certificate that it shows to the same, where they ask for one. */
  webhookClientName: string
  /** The authority of that certificate, in a file. */
  webhookClientCaFile: string
  /** A kubeconfig for whoever has the token. */
  kubeconfig(token: string): string
  /** The admin's. */
  kubeconfigPath: string
  /** The binary. */
  kubectl: string
  /** For files of the caller; goes with the server. */
  directory: string
  /** What ServiceAccounts of `webhook-cloud-provider` asked for: one audit event a line, without bodies. */
  auditLogPath: string
  /** The API server only: etcd keeps what is stored, the API server's caches are gone. */
  restart(): Promise<void>
  /** Has etcd forget every revision but the newest. Open watches do not notice; after a restart they would. */
  compact(): Promise<void>
  /** With `failed`, the logs stay and their last lines are printed. */
  stop(options?: { failed?: boolean }): Promise<void>
}

const ADMIN_TOKEN = 'admin-token'
const PLAIN_TOKEN = 'plain-token'
const WEBHOOK_TOKEN = 'token-of-star-0123456789'
const WEBHOOK_CLIENT = 'kube-apiserver-webhooks'
const WEBHOOK_CLIENT_CA = 'webhook-client-ca.crt'
const AUDIT_LOG = 'audit.log'
const AUDITED_GROUP = 'system:serviceaccounts:webhook-cloud-provider'
const START_LIMIT_MS = 60_000
const STOP_LIMIT_MS = 5_000
const LAST_LINES = 40

export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { binaries, log = () => {} } = options
  const directory = await mkdtemp(join(tmpdir(), 'kube-apiserver-'))
  const processes = new ProcessGroup(directory, log)
  try {
    const [etcdPort, peerPort, apiPort] = await freePorts()
    const url = `https://127.0.0.1:${apiPort}`
    const etcdUrl = `http://127.0.0.1:${etcdPort}`
    const caPem = await writeFiles(directory, options)
    const apiServerFlags = flagsOfApiServer(directory, etcdUrl, apiPort)
    const admin = createApiClient({ url, caPem, token: ADMIN_TOKEN })
    const startApiServerProcess = async () => {
      processes.start('kube-apiserver', binaries.kubeApiserver, apiServerFlags)
      await processes.whileRunning(readyToServe(admin))
    }

    processes.start('etcd', binaries.etcd, flagsOfEtcd(directory, etcdUrl, `http://127.0.0.1:${peerPort}`))
    await processes.whileRunning(etcdReady(etcdUrl))
    await startApiServerProcess()

    const kubeconfig = (token: string) => kubeconfigFor(url, caPem, token)
    const kubeconfigPath = join(directory, 'kubeconfig.json')
    await writeFile(kubeconfigPath, kubeconfig(ADMIN_TOKEN))
    return {
      url,
      caPem,
      version: binaries.version,
      adminToken: ADMIN_TOKEN,
      plainToken: PLAIN_TOKEN,
      webhookToken: WEBHOOK_TOKEN,
      webhookClientName: WEBHOOK_CLIENT,
      webhookClientCaFile: join(directory, WEBHOOK_CLIENT_CA),
      kubeconfig,
      kubeconfigPath,
      kubectl: binaries.kubectl,
      directory,
      auditLogPath: join(directory, AUDIT_LOG),
      async restart() {
        await processes.stop('kube-apiserver')
        await startApiServerProcess()
      },
      compact: () => compactEtcd(etcdUrl),
      async stop({ failed = false } = {}) {
        await admin.close()
        await processes.end(failed)
      },
    }
  } catch (error) {
    await processes.end(true)
    throw error
  }
}

async function freePorts(): Promise<[number, number, number]> {
  // All are held until the last is known: the kernel could otherwise give one twice.
  const servers = [createServer(), createServer(), createServer()] as const
  const port = async (server: (typeof servers)[number]) => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  }
  const [a, b, c] = servers
  const ports: [number, number, number] = [await port(a), await port(b), await port(c)]
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

async function writeFiles(directory: string, { webhookUsers = [] }: ApiServerOptions): Promise<string> {
  const authority = createCertificateAuthority(Date.now(), 'api server')
  const serving = authority.issueServingCertificate(['127.0.0.1', 'localhost'])
  const signing = authority.issueServingCertificate(['service-accounts'])
  const clients = await createTestAuthority('clients of webhooks')
  const client = await clients.issue({ commonNames: [WEBHOOK_CLIENT], usage: 'client' })
  const certificate = {
    'client-certificate-data': Buffer.from(client.cert).toString('base64'),
    'client-key-data': Buffer.from(client.key).toString('base64'),
  }
  const users = [
    ...webhookUsers.filter(({ name }) => name !== '*').map(({ name, token }) => ({ name, user: { token } })),
    { name: '*', user: { token: WEBHOOK_TOKEN, ...certificate } },
  ]
  const webhookKubeconfig = join(directory, 'webhook-kubeconfig.json')
  const files: Record<string, string> = {
    'ca.crt': authority.caPem,
    'tls.crt': serving.certPem,
    'tls.key': serving.keyPem,
    'service-account.crt': signing.certPem,
    'service-account.key': signing.keyPem,
    'tokens.csv': `${ADMIN_TOKEN},admin,admin,"system:masters"\n${PLAIN_TOKEN},plain,plain\n`,
    'admission.yaml': admissionConfiguration(webhookKubeconfig),
    'audit.yaml': auditPolicy(),
    'webhook-kubeconfig.json': JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      users,
    }),
    [WEBHOOK_CLIENT_CA]: clients.caPem,
  }
  for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), content, { mode: 0o600 })
  return authority.caPem
}

// JSON is YAML.
function admissionConfiguration(kubeConfigFile: string): string {
  const configuration = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'WebhookAdmissionConfiguration',
    kubeConfigFile,
  }
  return JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AdmissionConfiguration',
    plugins: ['MutatingAdmissionWebhook', 'ValidatingAdmissionWebhook'].map((name) => ({ name, configuration })),
  })
}

function auditPolicy(): string {
  return JSON.stringify({
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    rules: [{ level: 'Metadata', userGroups: [AUDITED_GROUP] }, { level: 'None' }],
  })
}

function flagsOfEtcd(directory: string, clientUrl: string, peerUrl: string): string[] {
  return [
    '--name=test',
    `--data-dir=${join(directory, 'etcd')}`,
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=test=${peerUrl}`,
    '--unsafe-no-fsync',
  ]
}

function flagsOfApiServer(directory: string, etcdUrl: string, port: number): string[] {
  const file = (name: string) => join(directory, name)
  return [
    `--etcd-servers=${etcdUrl}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${port}`,
    `--tls-cert-file=${file('tls.crt')}`,
    `--tls-private-key-file=${file('tls.key')}`,
    `--client-ca-file=${file('ca.crt')}`,
    `--token-auth-file=${file('tokens.csv')}`,
    // Where its keys can be read, too.
    `--service-account-issuer=https://127.0.0.1:${port}`,
    `--service-account-key-file=${file('service-account.crt')}`,
    `--service-account-signing-key-file=${file('service-account.key')}`,
    '--authorization-mode=RBAC',
    '--service-cluster-ip-range=10.0.0.0/24',
    // As Karmada's; without its controller no ServiceAccount would ever be there for a Pod.
    '--disable-admission-plugins=ServiceAccount',
    `--admission-control-config-file=${file('admission.yaml')}`,
    `--audit-policy-file=${file('audit.yaml')}`,
    `--audit-log-path=${file(AUDIT_LOG)}`,
    // Never rotated: what was read up to a place stays before it.
    '--audit-log-maxsize=0',
    '--endpoint-reconciler-type=none',
    `--cert-dir=${file('certs')}`,
  ]
}

async function etcdReady(etcdUrl: string): Promise<void> {
  await eventually(async () => {
    const { ok } = await fetch(`${etcdUrl}/readyz`)
    if (!ok) throw new Error('etcd is not ready')
  }, START_LIMIT_MS)
}

// After a restart /readyz is not enough: the first to ask for a custom resource may be told that its storage is
// (re)initializing.
async function readyToServe(admin: ApiClient): Promise<void> {
  const ask = async (path: string) => {
    const answer = await admin.get(path)
    if (answer.code !== 200) throw new Error(`${path} answers ${answer.code}: ${answer.text.slice(-500)}`)
    return answer.body
  }
  await eventually(() => ask('/readyz'), START_LIMIT_MS)
  const { items = [] } = await ask('/apis/apiextensions.k8s.io/v1/customresourcedefinitions')
  for (const { spec } of items) {
    const { group, versions, names } = spec as unknown as CustomResource
    for (const { name } of versions.filter(({ served }) => served))
      await eventually(() => ask(`/apis/${group}/${name}/${names.plural}?resourceVersion=0`), START_LIMIT_MS)
  }
}

interface CustomResource {
  group: string
  names: { plural: string }
  versions: { name: string; served: boolean }[]
}

async function compactEtcd(etcdUrl: string): Promise<void> {
  const ask = async (path: string, body: unknown) => {
    const response = await fetch(`${etcdUrl}${path}`, { method: 'POST', body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`etcd ${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as { header: { revision: string } }
  }
  const { header } = await ask('/v3/maintenance/status', {})
  await ask('/v3/kv/compaction', { revision: header.revision, physical: true })
}

function kubeconfigFor(server: string, caPem: string, token: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'test', cluster: { server, 'certificate-authority-data': Buffer.from(caPem).toString('base64') } },
    ],
    users: [{ name: 'test', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  })
}

/** The processes of one server and the directory they share: they end together, however this process ends. */
class ProcessGroup {
  readonly #running = new Map<string, ChildProcess>()
  readonly #directory: string
  readonly #log: (line: string) => void
  readonly #dieWithUs = () => {
    for (const child of this.#running.values()) child.kill('SIGKILL')
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 5 })
  }
  readonly #onSignal = (signal: NodeJS.Signals) => process.exit(signal === 'SIGINT' ? 130 : 143)

  constructor(directory: string, log: (line: string) => void) {
    this.#directory = directory
    this.#log = log
    process.once('exit', this.#dieWithUs)
    process.once('SIGINT', this.#onSignal)
    process.once('SIGTERM', this.#onSignal)
  }

  start(name: string, binary: string, parameters: readonly string[]): void {
    const output = openSync(join(this.#directory, `${name}.log`), 'a')
    const child = spawn(binary, parameters, { stdio: ['ignore', output, output], cwd: this.#directory })
    closeSync(output)
    this.#running.set(name, child)
    const forget = () => {
      if (this.#running.get(name) === child) this.#running.delete(name)
    }
    child.once('exit', forget).once('error', forget)
  }

  /** What is awaited, unless a process ends first. */
  async whileRunning<T>(awaited: Promise<T>): Promise<T> {
    const children = [...this.#running]
    const cleanups: (() => void)[] = []
    const ended = children.map(
      ([name, child]) =>
        new Promise<never>((_, reject) => {
          const report = () => reject(new Error(`${name} ended (exit ${child.exitCode ?? child.signalCode})`))
          if (child.exitCode !== null) report()
          child.once('exit', report).once('error', reject)
          cleanups.push(() => child.off('exit', report).off('error', reject))
        }),
    )
    try {
      return await Promise.race([awaited, ...ended])
    } finally {
      for (const cleanup of cleanups) cleanup()
      awaited.catch(() => {})
    }
  }

  async stop(name: string): Promise<void> {
    const child = this.#running.get(name)
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    // Open watches can hold an API server back for a minute.
    const impatient = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS)
    await gone
    clearTimeout(impatient)
  }

  async end(failed: boolean): Promise<void> {
    if (failed) await this.#keepLogs()
    for (const name of [...this.#running.keys()].reverse()) {
      this.#running.get(name)?.kill('SIGKILL')
      await this.stop(name)
    }
    process.off('exit', this.#dieWithUs)
    process.off('SIGINT', this.#onSignal)
    process.off('SIGTERM', this.#onSignal)
    await rm(this.#directory, { recursive: true, force: true, maxRetries: 5 })
  }

  async #keepLogs(): Promise<void> {
    const kept = await mkdtemp(join(tmpdir(), 'kube-apiserver-logs-'))
    for (const name of ['etcd.log', 'kube-apiserver.log']) {
      const lines = (await readFile(join(this.#directory, name), 'utf8').catch(() => '')).trimEnd().split('\n')
      this.#log(`the last lines of ${name}:`)
      for (const line of lines.slice(-LAST_LINES)) this.#log(`  ${line}`)
      await writeFile(join(kept, name), lines.join('\n'))
    }
    this.#log(`the whole logs are in ${kept}`)
  }
}
