import type { Node } from '../domain/node.ts'
import type { Route } from '../domain/nodes/route.ts'
import type { Logger } from '../ports/logger.ts'
import type { CloudContext, InstancesV2, Routes } from '../provider/cloud.ts'
import { CLUSTER_ID } from './bench.ts'
import { demand } from './conformance-fault.ts'
import type { Patience } from './patience.ts'

/** What a check of instances or routes works with. */
export interface CloudBench<T> extends Pick<Patience, 'outcomeOf' | 'patienceMs'> {
  part: T
  /** The scheme of the providerIDs. */
  providerName: string
  /** One whose machine runs, if any was named. */
  node: Node | undefined
  /** One call, `RetryAfter` waited for. */
  ask<A>(what: string, call: (part: T, context: CloudContext) => Promise<A>): Promise<A>
  /** The same with this signal, made once. */
  with<A>(signal: AbortSignal, call: (part: T, context: CloudContext) => Promise<A>): Promise<A>
  cleanUp(): Promise<void>
}

export type InstancesBench = CloudBench<InstancesV2>

export interface RoutesBench extends CloudBench<Routes> {
  /** A route of the network that this check has for itself, to the machine of the node. */
  route: Route
  create(clusterName?: string): Promise<void>
  delete(clusterName?: string): Promise<void>
  /** Those of this check's network. */
  listed(clusterName?: string): Promise<Route[]>
}

interface CloudParts {
  providerName: string
  node: Node | undefined
  patience: Patience
}

export function createInstancesBench(part: InstancesV2, parts: CloudParts): InstancesBench {
  return cloudBench(part, parts, CLUSTER_ID)
}

const CLUSTER = 'conformance'

export function createRoutesBench(part: Routes, place: number, parts: CloudParts): RoutesBench {
  const bench = cloudBench(part, parts, CLUSTER_ID)
  const used = new Set<string>()
  // The networks for benchmarks (RFC 2544): nobody's pods are there.
  const route = { targetNode: parts.node?.metadata.name ?? '', destinationCIDR: `198.18.${place}.0/24` }
  const ofCluster = (context: CloudContext, name: string) =>
    name === CLUSTER ? context : { ...context, clusterId: name }

  return {
    ...bench,
    route,
    async create(name = CLUSTER) {
      used.add(name)
      await bench.ask('createRoute', (routes, context) =>
        routes.createRoute(name, 'conformance', { ...route }, ofCluster(context, name)),
      )
    },
    async listed(name = CLUSTER) {
      const all = await bench.ask('listRoutes', (routes, context) => routes.listRoutes(name, ofCluster(context, name)))
      demand(Array.isArray(all), 'listRoutes does not answer a list')
      return all.filter(({ destinationCIDR }) => destinationCIDR === route.destinationCIDR)
    },
    async delete(name = CLUSTER) {
      const [found = route] = await this.listed(name)
      await bench.ask('deleteRoute', (routes, context) => routes.deleteRoute(name, found, ofCluster(context, name)))
    },
    async cleanUp() {
      for (const name of used) await this.delete(name)
    },
  }
}

function cloudBench<T>(part: T, { providerName, node, patience }: CloudParts, clusterId: string): CloudBench<T> {
  const { outcomeOf, patienceMs, patiently } = patience
  return {
    part,
    providerName,
    // Each check its own: another may have met a provider that changes what it is handed.
    node: structuredClone(node),
    outcomeOf,
    patienceMs,
    ask: (what, call) => patiently(what, (signal) => call(part, { signal, logger, clusterId })),
    with: (signal, call) => call(part, { signal, logger, clusterId }),
    cleanUp: async () => {},
  }
}

const logger: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => logger }
