import { askHaproxy, tellHaproxy } from './haproxy-socket.ts'

/** The socket of the master (`haproxy -W -S …`): it starts a new worker from the files and lets the old one finish. */
export interface HaproxyMaster {
  /** How often it was told to reload, and how often it could not. */
  reloads(): Promise<{ told: number; failed: number }>
  /** Returns before the new worker is there. */
  reload(): Promise<void>
}

export function createHaproxyMaster(path: string): HaproxyMaster {
  return {
    async reloads() {
      const answer = await askHaproxy(path, 'show proc;quit')
      const [, told, failed] = /^\d+\s+master\s+(\d+)(?:\s+\[failed: (\d+)\])?/m.exec(answer) ?? []
      if (told === undefined) throw new TypeError(`the socket ${path} is not that of a master of HAProxy`)
      return { told: Number(told), failed: Number(failed ?? 0) }
    },
    async reload() {
      await tellHaproxy(path, 'reload')
    },
  }
}
