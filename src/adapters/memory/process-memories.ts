import { formatKey, type ObjectKey } from '../../domain/object-key.ts'
import type { Memories } from '../../ports/memories.ts'

// Objects come by their namespaces: what one of them has in common with another, it has with one of the last.
const ALIKE = 100

/**
 * Remembers within this process, and what was remembered longest ago no longer than there is room. What is plain data and
 * equal to what was remembered a short while ago is kept once, where that is asked for.
 */
export function createProcessMemories<T>(capacity = 10_000, { shared = false } = {}): Memories<T> {
  const memories = new Map<string, T>()
  const latest = new Map<string, T>()
  const sharedWithOthers = (memory: T): T => {
    const text = JSON.stringify(memory)
    const known = latest.get(text) ?? memory
    latest.delete(text)
    latest.set(text, known)
    const [oldest] = latest.keys()
    if (latest.size > ALIKE && oldest !== undefined) latest.delete(oldest)
    return known
  }
  return {
    recall: (key, uid) => memories.get(nameOf(key, uid)),
    remember(key, uid, memory) {
      const name = nameOf(key, uid)
      memories.delete(name)
      memories.set(name, shared ? sharedWithOthers(memory) : memory)
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
