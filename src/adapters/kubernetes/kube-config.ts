import { resolve } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { type Kubeconfig, type KubernetesSource, readKubeconfig, requireHttps } from './read-kubeconfig.ts'

/** Throws `KubeconfigInvalid`, naming the field. Reads files; makes no request. */
export function loadKubeConfig(source: KubernetesSource): KubeConfig {
  const read = readKubeconfig(source)
  return read === undefined ? inCluster() : kubeConfigOf(read)
}

function kubeConfigOf({ text, directory, users, currentContext }: Kubeconfig): KubeConfig {
  const config = new KubeConfig()
  config.loadFromString(text)
  if (directory !== undefined) config.makePathsAbsolute(directory)
  useTokenFiles(config, users, directory ?? '/')
  config.setCurrentContext(currentContext)
  return config
}

/** kubectl's `tokenFile`, which the library does not know; it comes before a `token`, as there. */
function useTokenFiles(config: KubeConfig, users: Kubeconfig['users'], directory: string): void {
  for (const { name, user } of users) {
    const tokenFile = user?.tokenFile
    const known = config.users.findIndex((each) => each.name === name)
    const entry = config.users[known]
    if (typeof tokenFile !== 'string' || entry === undefined) continue
    const { token: _, ...rest } = entry
    const authProvider = { name: 'tokenFile', config: { tokenFile: resolve(directory, tokenFile) } }
    config.users[known] = { ...rest, authProvider }
  }
}

function inCluster(): KubeConfig {
  const config = new KubeConfig()
  config.loadFromCluster()
  const server = config.getCurrentCluster()?.server ?? ''
  requireHttps(server, 'KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT', 'the environment')
  return config
}
