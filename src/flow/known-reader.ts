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
  const wholes = new Map<string, Whole>()
  for (const { kind, namespace, items } of lists) {
    wholes.set(scopeOf(kind, namespace), createWhole(namespace, items))
    for (const object of items) known.set(formatKey(keyOf(kind, object)), object)
  }
  const covering = (kind: Kind, namespace: string | undefined) =>
    wholes.get(scopeOf(kind, undefined)) ?? wholes.get(scopeOf(kind, namespace))

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
      const { namespace, labelSelector } = options
      const items = covering(kind, namespace)?.select(namespace, labelSelector)
      return items === undefined
        ? reader.list(kind, options)
        : { items: items as ObjectOfKind[K][], resourceVersion: '' }
    },
  }
}

function scopeOf(kind: Kind, namespace: string | undefined): string {
  return namespace === undefined ? kind : `${kind}/${namespace}`
}

/** A whole list, by the labels that are asked for. */
interface Whole {
  /** The list itself where all of it is asked for. Undefined for a selector that only the server understands. */
  select(namespace: string | undefined, labelSelector: string | undefined): readonly KubernetesObject[] | undefined
}

/** Only the selectors that reconcilers use: none, or one equality. */
function createWhole(of: string | undefined, items: readonly KubernetesObject[]): Whole {
  const byLabel = new Map<string, Map<string | undefined, KubernetesObject[]>>()
  const selected = (selector: string | undefined) => {
    if (selector === undefined) return items
    const [, key, value] = /^([\w./-]+)=([\w.-]*)$/.exec(selector) ?? []
    if (key === undefined) return undefined
    const values = byLabel.get(key) ?? Map.groupBy(items, ({ metadata }) => metadata.labels?.[key])
    byLabel.set(key, values)
    return values.get(value) ?? []
  }
  return {
    select(namespace, selector) {
      const found = selected(selector)
      return namespace === of ? found : found?.filter(({ metadata }) => metadata.namespace === namespace)
    },
  }
}
