import { existsSync } from 'node:fs'

/** What is measured stays on one core, and what it talks to on the other. */
export const MEASURED_CORE = 1
export const OTHER_CORE = 0

const TASKSET = '/usr/bin/taskset'

/** The command that runs Node on this core, where that can be asked for. */
export function nodeOnCore(core: number | undefined, args: readonly string[]): [command: string, args: string[]] {
  if (core === undefined || !existsSync(TASKSET)) return [process.execPath, [...args]]
  return [TASKSET, ['--cpu-list', String(core), process.execPath, ...args]]
}
