import type { Decisions } from './decisions.ts'
import { checkEnd } from './end-checks.ts'
import type { Mutation } from './mutation.ts'
import { type Played, type PlayOptions as PlayOptionsOf, play } from './play.ts'
import { createSimWorld, type SimWorld } from './sim-world.ts'

export interface PlayOptions extends PlayOptionsOf<SimWorld> {
  mutation?: Mutation
}

/** A history of balancers over clusters. */
export function playHistory(decisions: Decisions, options: PlayOptions = {}): Promise<Played> {
  const { mutation = {} } = options
  return play(decisions, { createWorld: (parts) => createSimWorld({ ...parts, mutation }), checkEnd }, options)
}
