import { isCatalogueError } from '../domain/catalogue-error.ts'
import type { Kind, ObjectOfKind } from '../domain/kinds.ts'
import { keyOf } from '../domain/object-key.ts'
import type { DesiredChange } from '../domain/propagation/desired-change.ts'
import type { ClusterWriter } from '../ports/cluster-store.ts'

/**
 * Carries out what was decided about one object that we keep. An object that came or went meanwhile is somebody else's
 * work, done: the next pass looks at it. A version that moved on is a `Conflict`, and the pass starts over.
 */
export async function applyChange<K extends Kind>(
  kind: K,
  change: DesiredChange<ObjectOfKind[K]>,
  writer: ClusterWriter,
  signal: AbortSignal,
): Promise<void> {
  switch (change.do) {
    case 'leave':
      return
    case 'create':
      await unless('AlreadyExists', writer.create(kind, change.object, { signal }))
      return
    case 'update': {
      const patch = { type: 'json', operations: change.operations } as const
      await unless('NotFound', writer.patch({ ...keyOf(kind, change.existing), kind }, patch, { signal }))
      return
    }
    case 'delete': {
      const { uid = '', resourceVersion = '' } = change.existing.metadata
      const preconditions = { uid, resourceVersion }
      await unless('NotFound', writer.delete(keyOf(kind, change.existing), { signal, preconditions }))
    }
  }
}

async function unless(code: 'AlreadyExists' | 'NotFound', write: Promise<unknown>): Promise<void> {
  try {
    await write
  } catch (error) {
    if (!isCatalogueError(error, code)) throw error
  }
}
