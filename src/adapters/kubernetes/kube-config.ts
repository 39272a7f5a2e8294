import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { parse } from 'yaml'
import { CatalogueError } from '../../domain/catalogue-error.ts'

/** Where the credentials come from. There is no default: the library's own ends at http://localhost:8080. */
export type KubernetesSource =
  | { kind: 'file'; path: string; context?: string }
  /** The kubeconfig itself, where the platform has no files; `origin` says where it came from. */
  | { kind: 'text'; text: string; origin: string; context?: string }
  | { kind: 'in-cluster' }

const SERVICE_ACCOUNT_TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount/token'

/** Throws `KubeconfigInvalid`, naming the field. Reads files; makes no request. */
export function loadKubeConfig(source: KubernetesSource): KubeConfig {
  switch (source.kind) {
    case 'file':
      return fromFile(source)
    case 'text':
      return fromText(source)
    case 'in-cluster':
      return inCluster()
  }
}

function fromFile({ path, context }: { path: string; context?: string }): KubeConfig {
  const content = readContent(path, readText(path))
  const config = new KubeConfig()
  try {
    config.loadFromFile(path)
  } catch (error) {
    throw invalid('kubernetes.kubeconfig', `${path} cannot be read as a kubeconfig: ${firstLine(error)}`, error)
  }
  useTokenFiles(config, content, path)
  if (context !== undefined) config.setCurrentContext(context)
  return checked(config, path)
}

function fromText({ text, origin, context }: { text: string; origin: string; context?: string }): KubeConfig {
  const content = readContent(origin, text)
  const config = new KubeConfig()
  try {
    config.loadFromString(text)
  } catch (error) {
    throw invalid('kubernetes.kubeconfig', `${origin} cannot be read as a kubeconfig: ${firstLine(error)}`, error)
  }
  useTokenFiles(config, content, '/')
  if (context !== undefined) config.setCurrentContext(context)
  return checked(config, origin)
}

/** Only the parts that the library does not look at. */
interface Content {
  users?: { name?: unknown; user?: { tokenFile?: unknown } }[]
}

function readContent(path: string, text: string): Content {
  const content = parseYaml(path, text)
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw invalid('kubernetes.kubeconfig', `${path} is not a kubeconfig: it is not a YAML mapping`)
  }
  for (const list of ['clusters', 'users', 'contexts']) {
    const entries: unknown = (content as Record<string, unknown>)[list]
    if (!Array.isArray(entries)) throw invalid(list, `${path} has no list of ${list}`)
    if (!entries.every((entry) => typeof entry === 'object' && entry !== null)) {
      throw invalid(list, `${path}: every entry of ${list} must be a mapping`)
    }
  }
  for (const [index, { cluster }] of (
    content as { clusters: { cluster?: { server?: unknown } }[] }
  ).clusters.entries()) {
    if (typeof cluster?.server !== 'string') {
      throw invalid(`clusters[${index}].cluster.server`, `${path}: it must be an https URL`)
    }
  }
  return content
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
    return parse(text, { logLevel: 'error' })
  } catch (error) {
    const position = error instanceof Error && 'linePos' in error ? error.linePos : undefined
    const [start] = Array.isArray(position) ? (position as { line: number; col: number }[]) : []
    const where = start === undefined ? '' : `: line ${start.line}, column ${start.col}`
    throw invalid('kubernetes.kubeconfig', `${path} is not valid YAML${where}`)
  }
}

/** kubectl's `tokenFile`, which the library does not know; it comes before a `token`, as there. */
function useTokenFiles(config: KubeConfig, { users = [] }: Content, path: string): void {
  for (const { name, user } of users) {
    const tokenFile = user?.tokenFile
    const known = config.users.findIndex((each) => each.name === name)
    const entry = config.users[known]
    if (typeof tokenFile !== 'string' || entry === undefined) continue
    const { token: _, ...rest } = entry
    const authProvider = { name: 'tokenFile', config: { tokenFile: resolve(dirname(path), tokenFile) } }
    config.users[known] = { ...rest, authProvider }
  }
}

function checked(config: KubeConfig, path: string): KubeConfig {
  const name = config.getCurrentContext()
  const context = config.getContextObject(name)
  if (context === null) {
    const known = config.getContexts().map((each) => each.name)
    throw invalid('kubernetes.context', `${path} has no context "${name ?? ''}"; it has: ${known.join(', ') || 'none'}`)
  }
  const cluster = config.getCurrentCluster()
  if (cluster === null) throw invalid('clusters', `${path} has no cluster "${context.cluster}"`)
  if (config.getCurrentUser() === null) throw invalid('users', `${path} has no user "${context.user}"`)
  requireHttps(cluster.server, 'clusters[].cluster.server', path)
  return config
}

function requireHttps(server: string, field: string, path: string): void {
  if (URL.canParse(server) && new URL(server).protocol === 'https:') return
  throw invalid(field, `${path}: "${server}" is not an https URL`)
}

function inCluster(): KubeConfig {
  if (!existsSync(SERVICE_ACCOUNT_TOKEN)) {
    throw invalid('kubernetes.inCluster', 'no ServiceAccount token is mounted here; name a kubeconfig file instead')
  }
  const config = new KubeConfig()
  config.loadFromCluster()
  const server = config.getCurrentCluster()?.server ?? ''
  requireHttps(server, 'KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT', 'the environment')
  return config
}

function invalid(field: string, message: string, cause?: unknown): CatalogueError {
  return new CatalogueError('KubeconfigInvalid', `${field}: ${message}`, { field, cause })
}

/** The library's messages name the field; a YAML error of its parser goes on with an excerpt of the file. */
function firstLine(error: unknown): string {
  return String(error instanceof Error ? error.message : error).split('\n', 1)[0] ?? ''
}
