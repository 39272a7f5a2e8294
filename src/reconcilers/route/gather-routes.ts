import type { Node } from '../../domain/node.ts'
import type { Route } from '../../domain/nodes/route.ts'
import type { ClusterReader } from '../../ports/cluster-store.ts'
import { askCloud } from '../ask-cloud.ts'
import { listAll } from '../list-all.ts'
import type { RoutePass } from './route-pass.ts'

export interface RouteSnapshot {
  nodes: readonly Node[]
  routes: readonly Route[]
}

/** All nodes and all routes of the cluster; throws when one of the lists cannot be had: then nothing changes (C-131). */
export async function gatherRoutes(pass: RoutePass, reader: ClusterReader): Promise<RouteSnapshot> {
  const [nodes, routes] = await Promise.all([
    listAll('Node', reader, { limit: 500, signal: pass.signal }),
    listRoutes(pass),
  ])
  return { nodes, routes }
}

export function listRoutes(pass: RoutePass): Promise<Route[]> {
  return askCloud(pass, (context) => pass.routes.listRoutes(pass.settings.clusterName, context))
}
