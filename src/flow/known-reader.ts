import type { Kind, ObjectOfKind } from '../domain/kinds.ts'
import type { KubernetesObject } from '../domain/kubernetes-object.ts'
import { formatKey, keyOf, type ObjectKey } from '../domain/object-key.ts'
import type { CallOptions, ClusterReader, ListOptions, ObjectList } from '../ports/cluster-store.ts'

/** One answer of the server; undefined means that it said 404. */
export interface ReadObject {
  key: ObjectKey
  object: KubernetesObject | undefined
}

/** A whole list: what is not in it does not exist. */
export interface ReadList {
  kind: Kind
  /** Absent for all namespaces, and for cluster-scoped kinds. */
  namespace?: string
  items: readonly KubernetesObject[]
}

export interface Known {
  objects?: readonly ReadObject[]
  lists?: readonly ReadList[]
}

/** Answers from what was read a moment ago in the same pass, and asks the server for the rest, once. */
export function knownReader(reader: ClusterReader, { objects = [], lists = [] }: Known): ClusterReader {
  const known = new Map<string, KubernetesObject | undefined>(
    objects.map((entry) => [formatKey(entry.key), entry.object]),
  )
  for (const { kind, items } of lists) {
    for (const object of items) known.set(formatKey(keyOf(kind, object)), object)
  }
  const covering = (kind: Kind, namespace: string | undefined) =>
    lists.find((list) => list.kind === kind && (list.namespace === undefined || list.namespace === namespace))

  return {
    async get<K extends Kind>(
      key: ObjectKey & { kind: K },
      options: CallOptions,
    ): Promise<ObjectOfKind[K] | undefined> {
      const name = formatKey(key)
      if (known.has(name)) return known.get(name) as ObjectOfKind[K] | undefined
      if (covering(key.kind, key.namespace) !== undefined) return undefined
      const object = await reader.get(key, options)
      known.set(name, object)
      return object
    },
    async list<K extends Kind>(kind: K, options: ListOptions): Promise<ObjectList<ObjectOfKind[K]>> {
      const whole = covering(kind, options.namespace)
      const matches = labelMatcher(options.labelSelector)
      if (whole === undefined || matches === undefined) return reader.list(kind, options)
      const items = whole.items.filter(
        (object) => matches(object) && (options.namespace ?? object.metadata.namespace) === object.metadata.namespace,
      )
      return { items: items as ObjectOfKind[K][], resourceVersion: '' }
    },
  }
}

/** Only the selectors that reconcilers use: none, or one equality. Any other is the server's to answer. */
function labelMatcher(selector: string | undefined): ((object: KubernetesObject) => boolean) | undefined {
  if (selector === undefined) return () => true
  const [, key, value] = /^([\w./-]+)=([\w.-]*)$/.exec(selector) ?? []
  return key === undefined ? undefined : ({ metadata }) => metadata.labels?.[key] === value
}
