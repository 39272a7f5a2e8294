import { loadKubeConfig } from '../adapters/kubernetes/kube-config.ts'
import {
  createKubernetesClusterStore,
  type KubernetesClusterStoreOptions,
} from '../adapters/kubernetes/kubernetes-cluster-store.ts'
import type { KubernetesSource } from '../adapters/kubernetes/read-kubeconfig.ts'
import type { OpenClusterStore } from './late-cluster-store.ts'

/** Everything that asks an API server, in one module that is loaded with the first question. */
export function openClusterStore(source: KubernetesSource, options: KubernetesClusterStoreOptions): OpenClusterStore {
  return createKubernetesClusterStore(loadKubeConfig(source), options)
}
