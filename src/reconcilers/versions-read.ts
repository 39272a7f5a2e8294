import type { Kind, ObjectOfKind } from '../domain/kinds.ts'
import type { KubernetesObject } from '../domain/kubernetes-object.ts'
import { formatKey, type ObjectKey } from '../domain/object-key.ts'
import type { CallOptions, ClusterReader, ListOptions, ObjectList } from '../ports/cluster-store.ts'

export interface VersionsRead {
  /** Reads as the reader does, and notes each question with the version of its answer. */
  reader: ClusterReader
  /** One text for one state of everything that was read so far, and asked for in this order. */
  text(): string
}

/** Of reads of one pass after the other, as many as there are passes: lists that several of them read are gone through once. */
export function createVersionsRead(): (reader: ClusterReader) => VersionsRead {
  const versions = new WeakMap<readonly KubernetesObject[], string>()
  const versionOfList = ({ items }: ObjectList<KubernetesObject>) => {
    const version = versions.get(items) ?? items.map(versionOf).join()
    versions.set(items, version)
    return version
  }
  return (reader) => {
    const notes: string[] = []
    const noting = async <T>(question: string, answer: Promise<T>, versionIn: (answer: T) => string): Promise<T> => {
      const place = notes.push(question) - 1
      const read = await answer
      notes[place] = `${question}=${versionIn(read)}`
      return read
    }
    return {
      reader: {
        get: <K extends Kind>(key: ObjectKey & { kind: K }, options: CallOptions) =>
          noting<ObjectOfKind[K] | undefined>(formatKey(key), reader.get(key, options), versionOf),
        list: <K extends Kind>(kind: K, options: ListOptions) =>
          noting<ObjectList<ObjectOfKind[K]>>(questionOf(kind, options), reader.list(kind, options), versionOfList),
      },
      text: () => notes.join('\n'),
    }
  }
}

function questionOf(kind: Kind, { namespace = '', labelSelector = '', continue: page = '' }: ListOptions): string {
  return `${kind}/${namespace}?${labelSelector}&${page}`
}

/** Every write gives an object another resourceVersion; the uid tells it from an earlier one of its name. */
function versionOf(object: KubernetesObject | undefined): string {
  if (object === undefined) return ''
  const { uid = '', resourceVersion = '' } = object.metadata
  return `${uid}@${resourceVersion}`
}
