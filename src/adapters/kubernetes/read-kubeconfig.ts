import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { loadAll, YAMLException } from 'js-yaml'
import { CatalogueError } from '../../domain/catalogue-error.ts'

/** Where the credentials come from. There is no default: the library's own ends at http://localhost:8080. */
export type KubernetesSource =
  | { kind: 'file'; path: string; context?: string }
  /** The kubeconfig itself, where the platform has no files; `origin` says where it came from. */
  | { kind: 'text'; text: string; origin: string; context?: string }
  | { kind: 'in-cluster' }

/** A kubeconfig that names a cluster and a user to begin with. */
export interface Kubeconfig {
  /** As YAML (JSON is), whole. */
  text: string
  /** What its relative paths start from; paths in a text that no file holds stay as they are. */
  directory: string | undefined
  users: { name?: unknown; user?: { tokenFile?: unknown } | null }[]
  currentContext: string
}

/**
 * Reads and checks without the library, which is large: a function that never asks the API server does not load it.
 * Undefined inside of a cluster, where there is nothing to read. Throws `KubeconfigInvalid`, naming the field. Makes no
 * request.
 */
export function readKubeconfig(source: KubernetesSource): Kubeconfig | undefined {
  switch (source.kind) {
    case 'file': {
      const { path, context } = source
      return checked(parseKubeconfig(path, readText(path)), { origin: path, directory: dirname(path), context })
    }
    case 'text':
      return checked(parseKubeconfig(source.origin, source.text), { ...source, directory: undefined })
    case 'in-cluster':
      requireCluster()
      return undefined
  }
}

interface Content {
  clusters: { name?: unknown; cluster?: { server?: unknown } | null }[]
  users: Kubeconfig['users']
  contexts: { name?: unknown; context?: { cluster?: unknown; user?: unknown } | null }[]
  'current-context'?: unknown
}

function parseKubeconfig(origin: string, text: string): Content {
  const content = parseYaml(origin, text)
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw invalid('kubernetes.kubeconfig', `${origin} is not a kubeconfig: it is not a YAML mapping`)
  }
  for (const list of ['clusters', 'users', 'contexts']) {
    const entries: unknown = (content as Record<string, unknown>)[list]
    if (!Array.isArray(entries)) throw invalid(list, `${origin} has no list of ${list}`)
    if (!entries.every((entry) => typeof entry === 'object' && entry !== null)) {
      throw invalid(list, `${origin}: every entry of ${list} must be a mapping`)
    }
  }
  for (const [index, { cluster }] of (content as Content).clusters.entries()) {
    if (typeof cluster?.server !== 'string') {
      throw invalid(`clusters[${index}].cluster.server`, `${origin}: it must be an https URL`)
    }
  }
  return content as Content
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error
    const fault = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`
    throw invalid('kubernetes.kubeconfig', `${path} ${fault}`, error)
  }
}

/** The parser's own message shows an excerpt of the file, which may hold credentials. */
function parseYaml(path: string, text: string): unknown {
  try {
    const [content, ...more] = loadAll(text)
    if (more.length > 0) throw new YAMLException('more than one document')
    return content
  } catch (error) {
    const { mark } = error instanceof YAMLException ? error : {}
    const where = mark === undefined ? '' : `: line ${mark.line + 1}, column ${mark.column + 1}`
    throw invalid('kubernetes.kubeconfig', `${path} is not valid YAML${where}`)
  }
}

function checked(
  content: Content,
  { origin, directory, context }: { origin: string; directory: string | undefined; context?: string | undefined },
): Kubeconfig {
  const { clusters, users, contexts } = content
  requireComplete(content, origin)
  const currentContext = context ?? content['current-context']
  const chosen = contexts.find(({ name }) => name === currentContext)?.context
  if (chosen === undefined || chosen === null) {
    const known = contexts.map(({ name }) => name)
    const message = `${origin} has no context "${currentContext ?? ''}"; it has: ${known.join(', ') || 'none'}`
    throw invalid('kubernetes.context', message)
  }
  const cluster = clusters.find(({ name }) => name === chosen.cluster)?.cluster
  if (cluster === undefined || cluster === null)
    throw invalid('clusters', `${origin} has no cluster "${chosen.cluster}"`)
  if (!users.some(({ name }) => name === chosen.user)) throw invalid('users', `${origin} has no user "${chosen.user}"`)
  requireHttps(String(cluster.server), 'clusters[].cluster.server', origin)
  return { text: JSON.stringify(content), directory, users, currentContext: String(currentContext) }
}

/** What the library asks of every entry, those that are not used included. */
function requireComplete({ clusters, users, contexts }: Content, origin: string): void {
  const missing = [
    ...clusters.map(({ name }, index) => (name ? [] : [`clusters[${index}].name`])),
    ...users.map(({ name }, index) => (name ? [] : [`users[${index}].name`])),
    ...contexts.map(({ name, context }, index) => [
      ...(name ? [] : [`contexts[${index}].name`]),
      ...(context?.cluster ? [] : [`contexts[${index}].context.cluster`]),
    ]),
  ].flat()
  const [first] = missing
  if (first === undefined) return
  throw invalid('kubernetes.kubeconfig', `${origin} cannot be read as a kubeconfig: ${first} is missing`)
}

export function requireHttps(server: string, field: string, origin: string): void {
  if (URL.canParse(server) && new URL(server).protocol === 'https:') return
  throw invalid(field, `${origin}: "${server}" is not an https URL`)
}

const SERVICE_ACCOUNT_TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount/token'

function requireCluster(): void {
  if (existsSync(SERVICE_ACCOUNT_TOKEN)) return
  throw invalid('kubernetes.inCluster', 'no ServiceAccount token is mounted here; name a kubeconfig file instead')
}

function invalid(field: string, message: string, cause?: unknown): CatalogueError {
  return new CatalogueError('KubeconfigInvalid', `${field}: ${message}`, { field, cause })
}
