import type { RandomDecisions } from './decide-randomly.ts'
import type { Decisions } from './decisions.ts'
import { END_INVARIANTS } from './end-checks.ts'
import type { Action, Setting } from './history.ts'
import { STEP_INVARIANTS } from './invariants.ts'
import { CLUSTER_END_INVARIANTS } from './kubernetes/cluster-end-checks.ts'
import type { ClusterMutation } from './kubernetes/cluster-mutation.ts'
import { CLUSTER_MUTATIONS } from './kubernetes/cluster-mutations.ts'
import type { KubernetesAction, KubernetesSetting } from './kubernetes/history.ts'
import { NODE_INVARIANTS } from './kubernetes/node-invariants.ts'
import { playClusterHistory } from './kubernetes/play-cluster-history.ts'
import { randomClusterDecisions } from './kubernetes/random-cluster-decisions.ts'
import { CLUSTER_INVARIANTS } from './kubernetes/sim-cluster-world.ts'
import { simplerCluster } from './kubernetes/simpler-cluster.ts'
import type { Mutation } from './mutation.ts'
import { MUTATIONS } from './mutations.ts'
import type { Played } from './play.ts'
import { playHistory } from './play-history.ts'
import { randomDecisions } from './random-decisions.ts'
import { recordedDecisions } from './recorded-decisions.ts'
import { shrink, simpler } from './shrink-history.ts'

export const CONTROL_PLANES = ['karmada', 'kubernetes'] as const
export type ControlPlane = (typeof CONTROL_PLANES)[number]

/** The histories of one kind of world, by their seeds. */
export interface Stage {
  controlPlane: ControlPlane
  invariants: readonly string[]
  /** What can be taken out. */
  safeguards: readonly string[]
  play(seed: number, without?: string): Promise<Played>
  /** A history that failed, cut down to what matters, and every step of it. */
  shortest(seed: number, violation: string, without?: string): Promise<Shortest>
}

export interface Shortest {
  violation: string
  tried: number
  setting: object
  entries: readonly object[]
  lines: readonly string[]
}

interface Kind<S, A, M> {
  random(seed: number): RandomDecisions<S, A>
  play(decisions: Decisions<S, A>, options: { mutation: M; keepLines?: boolean }): Promise<Played>
  mutations: Readonly<Record<string, M>>
  simpler(setting: S): ((setting: S) => S)[]
}

export const STAGES: Readonly<Record<ControlPlane, Stage>> = {
  karmada: stageOf<Setting, Action, Mutation>('karmada', [STEP_INVARIANTS, END_INVARIANTS], {
    random: randomDecisions,
    play: playHistory,
    mutations: MUTATIONS,
    simpler,
  }),
  kubernetes: stageOf<KubernetesSetting, KubernetesAction, ClusterMutation>(
    'kubernetes',
    [STEP_INVARIANTS, CLUSTER_INVARIANTS, NODE_INVARIANTS, CLUSTER_END_INVARIANTS],
    {
      random: randomClusterDecisions,
      play: playClusterHistory,
      mutations: CLUSTER_MUTATIONS,
      simpler: simplerCluster,
    },
  ),
}

export type WorldChoice = ControlPlane | 'mixed'

/** In a mixture every third history is of one cluster. */
export function stageFor(world: WorldChoice, seed: number): Stage {
  if (world !== 'mixed') return STAGES[world]
  return STAGES[seed % 3 === 0 ? 'kubernetes' : 'karmada']
}

function stageOf<S, A extends { do: string }, M extends object>(
  controlPlane: ControlPlane,
  invariants: readonly Record<string, string>[],
  { random, play, mutations, simpler }: Kind<S, A, M>,
): Stage {
  const mutationOf = (without: string | undefined) => (without === undefined ? {} : mutations[without]) as M
  return {
    controlPlane,
    invariants: invariants.flatMap((some) => Object.values(some)),
    safeguards: Object.keys(mutations),
    play: (seed, without) => play(random(seed), { mutation: mutationOf(without) }),
    async shortest(seed, violation, without) {
      const mutation = mutationOf(without)
      const decisions = random(seed)
      await play(decisions, { mutation })
      const shrunk = await shrink<S, A>(decisions.history(), violation, {
        play: (again) => play(again, { mutation }),
        simpler,
      })
      const { journal } = await play(recordedDecisions(shrunk.history), { mutation, keepLines: true })
      const { setting, entries } = shrunk.history
      const end = journal.lines.findIndex((line) => line.includes('VIOLATED'))
      return {
        violation: shrunk.violation,
        tried: shrunk.tried,
        setting: setting as object,
        entries,
        lines: journal.lines.slice(0, end < 0 ? undefined : end + 1),
      }
    },
  }
}
