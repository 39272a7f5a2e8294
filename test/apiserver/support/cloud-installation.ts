import assert from 'node:assert/strict'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { parseAllDocuments } from 'yaml'
import { createCertificateAuthority } from '../../../src/adapters/certificates/certificate-authority.ts'
import { createPinoLogger } from '../../../src/adapters/logging/pino-logger.ts'
import { createSystemClock } from '../../../src/adapters/system/system-clock.ts'
import { cloudWebhookConfigurations } from '../../../src/compose/cloud-webhook-configurations.ts'
import { type DrainResult, drainObjects } from '../../../src/compose/drain-objects.ts'
import { loadSettings } from '../../../src/compose/load-settings.ts'
import { type ServedFunction, serve } from '../../../src/compose/serve.ts'
import type { SweepReport, SweepScope } from '../../../src/domain/sweep-report.ts'
import { createProviderRegistry } from '../../../src/provider/registry.ts'
import { createFakeClusterCloud, type FakeClusterCloud } from '../../../src/providers/fake/fake-cluster-cloud.ts'
import type { ApiClient } from '../../contracts/kubernetes-api/api-client.ts'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import type { ScenarioContext } from '../scenario.ts'
import { type AuditLog, openAuditLog } from './audit-log.ts'

const MANIFEST = join(import.meta.dirname, '../../../manifests/kubernetes-ccm.yaml')
const NAMESPACE = 'webhook-cloud-provider'
const ACCOUNT = 'cloud-controller'
const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1'
const IDENTITY = `system:serviceaccount:${NAMESPACE}:${ACCOUNT}`

/** The function under one cluster, as the manifest installs it: with its role, its webhooks, and the fake cloud. */
export interface CloudInstallation {
  configFile: string
  cloud: FakeClusterCloud
  audit: AuditLog
  /** `verb resource.group` of every rule of the role. */
  grants: readonly string[]
  sweep(scope: SweepScope): Promise<SweepReport>
  stop(): Promise<void>
  /** As `wcp drain`, with the cloud of this installation; its lines. */
  drain(): Promise<DrainResult & { lines: string[] }>
  /** Registers the webhooks anew, with or without `nodes/status`. */
  register(nodeStatus: boolean): Promise<void>
  /** Log lines of faults of the program. */
  errors(): string[]
}

/** Runs the story with an installation of its own, and takes the webhooks away afterwards. */
export async function withCloudInstallation(
  { server, admin, kubectl }: ScenarioContext,
  story: (installation: CloudInstallation) => Promise<void>,
): Promise<void> {
  await removeServicesOfOthers(admin)
  const { grants, role } = await roleOfManifest()
  await kubectl(['apply', '-f', '-'], role)
  const directory = await mkdtemp(join(server.directory, 'cloud-function-'))
  const authority = await createCertificateAuthority(Date.now(), 'cloud function')
  const { certPem, keyPem } = await authority.issueServingCertificate(['127.0.0.1'])
  const clock = createSystemClock()
  const cloud = createFakeClusterCloud({ clock, adopt: true })
  const lines: string[] = []
  const file = (name: string) => join(directory, name)
  await writeFile(file('tls.crt'), certPem)
  await writeFile(file('tls.key'), keyPem, { mode: 0o600 })
  await writeFile(file('kubeconfig.json'), server.kubeconfig(await tokenOf(admin)), { mode: 0o600 })
  await writeFile(file('config.json'), JSON.stringify(configOf(file)))
  const settings = await loadSettings({
    text: await readFile(file('config.json'), 'utf8'),
    environment: {},
    registry: createProviderRegistry({ fake: () => ({ name: 'fake', cloudProvider: cloud.cloudProvider }) }),
    clock,
    createLogger: (level) => createPinoLogger({ level, destination: { write: (line) => void lines.push(line) } }),
  })
  let served: ServedFunction | undefined = await serve(settings, clock)
  const url = `https://127.0.0.1:${served.port}`
  const dispatcher = new Agent({ connect: { ca: authority.caPem }, headersTimeout: 0 })
  const audit = await openAuditLog(server.auditLogPath)
  const installation: CloudInstallation = {
    configFile: file('config.json'),
    cloud,
    audit,
    grants,
    async sweep(scope) {
      const answer = await request(`${url}/sweep?scope=${scope}`, { method: 'POST', dispatcher })
      const text = await answer.body.text()
      assert.equal(answer.statusCode, 200, text)
      return JSON.parse(text) as SweepReport
    },
    async stop() {
      await unregister(admin)
      await served?.close()
      served = undefined
    },
    async drain() {
      const drained: string[] = []
      const report = (line: string) => void drained.push(line)
      const signal = AbortSignal.timeout(60_000)
      const result = await drainObjects(settings, clock, { keepBalancers: false, dryRun: false, report, signal })
      return { ...result, lines: drained }
    },
    register: (nodeStatus) => register(admin, url, authority.caPem, nodeStatus),
    errors: () => lines.filter((line) => Number((JSON.parse(line) as { level: number }).level) >= 50),
  }
  try {
    await installation.register(false)
    await story(installation)
    assert.deepEqual(installation.errors(), [], 'faults of the program')
  } catch (error) {
    for (const line of lines.filter((each) => !each.includes('"level":30')).slice(-10))
      process.stdout.write(`    ${line}`)
    throw error
  } finally {
    await installation.stop()
    await dispatcher.destroy()
  }
}

/** It serves the whole cluster, so also what others left there: the contract does not clean up after itself. */
export async function removeServicesOfOthers(admin: ApiClient): Promise<void> {
  const { items = [] } = await mustBe(200, admin.get('/api/v1/services?fieldSelector=spec.type%3DLoadBalancer'))
  for (const { metadata } of items) {
    const path = `/api/v1/namespaces/${metadata.namespace}/services/${metadata.name}`
    await mustBe(200, admin.delete(path))
    await admin.patch('merge-patch', path, { metadata: { finalizers: null } })
  }
}

function configOf(file: (name: string) => string) {
  return {
    clusterId: 'apiserver',
    controlPlane: 'kubernetes',
    provider: { name: 'fake' },
    callers: { anyone: true },
    cloud: { clusterCidr: '10.244.0.0/14', nodes: { newNodeGraceMs: 0 } },
    identity: IDENTITY,
    kubernetes: { kubeconfig: file('kubeconfig.json') },
    server: { host: '127.0.0.1', port: 0, tls: { certFile: file('tls.crt'), keyFile: file('tls.key') } },
    // No balancer's turn to be verified comes by chance.
    sweep: { intervalMs: 1, periodMs: 86_400_000 },
    shutdown: { drainMs: 2_000 },
  }
}

/** The role of the manifest under other names: an installation over clusters has one of the same. */
async function roleOfManifest(): Promise<{ grants: string[]; role: string }> {
  const documents = parseAllDocuments(await readFile(MANIFEST, 'utf8')).map((document) => document.toJS() as Document)
  const role = documents.find(({ kind }) => kind === 'ClusterRole') ?? assert.fail('no ClusterRole in the manifest')
  const grants = (role.rules ?? []).flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}.${group}`))),
  )
  const metadata = { name: `webhook-cloud-provider-${ACCOUNT}` }
  const applied = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: ACCOUNT, namespace: NAMESPACE } },
    { ...role, metadata },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name },
      subjects: [{ kind: 'ServiceAccount', name: ACCOUNT, namespace: NAMESPACE }],
    },
  ]
  return { grants, role: applied.map((each) => JSON.stringify(each)).join('\n---\n') }
}

interface Document {
  kind: string
  rules?: { apiGroups: string[]; resources: string[]; verbs: string[] }[]
}

async function tokenOf(admin: ApiClient): Promise<string> {
  const path = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/${ACCOUNT}/token`
  const wanted = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3_600 } }
  const { status } = await mustBe(201, admin.post(path, wanted))
  return (status as { token: string }).token
}

async function register(admin: ApiClient, url: string, caPem: string, nodeStatus: boolean): Promise<void> {
  await unregister(admin)
  for (const configuration of cloudWebhookConfigurations({ at: { url }, caPem, identity: IDENTITY, nodeStatus })) {
    await mustBe(201, admin.post(`${CONFIGURATIONS}/${configuration.kind.toLowerCase()}s`, configuration))
  }
}

async function unregister(admin: ApiClient): Promise<void> {
  for (const kind of ['mutating', 'validating'])
    await admin.delete(`${CONFIGURATIONS}/${kind}webhookconfigurations/webhook-cloud-provider`)
}
