import { existsSync } from 'node:fs'
import { KubeConfig } from '@kubernetes/client-node'
import { CatalogueError } from '../../domain/catalogue-error.ts'

/** Where the credentials come from. There is no default: the library's own ends at http://localhost:8080. */
export type KubernetesSource = { kind: 'file'; path: string; context?: string } | { kind: 'in-cluster' }

const SERVICE_ACCOUNT_TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount/token'

/** Throws `KubeconfigInvalid`, naming the field. Reads files; makes no request. */
export function loadKubeConfig(source: KubernetesSource): KubeConfig {
  return source.kind === 'file' ? fromFile(source) : inCluster()
}

function fromFile({ path, context }: { path: string; context?: string }): KubeConfig {
  if (!existsSync(path)) throw invalid('kubernetes.kubeconfig', `${path} does not exist`)
  const config = new KubeConfig()
  try {
    config.loadFromFile(path)
  } catch (error) {
    throw invalid('kubernetes.kubeconfig', `${path} cannot be read as a kubeconfig: ${firstLine(error)}`, error)
  }
  if (context !== undefined) config.setCurrentContext(context)
  return checked(config, path)
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
  if (!URL.canParse(cluster.server ?? '') || new URL(cluster.server).protocol !== 'https:') {
    throw invalid('clusters[].cluster.server', `${path}: "${cluster.server ?? ''}" is not an https URL`)
  }
  return config
}

function inCluster(): KubeConfig {
  if (!existsSync(SERVICE_ACCOUNT_TOKEN)) {
    throw invalid('kubernetes.inCluster', 'no ServiceAccount token is mounted here; name a kubeconfig file instead')
  }
  const config = new KubeConfig()
  config.loadFromCluster()
  return config
}

function invalid(field: string, message: string, cause?: unknown): CatalogueError {
  return new CatalogueError('KubeconfigInvalid', `${field}: ${message}`, { field, cause })
}

/** A YAML error goes on with an excerpt of the file, which may hold credentials. */
function firstLine(error: unknown): string {
  return String(error instanceof Error ? error.message : error).split('\n', 1)[0] ?? ''
}
