import type { ApiClient } from '../../contracts/kubernetes-api/api-client.ts'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'

export const CLUSTERS = '/apis/cluster.karmada.io/v1alpha1/clusters'

export function cluster(name: string) {
  return { apiVersion: 'cluster.karmada.io/v1alpha1', kind: 'Cluster', metadata: { name }, spec: {} }
}

/** A Service in cluster `member1`, with a slice as Karmada v1.10 collected them: only the Work says where it is from. */
export async function createBackend(admin: ApiClient, namespace: string, name: string): Promise<void> {
  await mustBe(
    201,
    admin.post(`/api/v1/namespaces/${namespace}/services`, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name },
      spec: { ports: [{ name: 'http', port: 80 }] },
    }),
  )
  await mustBe(
    201,
    admin.post(`/apis/work.karmada.io/v1alpha2/namespaces/${namespace}/resourcebindings`, {
      apiVersion: 'work.karmada.io/v1alpha2',
      kind: 'ResourceBinding',
      metadata: { name: `${name}-service` },
      spec: { resource: { apiVersion: 'v1', kind: 'Service', namespace, name }, clusters: [{ name: 'member1' }] },
    }),
  )
  await mustBe(
    201,
    admin.post(`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`, {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name: `imported-member1-${name}-x7k2p`,
        labels: { 'kubernetes.io/service-name': `derived-${name}`, 'work.karmada.io/permanent-id': 'an-id' },
      },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.1.2.3'] }],
      ports: [{ name: 'http', port: 8080 }],
    }),
  )
}

export async function createCertificate(admin: ApiClient, namespace: string, name: string): Promise<void> {
  const stringData = { 'tls.crt': 'certificate', 'tls.key': 'key' }
  await mustBe(
    201,
    admin.post(`/api/v1/namespaces/${namespace}/secrets`, {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/tls',
      metadata: { name },
      stringData,
    }),
  )
}
