import type { KubernetesSource } from '../adapters/kubernetes/read-kubeconfig.ts'
import type { Config } from '../config/config.ts'

/** Where the configuration says that the credentials are. */
export function kubernetesSource({ kubernetes }: Config): KubernetesSource {
  const { kubeconfig, kubeconfigText, context } = kubernetes
  const chosen = context === undefined ? {} : { context }
  if (kubeconfigText !== undefined) {
    return { kind: 'text', text: kubeconfigText, origin: 'the variable WCP_KUBECONFIG_YAML', ...chosen }
  }
  if (kubeconfig === undefined) return { kind: 'in-cluster' }
  return { kind: 'file', path: kubeconfig, ...chosen }
}
