import type { Decisions } from '../decisions.ts'
import { type Played, type PlayOptions, play } from '../play.ts'
import { checkClusterEnd } from './cluster-end-checks.ts'
import type { ClusterMutation } from './cluster-mutation.ts'
import type { KubernetesAction, KubernetesSetting } from './history.ts'
import { createSimClusterWorld, type SimClusterWorld } from './sim-cluster-world.ts'

export type ClusterDecisions = Decisions<KubernetesSetting, KubernetesAction>

export interface ClusterPlayOptions extends PlayOptions<SimClusterWorld> {
  mutation?: ClusterMutation
}

/** A history of one cluster and the cloud under it. */
export function playClusterHistory(decisions: ClusterDecisions, options: ClusterPlayOptions = {}): Promise<Played> {
  const { mutation = {} } = options
  const createWorld = (parts: Omit<Parameters<typeof createSimClusterWorld>[0], 'mutation'>) =>
    createSimClusterWorld({ ...parts, mutation })
  return play(decisions, { createWorld, checkEnd: checkClusterEnd }, options)
}
