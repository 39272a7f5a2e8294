import type { Kind, ObjectOfKind } from '../domain/kinds.ts'
import type { KubernetesObject } from '../domain/kubernetes-object.ts'
import { formatKey, keyOf, type ObjectKey } from '../domain/object-key.ts'
import type { CallOptions, ClusterReader, ListOptions, ObjectList } from '../ports/cluster-store.ts'

/** One answer of the server; undefined means that it said 404. */
export interface ReadObject {
  key: ObjectKey
  object: KubernetesObject | undefined
}

export interface Known {
  objects: readonly ReadObject[]
  /** Whole kinds: what is not in them does not exist. */
  kinds?: { [K in Kind]?: ObjectOfKind[K][] }
}

/** Answers from what was read a moment ago in the same pass, and asks the server for the rest. */
export function knownReader(reader: ClusterReader, { objects, kinds = {} }: Known): ClusterReader {
  const known = new Map(objects.map((entry) => [formatKey(entry.key), entry]))
  return {
    async get<K extends Kind>(
      key: ObjectKey & { kind: K },
      options: CallOptions,
    ): Promise<ObjectOfKind[K] | undefined> {
      const whole: ObjectOfKind[K][] | undefined = kinds[key.kind]
      if (whole !== undefined) {
        return whole.find((object) => formatKey(keyOf(key.kind, object)) === formatKey(key))
      }
      const entry = known.get(formatKey(key))
      return entry === undefined ? reader.get(key, options) : (entry.object as ObjectOfKind[K] | undefined)
    },
    async list<K extends Kind>(kind: K, options: ListOptions): Promise<ObjectList<ObjectOfKind[K]>> {
      const whole: ObjectOfKind[K][] | undefined = kinds[kind]
      return whole === undefined ? reader.list(kind, options) : { items: whole, resourceVersion: '' }
    },
  }
}
