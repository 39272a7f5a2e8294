import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { parseArgs } from 'node:util'
import { finishManifests } from '../compose/finish-manifests.ts'
import { parseManifests, printManifests } from '../compose/manifest-file.ts'
import {
  type InstallationSettings,
  NAME,
  OVERLAYS,
  type Overlay,
  type OverlayName,
  type Target,
} from '../compose/overlay.ts'
import type { Command, Console } from './console.ts'
import { UsageError } from './usage-error.ts'

/** Prints what is to be applied, with URL, authority, classes, image and namespace filled in. */
export const manifestsCommand: Command = async (args, console) => {
  const { overlay, target, settings } = parseManifestsArgs(args)
  const { header, objects } = parseManifests(readManifests(renderedFile(overlay, target)))
  const finished = finishManifests(objects, overlay, settings)
  tellWhatIsMissing(
    overlay,
    finished.some(({ kind }) => kind.endsWith('WebhookConfiguration')),
    settings,
    console,
  )
  console.out(printManifests({ header, objects: finished }).trimEnd())
  return 0
}

function parseManifestsArgs(args: string[]) {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args,
    options: {
      overlay: text,
      target: text,
      url: text,
      ca: text,
      class: { ...text, multiple: true, default: [] },
      image: text,
      namespace: { ...text, default: NAME },
      provider: text,
    },
  })
  const overlay = overlayNamed(values.overlay)
  const { image, namespace, provider } = values
  require(DNS_LABEL, '--namespace', namespace, 'is not the name of a namespace')
  const [classes, kind] = overlay === 'kubernetes-ccm' ? [SERVICE_CLASS, 'a class'] : [DNS_NAME, 'an IngressClass']
  for (const name of values.class) require(classes, '--class', name, `is not the name of ${kind}`)
  if (provider !== undefined) require(PROVIDER_NAME, '--provider', provider, 'is not the name of a provider')
  if (image !== undefined) require(IMAGE, '--image', image, 'is not the name of an image')
  if (overlay === 'kubernetes-ccm' && values.class.length > 1)
    throw new UsageError('manifests: one cluster has one loadBalancerClass: give --class once')
  const settings: InstallationSettings = {
    classes: values.class,
    namespace,
    image,
    provider,
    url: values.url === undefined ? undefined : functionUrl(values.url, overlay),
    caPem: values.ca === undefined ? undefined : readAuthority(values.ca),
  }
  return { overlay, target: values.target, settings }
}

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/
const PROVIDER_NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/
const DNS_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
/** A loadBalancerClass, mostly with a prefix. */
const SERVICE_CLASS = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/
const IMAGE = /^[a-z0-9][\w.:/@-]*$/
/** As the setting server.pathPrefix. */
const PATH = /^(\/[A-Za-z0-9._~-]+)*$/

function require(pattern: RegExp, option: string, value: string, fault: string): void {
  if (!pattern.test(value)) throw new UsageError(`${option}: "${value}" ${fault}`)
}

function overlayNamed(name: string | undefined): OverlayName {
  const known = Object.keys(OVERLAYS)
  if (name !== undefined && known.includes(name)) return name as OverlayName
  throw new UsageError(`manifests: --overlay must be one of ${known.join(', ')}`)
}

/** Two halves go to two API servers, so they are never printed together. */
function renderedFile(name: OverlayName, wanted: string | undefined): string {
  const { targets }: Overlay = OVERLAYS[name]
  const known = Object.keys(targets) as Target[]
  const target = wanted === undefined && known.length === 1 ? known[0] : known.find((each) => each === wanted)
  const file = target === undefined ? undefined : targets[target]
  if (file !== undefined) return file.rendered
  const explained = known.map((each) => `${each} (for ${WHERE[each]})`)
  throw new UsageError(`manifests: --target must be ${explained.join(' or ')} with --overlay ${name}`)
}

const WHERE: Readonly<Record<Target, string>> = {
  host: 'the cluster where the pods run',
  karmada: 'the Karmada API server',
}

/** What the API server accepts as `clientConfig.url`. The value may hold a secret path, so it is not repeated. */
function functionUrl(text: string, overlay: OverlayName): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'https:') throw new UsageError('--url: the API server calls https URLs only')
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new UsageError('--url: the API server takes no credentials, query or fragment')
  if (overlay === 'karmada-knative' && isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0)
    throw new UsageError('--url: Knative finds the function by its host name, which an address is not')
  const path = url.pathname.replace(/\/$/, '')
  if (!PATH.test(path)) throw new UsageError('--url: its path may have letters, digits and ._~- between slashes')
  return `${url.origin}${path}`
}

function readAuthority(path: string): string {
  const text = readText('--ca', path)
  if (!text.includes('-----BEGIN CERTIFICATE-----')) throw new UsageError(`--ca: ${path} has no PEM certificate`)
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text))
    throw new UsageError(`--ca: ${path} has a private key, which is nobody's but the function's`)
  return text
}

function readText(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error
    throw new UsageError(`${option}: ${path} cannot be read (${code})`)
  }
}

function readManifests(file: string): string {
  return readFileSync(new URL(`../../manifests/${file}`, import.meta.url), 'utf8')
}

function tellWhatIsMissing(
  overlay: OverlayName,
  hasWebhooks: boolean,
  { url, caPem }: InstallationSettings,
  console: Console,
): void {
  const { url: standard }: Overlay = OVERLAYS[overlay]
  if (url === undefined && overlay === 'karmada-knative')
    console.err(`without --url, ${standard} stands for the host that you have a certificate for`)
  if (hasWebhooks && caPem === undefined && (url ?? standard) !== undefined)
    console.err("without --ca, the API server trusts the function's certificate only if a public authority signed it")
}
