import { formatKey } from '../../domain/object-key.ts'
import type { Memories } from '../../ports/memories.ts'

/** Remembers within this process, and what was remembered longest ago no longer than there is room. */
export function createProcessMemories<T>(capacity = 10_000): Memories<T> {
  const memories = new Map<string, { uid: string; memory: T }>()
  return {
    recall(key, uid) {
      const known = memories.get(formatKey(key))
      return known?.uid === uid ? known.memory : undefined
    },
    remember(key, uid, memory) {
      const name = formatKey(key)
      memories.delete(name)
      memories.set(name, { uid, memory })
      const [oldest] = memories.keys()
      if (memories.size > capacity && oldest !== undefined) memories.delete(oldest)
    },
    forget: (key) => void memories.delete(formatKey(key)),
  }
}
