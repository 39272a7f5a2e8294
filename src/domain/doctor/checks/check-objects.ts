import { type Examination, notKnown, type Problem, red, yellow } from '../examination.ts'
import type { Facts, UnfinishedObject } from '../facts.ts'

const PATIENCE_MS = 10 * 60_000
const NAMED_AT_MOST = 3

/** Nothing waits for its balancer, or for leave to go, longer than a cloud takes. */
export function checkObjects({ unfinished, now }: Facts): Examination {
  if (!unfinished.known) return notKnown(unfinished.reason, 'give --kubeconfig of a user who may list them')
  const stuck = unfinished.value.filter(({ since }) => now - since > PATIENCE_MS)
  const leaving = stuck.filter(({ state }) => state === 'leaving')
  const unserved = stuck.filter(({ state }) => state === 'unserved')
  const problems: Problem[] = [
    ...(leaving.length === 0
      ? []
      : [
          red(
            `${named(leaving)} cannot go: our finalizer holds them`,
            'see their events: the cloud still has, or may have, their balancers',
          ),
        ]),
    ...(unserved.length === 0
      ? []
      : [
          yellow(
            `${named(unserved)} without an address for more than 10 minutes`,
            'see their events (kubectl describe) and the log',
          ),
        ]),
  ]
  return {
    summary: `${unfinished.value.length} unfinished, ${stuck.length} of them for more than 10 minutes`,
    problems,
  }
}

function named(objects: readonly UnfinishedObject[]): string {
  const names = objects.slice(0, NAMED_AT_MOST).map(({ name }) => name)
  const more = objects.length - names.length
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ')
}
