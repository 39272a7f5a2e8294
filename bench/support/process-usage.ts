import { readdirSync, readFileSync } from 'node:fs'

/** What a process of this machine has used, as Linux tells it. */
export interface ProcessUsage {
  /** On any core, of the threads that live. */
  cpuMs: number
  rssMb: number
  peakRssMb: number
}

export function usageOf(pid: number): ProcessUsage {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const megabytes = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024
  return { cpuMs: cpuMsOf(pid), rssMb: megabytes('VmRSS'), peakRssMb: megabytes('VmHWM') }
}

/** To the nanosecond, where /proc/PID/stat counts in hundredths of a second. */
function cpuMsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/task`)
    .map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ', 1)[0]))
    .reduce((sum, nanoseconds) => sum + nanoseconds / 1e6, 0)
}
