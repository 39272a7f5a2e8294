import type { ObjectKey } from '../object-key.ts'

/**
 * Work that concerns all nodes at once has a key among the nodes. No name of a Kubernetes object has an underscore, so no
 * node can be meant.
 */
type NodesKey = ObjectKey & { kind: 'Node' }

/** The routes of the cluster: always reconciled as a whole (R-RT-1). */
export const ROUTES_KEY: NodesKey = { kind: 'Node', namespace: '', name: '_routes' }

/** The set of nodes that balancers send traffic to: each Service of type LoadBalancer depends on it (R-SVC-22). */
export const BACKENDS_KEY: NodesKey = { kind: 'Node', namespace: '', name: '_backends' }

/** Whether a key is that of the set of backends. */
export function isBackends({ kind, name }: ObjectKey): boolean {
  return kind === BACKENDS_KEY.kind && name === BACKENDS_KEY.name
}

/** Whether a key names one node. */
export function isOneNode({ kind, name }: ObjectKey): boolean {
  return kind === 'Node' && !name.startsWith('_')
}
