import { formatKey } from '../../domain/object-key.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Lock } from '../../ports/lock.ts'

/**
 * `lock: none`: one writer per object within this process, nothing outside it. For one instance only.
 * Releasing twice is harmless. Fences follow the clock, so that they grow over restarts too.
 */
export function createProcessLock(clock: Clock): Lock {
  const holders = new Map<string, { again: boolean }>()
  const notes = new Map<string, Map<string, string>>()
  let fence = 0
  return {
    peek: async (key, title) => notes.get(formatKey(key))?.get(title),
    async acquire(key) {
      const name = formatKey(key)
      const holder = holders.get(name)
      if (holder !== undefined) {
        holder.again = true
        return undefined
      }
      const mine = { again: false }
      holders.set(name, mine)
      fence = Math.max(fence + 1, clock.now())
      return {
        fence: String(fence),
        lost: NEVER,
        check() {},
        now: clock.now,
        note: (title) => notes.get(name)?.get(title),
        async setNote(title, text) {
          const ofKey = notes.get(name) ?? new Map<string, string>()
          if (text === undefined) ofKey.delete(title)
          else ofKey.set(title, text)
          if (ofKey.size === 0) notes.delete(name)
          else notes.set(name, ofKey)
        },
        async release() {
          if (holders.get(name) === mine) holders.delete(name)
          return { again: mine.again }
        },
      }
    },
  }
}

const NEVER = new AbortController().signal
