import assert from 'node:assert/strict'
import { addressesOf } from '../../apiserver/support/balanced-objects.ts'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import { ask } from './connection.ts'
import { LANES, type Lane } from './lane.ts'
import { NAMESPACE } from './shop.ts'
import type { Target } from './target.ts'
import type { World } from './world.ts'

const API = 'networking.karmada.io/v1alpha1'
const ROOT = `/apis/${API}/namespaces/${NAMESPACE}`
const OPTION = 'load-balancer.webhook-cloud-provider.dev/'

export interface Wishes {
  /** Annotations without their prefix. */
  options?: Record<string, string>
  /** Of an ingress instead of one rule, `/` of host `<service>.example.com`. */
  spec?: object
  /** Of a MultiClusterService. */
  ports?: { name: string; port: number }[]
  /** Of the object, where it is not `<lane>-<service>`. */
  name?: string
}

/** A MultiClusterIngress whose name begins with the lane, or the MultiClusterService of the Service's name. */
export function balanced(lane: Lane, service: string, wishes: Wishes = {}): Balanced {
  const { options = {}, spec, ports = [{ name: 'tcp', port: 7000 }], name = `${lane}-${service}` } = wishes
  const annotations = Object.fromEntries(Object.entries(options).map(([key, value]) => [`${OPTION}${key}`, value]))
  if (lane === 'tcp')
    return {
      apiVersion: API,
      kind: 'MultiClusterService',
      metadata: { namespace: NAMESPACE, name: service, annotations },
      spec: { types: ['LoadBalancer'], ports },
    }
  return {
    apiVersion: API,
    kind: 'MultiClusterIngress',
    metadata: { namespace: NAMESPACE, name, annotations },
    spec: { ingressClassName: lane, ...(spec ?? { rules: [ruleOf(hostOf(service), { '/': service })] }) },
  }
}

export interface Balanced {
  apiVersion: string
  kind: 'MultiClusterIngress' | 'MultiClusterService'
  metadata: { namespace: string; name: string; annotations: Record<string, string> }
  spec: object
}

export function hostOf(service: string): string {
  return `${service}.example.com`
}

/** Paths of type Prefix, and the Services that they lead to. */
export function ruleOf(host: string, paths: Record<string, string>) {
  return {
    host,
    http: {
      paths: Object.entries(paths).map(([path, service]) => ({
        path,
        pathType: 'Prefix',
        backend: backendOf(service),
      })),
    },
  }
}

export function backendOf(service: string) {
  return { service: { name: service, port: { number: 80 } } }
}

export function pathOf({ kind, metadata }: Balanced): string {
  return `${ROOT}/${kind === 'MultiClusterIngress' ? 'multiclusteringresses' : 'multiclusterservices'}/${metadata.name}`
}

/** What the status says, as soon as it says something. */
export async function publishedAddress(world: World, object: Balanced, withinMs = 20_000): Promise<string> {
  return await eventually(async () => {
    const [address] = addressesOf(await mustBe(200, world.admin.get(pathOf(object))))
    return address ?? assert.fail(`${object.kind} ${object.metadata.name} has no address`)
  }, withinMs)
}

/** Applies one of each lane, and returns where each is reached, once a pod answers there. */
export async function expose(
  world: World,
  service: string,
  wishes: (lane: Lane) => Wishes = () => ({}),
): Promise<Record<Lane, Target>> {
  await world.apply(...LANES.map((lane) => balanced(lane, service, wishes(lane))))
  return await onEach(LANES, async (lane) => {
    const target = targetAt(lane, await publishedAddress(world, balanced(lane, service)), service)
    await answers(target)
    return target
  })
}

export function targetAt(lane: Lane, address: string, service: string): Target {
  if (lane === 'tcp') return { protocol: 'tcp', address, port: 7000 }
  return { protocol: 'http', address, port: 80, host: hostOf(service) }
}

export async function answers(target: Target, withinMs = 10_000): Promise<void> {
  await eventually(async () => {
    const { status, text, pod } = await ask(target)
    assert.ok(pod, `${target.host ?? ''} ${target.address}:${target.port} answers ${status} ${text}`)
  }, withinMs)
}

/** Until it is this pod. */
export async function answersFrom(target: Target, pod: string): Promise<void> {
  await eventually(async () => assert.equal((await ask(target)).pod?.pod, pod, `${target.address}:${target.port}`))
}

/** Removes these objects, and returns once they are gone. */
export async function withdraw(world: World, ...objects: Balanced[]): Promise<void> {
  for (const kind of ['MultiClusterIngress', 'MultiClusterService'] as const) {
    const names = objects.filter((object) => object.kind === kind).map(({ metadata }) => metadata.name)
    if (names.length > 0) await world.kubectl(['delete', '-n', NAMESPACE, kind, ...names])
  }
}

/** The same for each lane, at the same time. */
export async function onEach<L extends Lane, T>(
  lanes: readonly L[],
  story: (lane: L) => Promise<T>,
): Promise<Record<L, T>> {
  const results = await Promise.all(lanes.map(async (lane) => [lane, await story(lane)] as const))
  return Object.fromEntries(results) as Record<L, T>
}
