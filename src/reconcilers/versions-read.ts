import type { Kind, ObjectOfKind } from '../domain/kinds.ts'
import type { KubernetesObject } from '../domain/kubernetes-object.ts'
import { formatKey, type ObjectKey } from '../domain/object-key.ts'
import type { CallOptions, ClusterReader, ListOptions, ObjectList } from '../ports/cluster-store.ts'
import type { Answer, AnswersKnown, Question } from './question.ts'
import { versionOf } from './version-of.ts'

export interface VersionsRead {
  /** Reads as the reader does, and notes each question with the version of its answer. */
  reader: ClusterReader
  /** Everything that was read so far, in the order in which it was asked for. */
  answers(): Answer[]
}

/** Of the reads of one pass. */
export function createVersionsRead(reader: ClusterReader & Partial<AnswersKnown>): VersionsRead {
  const notes: Answer[] = []
  const noting = async <T>(question: Question, answer: Promise<T>, versionIn: (answer: T) => string): Promise<T> => {
    const place = notes.push({ question, version: UNANSWERED }) - 1
    const read = await answer
    const version = versionIn(read)
    const known = reader.answerTo?.(question)
    notes[place] = known !== undefined && known.version === version ? known : { question, version }
    return read
  }
  return {
    reader: {
      get: <K extends Kind>(key: ObjectKey & { kind: K }, options: CallOptions) =>
        noting<ObjectOfKind[K] | undefined>(questionOfKey(key), reader.get(key, options), versionOf),
      list: <K extends Kind>(kind: K, options: ListOptions) =>
        noting<ObjectList<ObjectOfKind[K]>>(questionOfList(kind, options), reader.list(kind, options), ({ items }) =>
          versionOf(items as readonly KubernetesObject[]),
        ),
    },
    answers: () => notes,
  }
}

// Of no object and of no list.
const UNANSWERED = '?'

function questionOfKey(key: ObjectKey): Question {
  const { kind, namespace, name } = key
  return { text: formatKey(key), kind, namespace, name }
}

function questionOfList(kind: Kind, { namespace, labelSelector, continue: page }: ListOptions): Question {
  const text = `${kind}/${namespace ?? '*'}?${labelSelector ?? ''}&${page ?? ''}`
  return {
    text,
    kind,
    ...(namespace !== undefined && { namespace }),
    ...(labelSelector !== undefined && { labelSelector }),
    ...(page !== undefined && { page }),
  }
}
