import type { Config } from './config.ts'

/**
 * What `wcp watch` is for, where the file names nothing: over clusters no review tells of a Cluster, and none should carry
 * a Secret; under one cluster none tells of readiness and addresses of nodes, since it would sit in every heartbeat.
 */
export const WATCHED_RESOURCES: Readonly<Record<NonNullable<Config['controlPlane']>, Config['watch']['resources']>> = {
  karmada: [
    { group: 'cluster.karmada.io', version: 'v1alpha1', plural: 'clusters', kind: 'Cluster', metadataOnly: false },
    { group: '', version: 'v1', plural: 'secrets', kind: 'Secret', metadataOnly: true },
  ],
  kubernetes: [{ group: '', version: 'v1', plural: 'nodes', kind: 'Node', metadataOnly: false }],
}
