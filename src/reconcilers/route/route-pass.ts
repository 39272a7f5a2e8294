import type { Cidr } from '../../domain/cidr.ts'
import type { ObjectKey } from '../../domain/object-key.ts'
import type { Routes } from '../../provider/cloud.ts'
import type { NodeDependencies } from '../node/node-pass.ts'

export interface RouteSettings {
  clusterName: string
  /** The networks of the pods: routes within them are ours to judge. */
  clusterCidrs: readonly Cidr[]
  /** Calls to the cloud that run at the same time. */
  concurrency: number
}

export interface RouteDependencies extends Omit<NodeDependencies, 'instances'> {
  routes: Routes
}

/** One run over all routes. */
export interface RoutePass extends RouteDependencies {
  settings: RouteSettings
  key: ObjectKey
  /** Aborts at the deadline, and when the lock is lost. */
  signal: AbortSignal
}
