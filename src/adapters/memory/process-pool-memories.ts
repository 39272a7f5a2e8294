import type { PoolMemory } from '../../domain/backends/pool-memory.ts'
import { formatKey } from '../../domain/object-key.ts'
import type { PoolMemories } from '../../ports/pool-memories.ts'

/** Remembers within this process, and the least recently seen object no longer than there is room. */
export function createProcessPoolMemories(capacity = 10_000): PoolMemories {
  const memories = new Map<string, { uid: string; memory: PoolMemory }>()
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
