import type { Kind, ObjectOfKind } from '../domain/kinds.ts'
import type { KubernetesObject } from '../domain/kubernetes-object.ts'
import { formatKey, type ObjectKey } from '../domain/object-key.ts'
import type { CallOptions, ClusterReader, ListOptions, ObjectList } from '../ports/cluster-store.ts'
import type { Answer, AnswersKnown, Question } from '../reconcilers/question.ts'
import { versionOf } from '../reconcilers/version-of.ts'

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

export type KnownReader = ClusterReader & AnswersKnown

/** Answers from what was read a moment ago in the same pass, and asks the server for the rest, once. */
export function knownReader(reader: ClusterReader, { objects = [], lists = [] }: Known): KnownReader {
  let named: Map<string, KubernetesObject | undefined> | undefined
  const known = () => {
    named ??= new Map(objects.map((entry) => [formatKey(entry.key), entry.object]))
    return named
  }
  const wholes = new Map<Kind, Map<string | undefined, Whole>>()
  for (const { kind, namespace, items } of lists) {
    const ofKind = wholes.get(kind) ?? new Map<string | undefined, Whole>()
    wholes.set(kind, ofKind.set(namespace, createWhole(namespace, items)))
  }
  const answers = new Map<string, Answer>()

  function covering(kind: Kind, namespace: string | undefined): Whole | undefined {
    const ofKind = wholes.get(kind)
    return ofKind?.get(undefined) ?? ofKind?.get(namespace)
  }

  /** Undefined where nothing is known of it: an object that is known not to exist is one of undefined. */
  function find(
    { kind, namespace, name }: ObjectKey,
    text: string,
  ): { object: KubernetesObject | undefined } | undefined {
    const whole = covering(kind, namespace)
    if (whole !== undefined) return { object: whole.find(namespace, name) }
    return known().has(text) ? { object: known().get(text) } : undefined
  }

  function versionKnown({ text, kind, namespace, name, labelSelector, page }: Question): string | undefined {
    if (page !== undefined) return undefined
    if (name !== undefined) {
      const found = find({ kind, namespace: namespace ?? '', name }, text)
      return found && versionOf(found.object)
    }
    const items = covering(kind, namespace)?.select(namespace, labelSelector)
    return items && versionOf(items)
  }

  return {
    async get<K extends Kind>(
      key: ObjectKey & { kind: K },
      options: CallOptions,
    ): Promise<ObjectOfKind[K] | undefined> {
      const text = formatKey(key)
      const found = find(key, text)
      if (found !== undefined) return found.object as ObjectOfKind[K] | undefined
      const object = await reader.get(key, options)
      known().set(text, object)
      return object
    },
    async list<K extends Kind>(kind: K, options: ListOptions): Promise<ObjectList<ObjectOfKind[K]>> {
      const { namespace, labelSelector } = options
      const items = covering(kind, namespace)?.select(namespace, labelSelector)
      return items === undefined
        ? reader.list(kind, options)
        : { items: items as ObjectOfKind[K][], resourceVersion: '' }
    },
    answerTo(question) {
      const answer = answers.get(question.text)
      if (answer !== undefined) return answer
      const version = versionKnown(question)
      if (version === undefined) return undefined
      const found = { question, version }
      answers.set(question.text, found)
      return found
    },
  }
}

/** A whole list, by the names and labels that are asked for. */
interface Whole {
  find(namespace: string, name: string): KubernetesObject | undefined
  /** The list itself where all of it is asked for. Undefined for a selector that only the server understands. */
  select(namespace: string | undefined, labelSelector: string | undefined): readonly KubernetesObject[] | undefined
}

/** Only the selectors that reconcilers use: none, or one equality. */
function createWhole(of: string | undefined, items: readonly KubernetesObject[]): Whole {
  const byLabel = new Map<string, Map<string | undefined, KubernetesObject[]>>()
  let byName: Map<string, KubernetesObject> | undefined
  const nameIn = (namespace: string | undefined, name: string) => (of === undefined ? `${namespace}/${name}` : name)
  const selected = (selector: string | undefined) => {
    if (selector === undefined) return items
    const [, key, value] = /^([\w./-]+)=([\w.-]*)$/.exec(selector) ?? []
    if (key === undefined) return undefined
    const values = byLabel.get(key) ?? Map.groupBy(items, ({ metadata }) => metadata.labels?.[key])
    byLabel.set(key, values)
    return values.get(value) ?? NOTHING
  }
  return {
    find(namespace, name) {
      byName ??= new Map(items.map((object) => [nameIn(object.metadata.namespace ?? '', object.metadata.name), object]))
      return byName.get(nameIn(namespace, name))
    },
    select(namespace, selector) {
      const found = selected(selector)
      return namespace === of ? found : found?.filter(({ metadata }) => metadata.namespace === namespace)
    },
  }
}

const NOTHING: readonly KubernetesObject[] = []
