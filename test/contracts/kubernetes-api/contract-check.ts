import type { Bench } from './bench.ts'

/** One fact about a Kubernetes API, checked over the wire. */
export interface ContractCheck {
  name: string
  /** Of reference/protocols.md, or of the design. */
  section: string
  /** Disturbs other checks, so it runs by itself. */
  alone?: boolean
  run(bench: Bench): Promise<void>
}

/** The checks of one section; a check is its name and what it does. */
export function section(name: string, checks: Record<string, ContractCheck['run']>): ContractCheck[] {
  return Object.entries(checks).map(([title, run]) => ({ name: title, section: name, run }))
}
