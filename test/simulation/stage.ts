import type { RandomDecisions } from './decide-randomly.ts'
import type { Decisions } from './decisions.ts'
import { END_INVARIANTS } from './end-checks.ts'
import type { Action, Setting } from './history.ts'
import { STEP_INVARIANTS } from './invariants.ts'
import { CLUSTER_END_INVARIANTS } from './kubernetes/cluster-end-checks.ts'
import type { KubernetesAction, KubernetesSetting } from './kubernetes/history.ts'
import { NODE_INVARIANTS } from './kubernetes/node-invariants.ts'
import { playClusterHistory } from './kubernetes/play-cluster-history.ts'
import { randomClusterDecisions } from './kubernetes/random-cluster-decisions.ts'
import { CLUSTER_INVARIANTS } from './kubernetes/sim-cluster-world.ts'
import { simplerCluster } from './kubernetes/simpler-cluster.ts'
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
  play(seed: number): Promise<Played>
  /** A history that failed, cut down to what matters, and every step of it. */
  shortest(seed: number, violation: string): Promise<Shortest>
}

export interface Shortest {
  violation: string
  tried: number
  setting: object
  entries: readonly object[]
  lines: readonly string[]
}

interface Kind<S, A> {
  random(seed: number): RandomDecisions<S, A>
  play(decisions: Decisions<S, A>, options?: { keepLines?: boolean }): Promise<Played>
  simpler(setting: S): ((setting: S) => S)[]
}

export const STAGES: Readonly<Record<ControlPlane, Stage>> = {
  karmada: stageOf<Setting, Action>('karmada', [STEP_INVARIANTS, END_INVARIANTS], {
    random: randomDecisions,
    play: playHistory,
    simpler,
  }),
  kubernetes: stageOf<KubernetesSetting, KubernetesAction>(
    'kubernetes',
    [STEP_INVARIANTS, CLUSTER_INVARIANTS, NODE_INVARIANTS, CLUSTER_END_INVARIANTS],
    { random: randomClusterDecisions, play: playClusterHistory, simpler: simplerCluster },
  ),
}

/** Of a mixture: every third is of one cluster. */
export function stageOfSeed(seed: number): Stage {
  return STAGES[seed % 3 === 0 ? 'kubernetes' : 'karmada']
}

function stageOf<S, A extends { do: string }>(
  controlPlane: ControlPlane,
  invariants: readonly Record<string, string>[],
  { random, play, simpler }: Kind<S, A>,
): Stage {
  return {
    controlPlane,
    invariants: invariants.flatMap((some) => Object.values(some)),
    play: (seed) => play(random(seed)),
    async shortest(seed, violation) {
      const decisions = random(seed)
      await play(decisions)
      const shrunk = await shrink<S, A>(decisions.history(), violation, { play: (again) => play(again), simpler })
      const { journal } = await play(recordedDecisions(shrunk.history), { keepLines: true })
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
