import { createCertificateFolder } from '../adapters/certificates/certificate-folder.ts'
import type { CertificateFiles } from '../adapters/certificates/certificate-keeper.ts'
import { createCertificateSecret } from '../adapters/certificates/certificate-secret.ts'
import { describeCertificate } from '../adapters/certificates/describe-certificate.ts'
import { splitBundle } from '../adapters/certificates/read-certificates.ts'
import { loadKubeConfig } from '../adapters/kubernetes/kube-config.ts'
import { createKubernetesClusterStore } from '../adapters/kubernetes/kubernetes-cluster-store.ts'
import type { KubernetesSource } from '../adapters/kubernetes/read-kubeconfig.ts'
import { createSystemClock } from '../adapters/system/system-clock.ts'
import { type FoundBundles, findBundles, outdatedBundles } from '../compose/ca-bundles.ts'
import {
  type CertificateLook,
  type CertificateRenewal,
  lookAtCertificates,
  renewCertificates,
} from '../compose/renew-certificates.ts'
import { formatKey } from '../domain/object-key.ts'
import type { Clock } from '../ports/clock.ts'
import type { ClusterStore } from '../ports/cluster-store.ts'
import { type CertsOptions, parseCertsOptions } from './certs-options.ts'
import type { Command, Console } from './console.ts'

const REQUEST_MS = 10_000

/** Makes and renews the certificates that we serve with, and keeps those who call us trusting them. */
export const certsCommand: Command = async (args, console) => {
  const options = parseCertsOptions(args)
  const clock = createSystemClock()
  const stores = createStores(clock)
  const stopping = new AbortController()
  void console.interrupted.then(() => stopping.abort(new Error('interrupted')))
  try {
    return await keepCertificates(options, stores.open, clock, console, stopping.signal)
  } finally {
    await stores.close()
  }
}

type OpenStore = (source: KubernetesSource) => ClusterStore

async function keepCertificates(
  options: CertsOptions,
  open: OpenStore,
  clock: Clock,
  console: Console,
  signal: AbortSignal,
): Promise<number> {
  const { kept, callers, configurations, only } = options
  const bundles = callers && (await findBundles(open(callers), configurations, signal))
  const renewal: CertificateRenewal = {
    keeper:
      'folder' in kept ? createCertificateFolder(kept.folder) : createCertificateSecret(open(kept.source), kept.secret),
    wanted: options,
    servingMs: options.servingMs,
    authorityMs: options.authorityMs,
    now: clock.now(),
    ...(bundles === undefined ? {} : { bundles }),
    signal,
  }
  const look = await lookAtCertificates(renewal)
  for (const line of describePlan(look, only === undefined)) console.out(line)
  const files = only === undefined ? await renewCertificates(renewal, look) : look.files
  for (const line of describeFiles(files, renewal.now)) console.out(line)
  const outdated = describeBundles(bundles, look, files, only === undefined)
  for (const line of outdated.lines) console.out(line)
  if (bundles?.configurations.length === 0) {
    console.err(`no webhook configuration is named ${configurations.join(' or ')}: apply the manifests, then run again`)
    return 1
  }
  return only === 'check' && (isDue(look) || outdated.due) ? 1 : 0
}

function isDue({ plan: { authority, serving, retired } }: CertificateLook): boolean {
  return authority.do === 'make' || serving.do === 'issue' || retired.length > 0
}

/** What is about to be done, or would be. */
function describePlan({ plan: { authority, serving, retired } }: CertificateLook, isDone: boolean): string[] {
  const verb = (done: string, due: string) => (isDone ? done : due)
  return [
    ...(authority.do === 'make' ? [`authority ${verb('is made', 'is to be made')}: ${authority.reason}`] : []),
    ...(serving.do === 'issue'
      ? [`serving certificate ${verb('is issued', 'is to be issued')}: ${serving.reason}`]
      : []),
    ...(serving.do === 'wait' ? [`serving certificate waits for a later run: ${serving.reason}`] : []),
    ...(retired.length > 0 ? [`old authorities ${verb('leave', 'are to leave')} the bundle: ${retired.length}`] : []),
  ]
}

/** What there is; of keys nothing. */
function describeFiles(files: CertificateFiles, now: number): string[] {
  const [authority, ...older] = splitBundle(files['ca.crt'] ?? '')
  const served = files['tls.crt']
  return [
    `authority: ${authority === undefined ? 'none' : lifeOf(authority.pem, now)}`,
    ...older.map(({ pem }) => `old authority: ${lifeOf(pem, now)}`),
    `serving certificate: ${served ? `for ${describeCertificate(served, now).hosts.join(', ')}, ${lifeOf(served, now)}` : 'none'}`,
  ]
}

function lifeOf(pem: string, now: number): string {
  const { daysLeft, notAfter } = describeCertificate(pem, now)
  const day = new Date(notAfter).toISOString().slice(0, 10)
  return now > notAfter ? `expired on ${day}` : `${daysLeft} days left, until ${day}`
}

function describeBundles(
  bundles: FoundBundles | undefined,
  { plan: { authority, retired } }: CertificateLook,
  files: CertificateFiles,
  isDone: boolean,
): { lines: string[]; due: boolean } {
  if (bundles === undefined)
    return { lines: ['caBundle: not looked at; see --kubeconfig and --in-cluster'], due: false }
  const staying = splitBundle(files['ca.crt'] ?? '').filter(({ fingerprint }) => !retired.includes(fingerprint))
  const bundle = staying.map(({ pem }) => pem).join('')
  const found = outdatedBundles(bundles, bundle)
  const willChange = !isDone && authority.do === 'make'
  const lines = found.map(({ key, count }) => {
    const state = willChange || count > 0 ? (isDone ? `${count} replaced` : 'to be replaced') : 'up to date'
    return `caBundle of ${formatKey(key)}: ${state}`
  })
  return { lines, due: willChange || found.some(({ count }) => count > 0) }
}

function createStores(clock: Clock) {
  const opened: { close(): Promise<void> }[] = []
  return {
    open(source: KubernetesSource): ClusterStore {
      const store = createKubernetesClusterStore(loadKubeConfig(source), { timeoutMs: REQUEST_MS, clock })
      opened.push(store)
      return store
    },
    async close() {
      for (const store of opened) await store.close()
    },
  }
}
