import type { MultiClusterIngress } from './multi-cluster-ingress.ts'

/** The TLS Secrets an ingress uses, all of its own namespace: sorted, each once. An entry may name none. */
export function referencedSecrets({ spec }: MultiClusterIngress): string[] {
  const names = (spec?.tls ?? []).map(({ secretName }) => secretName ?? '')
  return [...new Set(names)].filter((name) => name !== '').sort()
}
