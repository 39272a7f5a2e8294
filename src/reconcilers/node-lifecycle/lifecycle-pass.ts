import type { NodeDependencies, NodePass, NodeSettings } from '../node/node-pass.ts'

export interface LifecycleSettings extends Pick<NodeSettings, 'onlyOurs' | 'providerName'> {
  /** How long after its creation a node is not believed to be gone: clouds show new instances late (k/k#58334). */
  newNodeGraceMs: number
}

export type LifecycleDependencies = NodeDependencies

/** One run over one node. */
export interface LifecyclePass extends Omit<NodePass, 'settings'> {
  settings: LifecycleSettings
}
