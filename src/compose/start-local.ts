import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type CertificateAuthority,
  createCertificateAuthority,
} from '../adapters/certificates/certificate-authority.ts'
import { describeCertificate } from '../adapters/certificates/describe-certificate.ts'
import { loadKubeConfig } from '../adapters/kubernetes/kube-config.ts'
import { createKubernetesClusterStore } from '../adapters/kubernetes/kubernetes-cluster-store.ts'
import type { Config } from '../config/config.ts'
import { parseConfig } from '../config/parse-config.ts'
import type { ApiObject } from '../local/core/api-object.ts'
import type { ControlPlaneCore } from '../local/core/control-plane-core.ts'
import { karmadaCrds } from '../local/crds/karmada-crds.ts'
import { kubeconfigOf } from '../local/kubeconfig.ts'
import { type LocalControlPlane, startLocalControlPlane } from '../local/start-local-control-plane.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { MultiClusterProvider } from '../provider/multicluster.ts'
import { composeRuntime } from './compose-runtime.ts'
import { composeWork } from './compose-work.ts'
import { listen } from './listen.ts'
import { openapiDocument } from './openapi-document.ts'
import { measuredOnly } from './telemetry.ts'
import { webhookConfigurations } from './webhook-configurations.ts'

export interface LocalOptions {
  /** Where the kubeconfigs are written. */
  directory: string
  /** Of the control plane; 0 asks for a free one. */
  port: number
  provider: MultiClusterProvider
  clock: Clock
  logger: Logger
}

/** A control plane and a function that serves it, both on this machine. */
export interface Local {
  core: ControlPlaneCore
  /** For kubectl, as the administrator. */
  kubeconfigPath: string
  controlPlaneUrl: string
  functionUrl: string
  /** The authority of the function's certificate, for curl and `wcp sweep`. */
  caPath: string
  /** Creates objects as the administrator, through admission. */
  create(objects: readonly ApiObject[]): Promise<void>
  close(): Promise<void>
}

// The name of a ServiceAccount, as the manifests give it.
const IDENTITY = 'system:serviceaccount:webhook-cloud-provider:webhook-cloud-provider'
const SWEEP_EVERY_MS = 30_000

export async function startLocal(options: LocalOptions): Promise<Local> {
  const authority = await createCertificateAuthority(options.clock.now(), 'webhook-cloud-provider local')
  const controlPlane = await startLocalControlPlane({
    clock: options.clock,
    authority,
    port: options.port,
    definitions: karmadaCrds,
  })
  try {
    return await startFunction(controlPlane, authority, options)
  } catch (error) {
    await controlPlane.close()
    throw error
  }
}

async function startFunction(
  controlPlane: LocalControlPlane,
  authority: CertificateAuthority,
  options: LocalOptions,
): Promise<Local> {
  const { directory, provider, clock, logger } = options
  const paths = writeFiles(controlPlane, directory)
  writeFileSync(paths.ca, authority.caPem)
  const config = localConfig(provider.name, paths.functionKubeconfig)
  const telemetry = measuredOnly()
  const store = createKubernetesClusterStore(loadKubeConfig({ kind: 'file', path: paths.functionKubeconfig }), {
    timeoutMs: config.kubernetes.timeoutMs,
    clock,
    ...telemetry,
  })
  const serving = await authority.issueServingCertificate(['127.0.0.1', 'localhost'])
  const { notAfter } = describeCertificate(serving.certPem, clock.now())
  const certificate = () => ({ cert: serving.certPem, key: serving.keyPem, notAfter })
  const openapi = async () => openapiDocument()
  const runtime = composeRuntime({
    config,
    provider,
    store,
    composeWork,
    certificate,
    openapi,
    clock,
    logger,
    telemetry,
  })
  const functionUrl = `https://127.0.0.1:${await listen(runtime.app, config.server)}`
  runtime.start()
  const stopSweeping = sweepNowAndThen(
    () => runtime.doors.sweep({ scope: 'all' }, AbortSignal.timeout(SWEEP_EVERY_MS)),
    clock,
    logger,
  )

  const create = (objects: readonly ApiObject[]) => createAll(controlPlane.core, objects)
  await create([
    ...webhookConfigurations({ url: functionUrl, caPem: authority.caPem, ...config }),
    ingressClass(config),
  ] as ApiObject[])
  return {
    core: controlPlane.core,
    kubeconfigPath: paths.kubeconfig,
    controlPlaneUrl: controlPlane.url,
    functionUrl,
    caPath: paths.ca,
    create,
    async close() {
      stopSweeping()
      await runtime.drain()
      await runtime.app.close()
      await store.close()
      await controlPlane.close()
    },
  }
}

function writeFiles({ kubeconfig, url, caPem, tokenFor }: LocalControlPlane, directory: string) {
  const paths = {
    kubeconfig: join(directory, 'kubeconfig'),
    functionKubeconfig: join(directory, 'function.kubeconfig'),
    ca: join(directory, 'function-ca.pem'),
  }
  const secret = { mode: 0o600 }
  writeFileSync(paths.kubeconfig, kubeconfig, secret)
  const own = kubeconfigOf({ url, caPem, token: tokenFor(IDENTITY), user: IDENTITY })
  writeFileSync(paths.functionKubeconfig, own, secret)
  return paths
}

/** The same configuration file that a real installation has, only shorter. */
function localConfig(provider: string, kubeconfig: string): Config {
  const text = JSON.stringify({
    provider: { name: provider },
    identity: IDENTITY,
    ingressClass: { names: [provider], default: true },
    kubernetes: { kubeconfig },
    server: { host: '127.0.0.1', port: 0 },
    callers: { anyone: true },
    shutdown: { drainMs: 2_000 },
  })
  const { config, faults } = parseConfig(text, {})
  if (config === undefined) throw new TypeError(`local configuration: ${JSON.stringify(faults)}`)
  return config
}

function ingressClass({ ingressClass }: Config) {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IngressClass',
    metadata: {
      name: ingressClass.names[0],
      annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' },
    },
    spec: { controller: ingressClass.controller },
  }
}

async function createAll(core: ControlPlaneCore, objects: readonly ApiObject[]): Promise<void> {
  const user = { username: 'admin', groups: ['system:masters', 'system:authenticated'] }
  for (const object of objects) {
    const [version = '', group = ''] = object.apiVersion.split('/').reverse()
    const type = core.resources().find((known) => known.group === group && known.kind === object.kind)
    if (type === undefined)
      throw new TypeError(`the local control plane does not serve ${object.apiVersion} ${object.kind}`)
    const { namespace } = object.metadata
    const target = { group, version, plural: type.plural, ...(namespace === undefined ? {} : { namespace }) }
    await core.create(target, object, { user })
  }
}

/** Stands for the cron job of a real installation: what no review tells (an IngressClass, say) is found by it. */
function sweepNowAndThen(sweep: () => Promise<unknown>, clock: Clock, logger: Logger): () => void {
  let cancel = () => {}
  let stopped = false
  const next = () => {
    cancel = clock.after(SWEEP_EVERY_MS, async () => {
      await sweep().catch((error: unknown) => logger.warn({ error: String(error) }, 'sweep failed'))
      if (!stopped) next()
    })
  }
  next()
  return () => {
    stopped = true
    cancel()
  }
}
