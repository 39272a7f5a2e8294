import type { KubernetesSource } from '../adapters/kubernetes/kube-config.ts'
import type { Config } from '../config/config.ts'

/** Where the configuration says that the credentials are. */
export function kubernetesSource({ kubernetes }: Config): KubernetesSource {
  const { kubeconfig, context } = kubernetes
  if (kubeconfig === undefined) return { kind: 'in-cluster' }
  return { kind: 'file', path: kubeconfig, ...(context === undefined ? {} : { context }) }
}
