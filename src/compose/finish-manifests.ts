import { isIP } from 'node:net'
import { parseDocument } from 'yaml'
import { finalizerOf, type InstallationSettings, NAME, type OverlayName, overlayWebhooks } from './overlay.ts'

/** An object of `manifests/`: only what is filled in is looked at. */
export interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string; annotations?: Record<string, string>; [field: string]: unknown }
  [field: string]: unknown
}

/** The objects of an overlay, finished for one installation. With the settings as they are, nothing changes. */
export function finishManifests(
  objects: readonly Manifest[],
  overlay: OverlayName,
  settings: InstallationSettings,
): Manifest[] {
  return objects
    .filter((object) => !isLeftOut(object, settings))
    .flatMap((object) => forEachClass(object, settings))
    .map((object) => withWebhooks(object, overlay, settings))
    .map((object) => withConfiguration(object, overlay, settings))
    .map((object) => atUrl(object, settings))
    .map((object) => renamed(object, settings))
}

/** Who brings the authority brings the certificate: cert-manager has nothing to do. */
function isLeftOut({ apiVersion }: Manifest, { caPem }: InstallationSettings): boolean {
  return caPem !== undefined && apiVersion.startsWith('cert-manager.io/')
}

const DEFAULT_CLASS = 'ingressclass.kubernetes.io/is-default-class'

/** One IngressClass a name; only the first can be the default. */
function forEachClass(object: Manifest, settings: InstallationSettings): Manifest[] {
  if (object.kind !== 'IngressClass') return [object]
  const { annotations, ...metadata } = object.metadata
  const { [DEFAULT_CLASS]: isDefault } = annotations ?? {}
  const names = settings.classes.length === 0 ? [metadata.name] : settings.classes
  return names.map((name, index) => ({
    ...object,
    metadata: {
      ...metadata,
      ...(index === 0 && isDefault !== undefined ? { annotations: { [DEFAULT_CLASS]: isDefault } } : {}),
      name,
    },
    spec: { controller: finalizerOf(settings) },
  }))
}

const INJECTED = 'cert-manager.io/inject-ca-from'

function withWebhooks(object: Manifest, overlay: OverlayName, settings: InstallationSettings): Manifest {
  const registered = overlayWebhooks(overlay, settings).find(({ kind }) => kind === object.kind)
  if (registered === undefined) return object
  const { annotations = {}, ...metadata } = object.metadata
  const { [INJECTED]: injected, ...others } = annotations
  const kept = settings.caPem === undefined && injected !== undefined ? { ...others, [INJECTED]: injected } : others
  return {
    ...object,
    metadata: { ...metadata, ...(Object.keys(kept).length === 0 ? {} : { annotations: kept }) },
    webhooks: registered.webhooks,
  }
}

const CONFIG = 'config.yaml'

/** The function's own file, with its comments. */
function withConfiguration(object: Manifest, overlay: OverlayName, settings: InstallationSettings): Manifest {
  const data = object['data'] as Record<string, string> | undefined
  const text = data?.[CONFIG]
  if (object.kind !== 'ConfigMap' || text === undefined) return object
  const config = parseDocument(text)
  const changes = configurationChanges(overlay, settings).filter(
    ({ path, onlyThere = false }) => !onlyThere || config.hasIn(path),
  )
  if (changes.length === 0) return object
  for (const { path, value } of changes)
    if (value === undefined) config.deleteIn(path)
    else config.setIn(path, Array.isArray(value) ? config.createNode(value, { flow: true }) : value)
  return { ...object, data: { ...data, [CONFIG]: config.toString({ lineWidth: 0 }) } }
}

interface ConfigurationChange {
  path: string[]
  /** Taken away when undefined. */
  value: string | readonly string[] | undefined
  /** Not set where the file leaves it out. */
  onlyThere?: boolean
}

function configurationChanges(overlay: OverlayName, settings: InstallationSettings): ConfigurationChange[] {
  const { provider, classes, namespace } = settings
  const changes: ConfigurationChange[] = []
  if (provider !== undefined) {
    changes.push({ path: ['provider', 'name'], value: provider })
    // Said of the example only; each provider's author has to think about it anew.
    changes.push({ path: ['cloud', 'allowUntaggedCloud'], value: undefined, onlyThere: true })
  }
  if (overlay === 'kubernetes-ccm' && classes[0] !== undefined)
    changes.push({ path: ['cloud', 'loadBalancerClass'], value: classes[0] })
  else if (classes.length > 0) changes.push({ path: ['ingressClass', 'names'], value: classes })
  if (namespace !== NAME) changes.push({ path: ['lease', 'namespace'], value: namespace, onlyThere: true })
  const prefix = prefixOf(settings)
  if (prefix !== '') {
    changes.push({ path: ['server', 'pathPrefix'], value: prefix })
    // A secret before every door is a proof: none is left open.
    changes.push({ path: ['callers', 'anyone'], value: undefined, onlyThere: true })
  }
  return changes
}

/** What speaks of the function's host or of the path before its doors. */
function atUrl(object: Manifest, settings: InstallationSettings): Manifest {
  if (settings.url === undefined) return object
  const { hostname } = new URL(settings.url)
  const prefix = prefixOf(settings)
  switch (object.kind) {
    case 'DomainMapping':
    case 'ClusterDomainClaim':
      return { ...object, metadata: { ...object.metadata, name: hostname } }
    case 'Certificate':
      return withHost(object, hostname)
    default:
      return prefix === '' ? object : changed(object, (_, text) => behindPrefix(text, prefix))
  }
}

function withHost(certificate: Manifest, hostname: string): Manifest {
  const spec = certificate['spec'] as { dnsNames?: string[] }
  if (spec.dnsNames === undefined) return certificate
  const address = hostname.replace(/^\[|\]$/g, '')
  const host =
    isIP(address) === 0 ? { dnsNames: [...new Set([...spec.dnsNames, hostname])] } : { ipAddresses: [address] }
  return { ...certificate, spec: { ...spec, ...host } }
}

/** The Triggers' path, and the URL that the sweeps call. */
function behindPrefix(text: string, prefix: string): string {
  if (text === '/events') return `${prefix}/events`
  return text.startsWith('--url=') ? `${text}${prefix}` : text
}

function prefixOf({ url }: InstallationSettings): string {
  return url === undefined ? '' : new URL(url).pathname.replace(/\/$/, '')
}

/** Image and namespace, wherever they are. */
function renamed(object: Manifest, { image, namespace }: InstallationSettings): Manifest {
  const moved = object.kind === 'Namespace' ? { ...object, metadata: { ...object.metadata, name: namespace } } : object
  return changed(moved, (key, text) => {
    if (key === 'image' && image !== undefined && text.startsWith(`${NAME}:`)) return image
    if (key === 'namespace' && text === NAME) return namespace
    return text
      .replaceAll(`.${NAME}.svc`, `.${namespace}.svc`)
      .replaceAll(`system:serviceaccount:${NAME}:`, `system:serviceaccount:${namespace}:`)
      .replace(new RegExp(`^${NAME}/${NAME}$`), `${namespace}/${NAME}`)
  })
}

/** Every text of the object, by the key that it is under. */
function changed(object: Manifest, change: (key: string, text: string) => string): Manifest {
  const text = JSON.stringify(object, (key, value: unknown) => (typeof value === 'string' ? change(key, value) : value))
  return JSON.parse(text) as Manifest
}
