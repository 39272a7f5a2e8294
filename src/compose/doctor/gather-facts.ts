import { lookup } from 'node:dns/promises'
import { type ApiCaller, createApiCaller } from '../../adapters/kubernetes/api-caller.ts'
import { loadKubeConfig } from '../../adapters/kubernetes/kube-config.ts'
import type { KubernetesSource } from '../../adapters/kubernetes/read-kubeconfig.ts'
import type { Config } from '../../config/config.ts'
import { requiredKinds } from '../../domain/doctor/checks/check-api.ts'
import type { Asked, DoorSettings, Facts } from '../../domain/doctor/facts.ts'
import { requiredAccess } from '../../domain/doctor/required-access.ts'
import { type ObjectsInQuestion, unfinishedObjects } from '../../domain/doctor/unfinished-objects.ts'
import { addressOf, isOurs, type RegisteredWebhook } from '../../domain/doctor/webhook.ts'
import { RESOURCES } from '../../domain/kinds.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Provider } from '../../provider/provider.ts'
import { kubernetesSource } from '../kubernetes-source.ts'
import { servedCloud } from '../served-cloud.ts'
import {
  accessTo,
  dryRunOf,
  listEvery,
  registeredWebhooks,
  resourcesServed,
  serverVersion,
  whoAmI,
} from './api-questions.ts'
import { ask, CannotAsk, need } from './ask.ts'
import { authorityOf, caBundles, servedCertificate } from './certificate-questions.ts'
import { credentialsOf, doorSettings, type GivenTokens } from './door-questions.ts'
import { dryRunObject, reviewOf } from './dry-run-object.ts'
import { expectedWebhooks } from './expected-webhooks.ts'
import { createFunctionQuestions, type FunctionAddress } from './function-questions.ts'
import { providerAbilities } from './provider-abilities.ts'
import { providerAnswer } from './provider-answer.ts'

export interface DoctorOptions {
  config: Config
  /** Undefined when this program does not have it. */
  provider: Provider | undefined
  /** Credentials of whoever asks; the function's own when absent. */
  operator?: KubernetesSource
  /** Of the function as seen from here; where the API server calls it when absent. */
  url?: string
  /** PEM; the caBundle of our webhooks when absent. */
  ca?: string
  /** What callers of the doors prove themselves with, where the function's own files are not. */
  tokens: GivenTokens
  /** For the object of the dry run. */
  namespace: string
  clock: Clock
}

/** Asks everything there is to ask, each question on its own: what fails is not known, and the rest goes on. */
export async function gatherFacts(options: DoctorOptions): Promise<Facts> {
  const apis = openApis(options)
  try {
    return await gather(options, apis)
  } finally {
    await apis.operator.close()
    if (apis.writer.known && apis.writer.value !== apis.operator) await apis.writer.value.close()
  }
}

interface Apis {
  /** Whoever asks. */
  operator: ApiCaller
  /** As the function writes. */
  writer: Asked<ApiCaller>
}

/**
 * The function's credentials may be where it runs and nowhere else; then the operator asks in its name, by impersonation.
 * Throws `KubeconfigInvalid` when there are no credentials at all.
 */
function openApis({ config, operator, clock }: DoctorOptions): Apis {
  const caller = { timeoutMs: config.kubernetes.timeoutMs, clock }
  if (operator === undefined) {
    const own = createApiCaller(loadKubeConfig(kubernetesSource(config)), caller)
    return { operator: own, writer: { known: true, value: own } }
  }
  const kubeConfig = loadKubeConfig(operator)
  const asking = createApiCaller(kubeConfig, caller)
  try {
    return {
      operator: asking,
      writer: { known: true, value: createApiCaller(loadKubeConfig(kubernetesSource(config)), caller) },
    }
  } catch {
    const { identity } = config
    if (identity === undefined) {
      return {
        operator: asking,
        writer: { known: false, reason: 'the function’s credentials are not here, and `identity` is not set' },
      }
    }
    return {
      operator: asking,
      writer: { known: true, value: createApiCaller(kubeConfig, { ...caller, impersonate: identity }) },
    }
  }
}

async function gather(options: DoctorOptions, { operator, writer }: Apis): Promise<Facts> {
  const { config, provider, namespace, clock } = options
  const controlPlane = controlPlaneOf(config, provider)
  const sent = dryRunObject({ ...config, controlPlane }, provider, namespace)
  const webhooks = await ask(() => registeredWebhooks(operator))
  const ours = webhooks.known ? webhooks.value.filter(isOurs) : []
  const address = await ask(async () => functionAddress(options, ours))
  const doors = doorSettings(config)
  const access = { controlPlane, lock: config.lock, leaseNamespace: config.lease.namespace }
  const versions = new Set(
    requiredKinds(controlPlane).map((kind) => `${RESOURCES[kind].group}/${RESOURCES[kind].version}`),
  )

  return {
    now: clock.now(),
    settings: {
      controlPlane,
      identity: config.identity,
      ingressClass: config.ingressClass,
      operatorIsApart: options.operator !== undefined,
      pathPrefix: address.known && address.value.prefix !== '',
      doors,
      sweepIntervalMs: config.sweep.intervalMs,
      finalizer: sent.finalizer,
    },
    webhooks,
    expectedWebhooks: expectedWebhooks({ ...config, controlPlane }, ours),
    bundles: webhooks.known ? { known: true, value: caBundles(ours, clock.now()) } : webhooks,
    ...(await gatherAboutFunction(address, ours, { clock, doors, review: reviewOf(sent) })),
    dryRun: await ask(() => dryRunOf(operator, sent.kind, sent.object)),
    access: await ask(async () => accessTo(need(writer), requiredAccess(access))),
    writer: await ask(async () => whoAmI(need(writer))),
    operator: await ask(() => whoAmI(operator)),
    served: await ask(() => resourcesServed(operator, [...versions])),
    serverVersion: await ask(() => serverVersion(operator)),
    ingressClasses: await ask(() => listEvery(operator, 'IngressClass')),
    provider: await ask(async () => {
      if (provider === undefined) throw new CannotAsk(`provider ${config.provider.name} is not part of this program`)
      return providerAbilities(config, provider)
    }),
    providerAnswer: provider && (await providerAnswer(provider, sent, { clusterId: config.clusterId, clock })),
    unfinished: await ask(async () =>
      unfinishedObjects(await objectsInQuestion(operator, controlPlane), {
        finalizer: config.finalizer,
        classNames: config.ingressClass.names,
        selector: config.multiClusterServices.selector,
        loadBalancerClass: config.cloud.loadBalancerClass,
      }),
    ),
  }
}

function controlPlaneOf(config: Config, provider: Provider | undefined): 'karmada' | 'kubernetes' {
  if (provider === undefined) return config.controlPlane ?? 'karmada'
  return servedCloud(config, provider) === undefined ? 'karmada' : 'kubernetes'
}

async function gatherAboutFunction(
  address: Asked<FunctionAddress>,
  ours: readonly RegisteredWebhook[],
  { clock, doors, review }: { clock: Clock; doors: readonly DoorSettings[]; review: object },
): Promise<Pick<Facts, 'address' | 'addresses' | 'certificate' | 'readiness' | 'entry' | 'metrics'>> {
  if (!address.known)
    return { address, addresses: address, certificate: address, readiness: address, entry: address, metrics: address }
  const { origin, name, timeoutMs } = address.value
  const { protocol, hostname, port } = new URL(origin)
  const at = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 443) }
  const questions = createFunctionQuestions(address.value)
  try {
    return {
      address: { known: true, value: { host: name, port: at.port } },
      addresses: await ask(async () => (await lookup(name, { all: true })).map((each) => each.address)),
      certificate: await ask(async () => {
        if (protocol !== 'https:') throw new CannotAsk('--url is plain http: TLS ends before the function')
        return servedCertificate({ at, name, ca: authorityOf(ours), timeoutMs, now: clock.now() })
      }),
      readiness: await ask(() => questions.readiness()),
      entry: await ask(() => questions.entry(doors, review)),
      metrics: await ask(() => questions.metrics()),
    }
  } finally {
    await questions.close()
  }
}

/** As `--url` says, else where the webhooks say; the name is the one that the API server asks the certificate for. */
function functionAddress(
  { config, url, ca, tokens }: DoctorOptions,
  ours: readonly RegisteredWebhook[],
): FunctionAddress {
  const registered = ours.map(({ webhook }) => addressOf(webhook)).find((address) => address !== undefined)
  const given = url === undefined ? undefined : new URL(url)
  if (given === undefined && registered === undefined) {
    throw new CannotAsk('no webhook of ours says where the function is, and --url is not given')
  }
  const host = registered?.host.includes(':') === true ? `[${registered.host}]` : registered?.host
  const path = given?.pathname.replace(/\/$/, '') || registered?.prefix || ''
  return {
    origin: given?.origin ?? `https://${host}:${registered?.port}`,
    prefix: config.server.pathPrefix ?? path,
    name: registered?.host ?? given?.hostname ?? '',
    ca: ca ?? authorityOf(ours),
    credentials: credentialsOf(config, tokens),
    timeoutMs: config.kubernetes.timeoutMs,
  }
}

async function objectsInQuestion(api: ApiCaller, controlPlane: 'karmada' | 'kubernetes'): Promise<ObjectsInQuestion> {
  const none = { ingresses: [], multiClusterServices: [], services: [], nodes: [] }
  if (controlPlane === 'kubernetes')
    return { ...none, services: await listEvery(api, 'Service'), nodes: await listEvery(api, 'Node') }
  return {
    ...none,
    ingresses: await listEvery(api, 'MultiClusterIngress'),
    multiClusterServices: await listEvery(api, 'MultiClusterService'),
  }
}
