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
