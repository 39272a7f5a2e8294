import type { IngressBackend, MultiClusterIngress } from './multi-cluster-ingress.ts'

/** Every backend of an ingress in the order in which it is written: the default one, then rule by rule. */
export function ingressBackends({ spec }: MultiClusterIngress): IngressBackend[] {
  const ofRules = (spec?.rules ?? []).flatMap(({ http }) => (http?.paths ?? []).map(({ backend }) => backend))
  return [spec?.defaultBackend, ...ofRules].filter((backend) => backend !== undefined)
}

/** The Services an ingress sends traffic to, all of its own namespace: sorted, each once. Resource backends are none. */
export function referencedServices(ingress: MultiClusterIngress): string[] {
  const names = ingressBackends(ingress).map(({ service }) => service?.name ?? '')
  return [...new Set(names)].filter((name) => name !== '').sort()
}
