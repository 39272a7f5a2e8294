import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { parseAllDocuments, parse as parseYaml } from 'yaml'
import { builtInProviders } from '../src/cli/providers.ts'
import { cloudWebhookConfigurations } from '../src/compose/cloud-webhook-configurations.ts'
import { loadSettings } from '../src/compose/load-settings.ts'
import { SWEEP_SCOPES } from '../src/domain/sweep-report.ts'
import { createManualClock } from './support/manual-clock.ts'
import { silentLogger } from './support/silent-logger.ts'

// What is applied by `kubectl apply -f manifests/kubernetes-ccm.yaml` is what the code speaks of.

const MANIFEST = join(import.meta.dirname, '../manifests/kubernetes-ccm.yaml')

interface Manifest {
  kind: string
  metadata: { name: string; namespace?: string; annotations?: Record<string, string> }
  [field: string]: unknown
}

async function documents(): Promise<Manifest[]> {
  const parsed = parseAllDocuments(await readFile(MANIFEST, 'utf8'))
  return parsed.map((document) => {
    if ('errors' in document && document.errors.length > 0) throw document.errors[0]
    return document.toJS() as Manifest
  })
}

t.test('the webhooks of the manifest are those that the code registers', async (t) => {
  const registered = cloudWebhookConfigurations({
    at: { service: { namespace: 'kube-system', name: 'webhook-cloud-provider', port: 443 } },
    caPem: undefined,
    identity: 'system:serviceaccount:kube-system:webhook-cloud-provider',
  })
  const applied = (await documents()).filter(({ kind }) => kind.endsWith('WebhookConfiguration'))
  t.strictSame(
    applied.map(({ metadata: { annotations: _, ...metadata }, ...rest }) => ({ ...rest, metadata })),
    registered,
  )
})

t.test('the configuration of the manifest starts', async (t) => {
  const map = (await documents()).find(({ kind }) => kind === 'ConfigMap')
  const data = (map?.['data'] ?? {}) as Record<string, string>
  const text = data['config.yaml'] ?? ''
  const { config, provider } = loadSettings({
    text,
    environment: {},
    registry: builtInProviders(),
    clock: createManualClock(),
    createLogger: () => silentLogger,
  })
  t.equal(provider.name, 'example')
  const account = (await documents()).find(({ kind }) => kind === 'ServiceAccount')
  t.equal(
    config.identity,
    `system:serviceaccount:${account?.metadata.namespace}:${account?.metadata.name}`,
    'who writes is who is not told of it',
  )
})

t.test('the sweeps of the manifest ask for scopes that there are', async (t) => {
  const crons = (await documents()).filter(({ kind }) => kind === 'CronJob')
  const scopes = crons.map((cron) => /--scope,([a-z-]+)/.exec(JSON.stringify(cron).replaceAll('"', ''))?.[1] ?? '')
  t.strictSame(scopes, ['pending', 'nodes', 'routes', 'all'])
  t.ok(scopes.every((scope) => SWEEP_SCOPES.some((known) => known === scope)))
})

t.test('nodes/status is not registered unless it is asked for', async (t) => {
  const at = { url: 'https://function.example.net' }
  const rules = (nodeStatus: boolean) =>
    JSON.stringify(cloudWebhookConfigurations({ at, caPem: undefined, nodeStatus }))
  t.notMatch(rules(false), /nodes\/status/)
  t.match(rules(true), /nodes\/status/)
  t.match(parseYaml(rules(true)), [{}, {}])
})
