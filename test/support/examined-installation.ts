import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCertificateAuthority, type Validity } from '../../src/adapters/certificates/certificate-authority.ts'
import { createSystemClock } from '../../src/adapters/system/system-clock.ts'
import { cloudWebhookConfigurations } from '../../src/compose/cloud-webhook-configurations.ts'
import type { DoctorOptions } from '../../src/compose/doctor/gather-facts.ts'
import { loadSettings } from '../../src/compose/load-settings.ts'
import { type ServedFunction, serve } from '../../src/compose/serve.ts'
import { webhookConfigurations } from '../../src/compose/webhook-configurations.ts'
import type { ApiObject } from '../../src/local/core/api-object.ts'
import type { RequestTarget } from '../../src/local/core/core-environment.ts'
import { karmadaCrds } from '../../src/local/crds/karmada-crds.ts'
import { kubeconfigOf } from '../../src/local/kubeconfig.ts'
import { startLocalControlPlane } from '../../src/local/start-local-control-plane.ts'
import { createProviderRegistry } from '../../src/provider/registry.ts'
import { caddyProviderFactory } from '../../src/providers/caddy/caddy-provider.ts'
import { exampleProviderFactory } from '../../src/providers/example/example-provider.ts'
import { fakeProviderFactory } from '../../src/providers/fake/fake-provider.ts'
import { wcp } from './command-line.ts'
import { startKarmadaWebhooks } from './karmada-webhooks.ts'
import { silentLogger } from './silent-logger.ts'

const IDENTITY = 'system:serviceaccount:webhook-cloud-provider:webhook-cloud-provider'
const PREFIX = '/a-secret-segment'
const GUARDED = ['events', 'sweep', 'metrics'] as const

/** What the callers of a door show. */
const tokenOf = (door: string) => `hush-hush-of-${door}\n`
const USER = { user: { username: 'admin', groups: ['system:masters'] } }

/** A healthy installation on the local control plane, for the doctor to look at. */
export interface ExaminedInstallation {
  directory: string
  url: string
  /** The operator's, who is not the function. */
  kubeconfig: string
  /** The configuration that the function runs with, and with changes; a file. */
  configFile(changes?: object): string
  /** For the doctor; the changes are to what it reads, not to what runs. */
  options(changes?: object): Promise<DoctorOptions>
  edit(target: RequestTarget, body: object): Promise<void>
  remove(target: RequestTarget): Promise<void>
  create(target: RequestTarget, object: object): Promise<void>
  /** To the end of scope `all`, as a cron does it. */
  sweep(): Promise<void>
  stopFunction(): Promise<void>
  stopKarmada(): Promise<void>
  close(): Promise<void>
}

export const WEBHOOKS = (kind: 'mutating' | 'validating', name = 'webhook-cloud-provider'): RequestTarget => ({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: `${kind}webhookconfigurations`,
  name,
})

export const CLASSES: RequestTarget = { group: 'networking.k8s.io', version: 'v1', plural: 'ingressclasses' }

export async function startExaminedInstallation(
  validity: Partial<Validity> = {},
  kind: 'karmada' | 'kubernetes' = 'karmada',
): Promise<ExaminedInstallation> {
  const directory = mkdtempSync(join(tmpdir(), 'doctor-'))
  const file = (name: string, text: string) => {
    const path = join(directory, name)
    writeFileSync(path, text, { mode: 0o600 })
    return path
  }
  const clock = createSystemClock()
  const authority = await createCertificateAuthority(clock.now(), 'function')
  const controlPlane = await startLocalControlPlane({ clock, definitions: karmadaCrds, authority })
  const { certPem, keyPem } = await authority.issueServingCertificate(['127.0.0.1'], validity)
  const token = controlPlane.tokenFor(IDENTITY)
  const kubeconfig = kubeconfigOf({ url: controlPlane.url, caPem: controlPlane.caPem, token, user: IDENTITY })
  const config = {
    provider: { name: 'fake' },
    controlPlane: kind,
    // The local control plane sends no credential to its webhooks.
    callers: Object.fromEntries(GUARDED.map((door) => [door, { tokenFile: file(`${door}-token`, tokenOf(door)) }])),
    cloud: { clusterCidr: '10.244.0.0/16' },
    identity: IDENTITY,
    ingressClass: { names: ['fake'], default: true },
    kubernetes: { kubeconfig: file('function.kubeconfig', kubeconfig) },
    server: {
      host: '127.0.0.1',
      port: 0,
      pathPrefix: PREFIX,
      tls: { certFile: file('tls.crt', certPem), keyFile: file('tls.key', keyPem) },
    },
    shutdown: { drainMs: 100 },
  }
  const registry = createProviderRegistry({
    fake: fakeProviderFactory,
    example: exampleProviderFactory,
    caddy: caddyProviderFactory,
  })
  const settings = (changes: object) =>
    loadSettings({
      text: JSON.stringify({ ...config, ...changes }),
      environment: {},
      registry,
      clock,
      createLogger: () => silentLogger,
    })
  const { core } = controlPlane
  const create = async (target: RequestTarget, object: object) =>
    void (await core.create(target, object as ApiObject, USER))
  let served: ServedFunction | undefined = await serve(await settings({}), clock)
  const url = `https://127.0.0.1:${served.port}`
  const karmada = await startKarmadaWebhooks()
  for (const configuration of [
    ...karmada.configurations,
    ...(kind === 'karmada'
      ? webhookConfigurations({ url: `${url}${PREFIX}`, caPem: authority.caPem, ...(await settings({})).config })
      : cloudWebhookConfigurations({
          at: { url: `${url}${PREFIX}` },
          caPem: authority.caPem,
          identity: IDENTITY,
        })),
  ]) {
    const { name: _, ...collection } = WEBHOOKS(configuration.kind.startsWith('Mutating') ? 'mutating' : 'validating')
    await create(collection, configuration)
  }
  await create(CLASSES, {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IngressClass',
    metadata: { name: 'fake', annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
    spec: { controller: 'webhook-cloud-provider.dev/fake' },
  })
  const operatorPath = file('operator.kubeconfig', controlPlane.kubeconfig)
  let files = 0

  const installation: ExaminedInstallation = {
    directory,
    url,
    kubeconfig: operatorPath,
    configFile: (changes = {}) => file(`config-${files++}.json`, JSON.stringify({ ...config, ...changes })),
    async options(changes = {}) {
      const { config: changed, provider } = await settings(changes)
      return {
        config: changed,
        provider,
        operator: { kind: 'file', path: operatorPath },
        namespace: 'default',
        tokens: {},
        clock,
      }
    },
    edit: async (target, body) => void (await core.patch(target, { type: 'merge', body: body as never }, USER)),
    remove: async (target) => void (await core.delete(target, USER)),
    create,
    async sweep() {
      const ca = ['--ca', file('ca.crt', authority.caPem)]
      const proof = ['--token-file', join(directory, 'sweep-token')]
      const { code, err } = await wcp(['sweep', '--url', `${url}${PREFIX}`, '--scope', 'all', ...ca, ...proof])
      if (code !== 0) throw new Error(`the sweep fails: ${err}`)
    },
    async stopFunction() {
      await served?.close()
      served = undefined
    },
    stopKarmada: () => karmada.close(),
    async close() {
      await installation.stopFunction()
      await karmada.close()
      await controlPlane.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
  return installation
}
