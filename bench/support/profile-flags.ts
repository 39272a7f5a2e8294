/** A process that is profiled finishes its work before it ends and writes: longer than any drain. */
export const PROFILED_PATIENCE_MS = 60_000

/** For a process of Node: a CPU and a heap profile, `NAME.cpuprofile` and `NAME.heapprofile`, written when it ends. */
export function profileFlags(folder: string, name: string, intervalMicroseconds = 500): string[] {
  return [
    '--cpu-prof',
    `--cpu-prof-dir=${folder}`,
    `--cpu-prof-name=${name}.cpuprofile`,
    `--cpu-prof-interval=${intervalMicroseconds}`,
    '--heap-prof',
    `--heap-prof-dir=${folder}`,
    `--heap-prof-name=${name}.heapprofile`,
  ]
}
