import type { KubernetesObject } from './kubernetes-object.ts'

/** work.karmada.io/v1alpha2 ResourceBinding: to which clusters Karmada sends a resource. */
export interface ResourceBinding extends KubernetesObject {
  spec?: {
    resource?: { apiVersion?: string; kind?: string; namespace?: string; name?: string }
    clusters?: TargetCluster[]
    /** Bindings that need this resource beside them. */
    requiredBy?: { clusters?: TargetCluster[] }[]
  }
}

export interface TargetCluster {
  name: string
}

/**
 * The name of the v1 Service that the binding is for; undefined for any other resource. The binding's own name has no
 * group in it, so a Service of Knative may own `web-service` too: it proves nothing.
 */
export function boundService({ spec, metadata }: ResourceBinding): { namespace: string; name: string } | undefined {
  const { apiVersion, kind, namespace = metadata.namespace, name } = spec?.resource ?? {}
  if (apiVersion !== 'v1' || kind !== 'Service' || namespace === undefined || name === undefined) return undefined
  return { namespace, name }
}

/** `spec.clusters` and those of `spec.requiredBy`: sorted, each once. */
export function clustersOfBinding({ spec }: ResourceBinding): string[] {
  const targets = [...(spec?.clusters ?? []), ...(spec?.requiredBy ?? []).flatMap(({ clusters }) => clusters ?? [])]
  return [...new Set(targets.map(({ name }) => name))].sort()
}
