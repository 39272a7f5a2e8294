/** Yellow: works, or could not be asked. Red: something does not work, or will stop working soon. */
export type State = 'green' | 'yellow' | 'red'

export interface Problem {
  state: 'yellow' | 'red'
  message: string
  remedy: string
}

/** What one check found; green without problems. */
export interface Examination {
  /** What was looked at and found, in one line. */
  summary: string
  problems: Problem[]
}

export function red(message: string, remedy: string): Problem {
  return { state: 'red', message, remedy }
}

export function yellow(message: string, remedy: string): Problem {
  return { state: 'yellow', message, remedy }
}

/** What could not be asked is not known, and never green. */
export function notKnown(reason: string, remedy: string): Examination {
  return { summary: 'not known', problems: [yellow(`not known: ${reason}`, remedy)] }
}

export function worst(states: readonly State[]): State {
  if (states.includes('red')) return 'red'
  return states.includes('yellow') ? 'yellow' : 'green'
}

const DAY_MS = 86_400_000

export function days(ms: number): string {
  const count = Math.floor(ms / DAY_MS)
  return count === 1 ? '1 day' : `${count} days`
}
