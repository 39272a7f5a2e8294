import type { Fault } from './history.ts'

/** What happened in a history: for people, and to see that it looks where it says it does. */
export interface Journal {
  /** Only kept when somebody wants to read it. */
  lines: string[]
  faults: Map<string, number>
  /** How often each invariant was checked. */
  checks: Map<string, number>
  /** The first violation; what comes after it may follow from it. */
  violation: string | undefined
  say(line: string): void
  fault(call: string, fault: Fault): void
  happened(kind: string): void
  checked(invariant: string): void
  violated(invariant: string, detail: string): void
}

export function createJournal(options: { keepLines: boolean; now: () => number }): Journal {
  const start = options.now()
  const count = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
  const journal: Journal = {
    lines: [],
    faults: new Map(),
    checks: new Map(),
    violation: undefined,
    say(line) {
      if (options.keepLines) journal.lines.push(`${String(options.now() - start).padStart(7)} ms  ${line}`)
    },
    fault(call, fault) {
      const [[group, kind] = ['', '']] = Object.entries(fault)
      count(journal.faults, `${group}: ${kind}`)
      journal.say(`FAULT ${JSON.stringify(fault)} at ${call}`)
    },
    happened: (kind) => void count(journal.faults, kind),
    checked: (invariant) => void count(journal.checks, invariant),
    violated(invariant, detail) {
      journal.say(`VIOLATED ${invariant}: ${detail}`)
      journal.violation ??= `${invariant}: ${detail}`
    },
  }
  return journal
}
