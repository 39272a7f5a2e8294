import { formatKey, type ObjectKey } from '../../domain/object-key.ts'
import type { Memories } from '../../ports/memories.ts'

/** Remembers within this process, and what was remembered longest ago no longer than there is room. */
export function createProcessMemories<T>(capacity = 10_000): Memories<T> {
  const memories = new Map<string, T>()
  return {
    recall: (key, uid) => memories.get(nameOf(key, uid)),
    remember(key, uid, memory) {
      const name = nameOf(key, uid)
      memories.delete(name)
      memories.set(name, memory)
      const [oldest] = memories.keys()
      if (memories.size > capacity && oldest !== undefined) memories.delete(oldest)
    },
    forget: (key, uid) => void memories.delete(nameOf(key, uid)),
  }
}

/** No two objects have one uid. */
function nameOf(key: ObjectKey, uid: string): string {
  return uid === '' ? formatKey(key) : uid
}
