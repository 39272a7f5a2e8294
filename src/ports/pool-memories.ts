import type { PoolMemory } from '../domain/backends/pool-memory.ts'
import type { ObjectKey } from '../domain/object-key.ts'

/**
 * Remembers from one pass to the next what an object's pools served, so that endpoints that vanish for a moment empty no
 * pool. Forgetting is safe: then everything may have served, and is held once more.
 */
export interface PoolMemories {
  recall(key: ObjectKey, uid: string): PoolMemory | undefined
  remember(key: ObjectKey, uid: string, memory: PoolMemory): void
  forget(key: ObjectKey): void
}
