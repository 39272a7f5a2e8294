import { setTimeout as pause } from 'node:timers/promises'
import type { SlicePort } from '../../../src/domain/endpoint-slice.ts'
import type { KubernetesObject } from '../../../src/domain/kubernetes-object.ts'
import type { ServicePort } from '../../../src/domain/service.ts'
import { CLUSTERS } from '../../apiserver/support/backends.ts'
import type { ApiClient, Body } from '../../contracts/kubernetes-api/api-client.ts'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { buildBinding, buildCluster, buildSlice, buildTemplate } from '../../support/build-objects.ts'
import { MEMBERS, type Member, type Networks } from './networks.ts'
import { PORTS } from './pods.ts'

/** The namespace in which builders put things; everything here is in it. */
export const NAMESPACE = 'shop'

const CORE = `/api/v1/namespaces/${NAMESPACE}`
const BINDINGS = `/apis/work.karmada.io/v1alpha2/namespaces/${NAMESPACE}/resourcebindings`
const REMEDIES = '/apis/remedy.karmada.io/v1alpha1/remedies'
const SLICES = `/apis/discovery.k8s.io/v1/namespaces/${NAMESPACE}/endpointslices`

/** Of every Service: `http` for ingresses, the others for MultiClusterServices. */
const SERVICE_PORTS: ServicePort[] = [
  { name: 'http', port: 80 },
  { name: 'tcp', port: 7000 },
  { name: 'proxied', port: 7001 },
]
const SLICE_PORTS: SlicePort[] = [
  { name: 'http', port: PORTS.http },
  { name: 'tcp', port: PORTS.tcp },
  { name: 'proxied', port: PORTS.proxied },
]

type Family = 'IPv4' | 'IPv6'

/** Which pods of each cluster, by number; without a cluster the Service does not run there. */
export type PodsOfService = Partial<Record<Member, readonly number[]>>

/** What Karmada itself writes on its control plane: clusters, Services with bindings, and what it collects from members. */
export interface Shop {
  /** Over IPv4 alone, unless families are named. */
  publish(service: string, pods: PodsOfService, families?: readonly Family[]): Promise<void>
  /** What the slices of one cluster list from now on. */
  setPods(service: string, cluster: Member, numbers: readonly number[]): Promise<void>
  /** A Remedy that asks for it is made or taken away, and as Karmada's remedy controller does, so is the action it asks for. */
  setRemedy(cluster: Member, isOn: boolean): Promise<void>
  /** What the remedy controller writes. */
  setTrafficControl(cluster: Member, isOn: boolean): Promise<void>
  /** Of type `kubernetes.io/tls`; created, or replaced. */
  setSecret(name: string, pair: { certPem: string; keyPem: string }): Promise<void>
}

export async function openShop(admin: ApiClient, networks: Networks): Promise<Shop> {
  await mustBe(201, admin.post('/api/v1/namespaces', namespace()))
  for (const member of MEMBERS) await mustBe(201, admin.post(CLUSTERS, { ...buildCluster(member), spec: {} }))

  const familiesOf = new Map<string, readonly Family[]>()
  const endpoints = (member: Member, numbers: readonly number[], family: Family) =>
    numbers.map((number) => ({ addresses: [networks.pod(member, number, family)], conditions: { ready: true } }))
  const sliceName = (service: string, member: Member, family: string) =>
    `imported-${member}-${service}-${family.toLowerCase()}`

  async function setTrafficControl(cluster: Member, isOn: boolean): Promise<void> {
    const status = { remedyActions: isOn ? ['TrafficControl'] : [] }
    await mustBe(200, admin.patch('merge-patch', `${CLUSTERS}/${cluster}/status`, { status }))
  }

  return {
    async publish(service, pods, families = ['IPv4']) {
      familiesOf.set(service, families)
      const clusters = MEMBERS.filter((member) => pods[member] !== undefined)
      await create(`${CORE}/services`, buildTemplate(service, SERVICE_PORTS))
      await create(BINDINGS, buildBinding(service, clusters))
      for (const cluster of clusters)
        for (const family of families) {
          const slice = buildSlice({
            cluster,
            service,
            addressType: family,
            ports: SLICE_PORTS,
            endpoints: endpoints(cluster, pods[cluster] ?? [], family),
          })
          const metadata = { ...slice.metadata, name: sliceName(service, cluster, family) }
          await create(SLICES, { ...slice, metadata })
        }
    },
    async setPods(service, cluster, numbers) {
      for (const family of familiesOf.get(service) ?? []) {
        const path = `${SLICES}/${sliceName(service, cluster, family)}`
        await mustBe(200, admin.patch('merge-patch', path, { endpoints: endpoints(cluster, numbers, family) }))
      }
    },
    setTrafficControl,
    async setRemedy(cluster, isOn) {
      if (isOn) await mustBe(201, admin.post(REMEDIES, remedyFor(cluster)))
      else await mustBe(200, admin.delete(`${REMEDIES}/${nameOfRemedy(cluster)}`))
      await pause(CONTROLLER_TAKES_MS)
      await setTrafficControl(cluster, isOn)
    },
    async setSecret(name, { certPem, keyPem }) {
      const path = `${CORE}/secrets`
      const data = { 'tls.crt': btoa(certPem), 'tls.key': btoa(keyPem) }
      const secret = { apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls', metadata: { name }, data }
      if ((await admin.get(`${path}/${name}`)).code === 404) await mustBe(201, admin.post(path, secret))
      else await mustBe(200, admin.patch('merge-patch', `${path}/${name}`, { data }))
    },
  }

  async function create(path: string, object: KubernetesObject): Promise<Body> {
    const { uid: _, ...metadata } = object.metadata
    return await mustBe(201, admin.post(path, { ...object, metadata }))
  }
}

const CONTROLLER_TAKES_MS = 200

function nameOfRemedy(cluster: Member): string {
  return `away-from-${cluster}`
}

function remedyFor(cluster: Member): object {
  return {
    apiVersion: 'remedy.karmada.io/v1alpha1',
    kind: 'Remedy',
    metadata: { name: nameOfRemedy(cluster) },
    spec: { clusterAffinity: { clusterNames: [cluster] }, actions: ['TrafficControl'] },
  }
}

function namespace(): object {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }
}
