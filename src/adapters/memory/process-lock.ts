import { formatKey } from '../../domain/object-key.ts'
import type { Lock } from '../../ports/lock.ts'

/**
 * `lock: none`: one writer per object within this process, nothing outside it. For one instance only.
 * Releasing twice is harmless.
 */
export function createProcessLock(): Lock {
  const holders = new Map<string, { again: boolean }>()
  let fence = 0
  return {
    async acquire(key) {
      const name = formatKey(key)
      const holder = holders.get(name)
      if (holder !== undefined) {
        holder.again = true
        return undefined
      }
      const mine = { again: false }
      holders.set(name, mine)
      fence += 1
      return {
        fence: String(fence),
        lost: NEVER,
        async release() {
          if (holders.get(name) === mine) holders.delete(name)
          return { again: mine.again }
        },
      }
    },
  }
}

const NEVER = new AbortController().signal
