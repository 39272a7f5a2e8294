import { stageFor, type WorldChoice } from './stage.ts'

/** What a stretch of seeds came to. */
export interface Found {
  played: number
  steps: number
  faults: Record<string, number>
  checks: Record<string, number>
  failures: { seed: number; violation: string }[]
}

export function nothingFound(): Found {
  return { played: 0, steps: 0, faults: {}, checks: {}, failures: [] }
}

/** Plays the histories of these seeds, one after another. */
export async function search(from: number, count: number, world: WorldChoice, without?: string): Promise<Found> {
  const found = nothingFound()
  for (let seed = from; seed < from + count; seed += 1) {
    const { violation, steps, journal } = await stageFor(world, seed).play(seed, without)
    found.played += 1
    found.steps += steps
    add(found.faults, Object.fromEntries(journal.faults))
    add(found.checks, Object.fromEntries(journal.checks))
    if (violation !== undefined) found.failures.push({ seed, violation })
  }
  return found
}

export function addFound(total: Found, more: Found): void {
  total.played += more.played
  total.steps += more.steps
  add(total.faults, more.faults)
  add(total.checks, more.checks)
  total.failures.push(...more.failures)
}

function add(total: Record<string, number>, more: Record<string, number>): void {
  for (const [name, count] of Object.entries(more)) total[name] = (total[name] ?? 0) + count
}
