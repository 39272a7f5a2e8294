/** One request of the function to the API server, as it was made, and what was answered. */
export interface RecordedRequest {
  method: string
  path: string
  contentType?: string
  body?: string
  status: number
  /** Of the objects that were answered. */
  seen: SeenObject[]
}

export interface SeenObject {
  /** Kind, namespace and name. */
  object: string
  uid: string
  resourceVersion: string
}

/** Objects in an answer of the API server: one, or the items of a list. */
export function objectsIn(text: string): SeenObject[] {
  const body: Answered = JSON.parse(text)
  return (body.items ?? [body]).flatMap(({ kind = body.kind, metadata = {} }) => {
    const { namespace = '', name, uid, resourceVersion } = metadata
    if (name === undefined || uid === undefined || resourceVersion === undefined) return []
    return { object: `${kind}/${namespace}/${name}`, uid, resourceVersion }
  })
}

interface Answered {
  kind?: string
  metadata?: { namespace?: string; name?: string; uid?: string; resourceVersion?: string }
  items?: Answered[]
}

export interface ReplayOptions {
  url: string
  caPem: string
  token: string
  /** Those of one list one after the other; of so many lists at a time. */
  sequences: RecordedRequest[][]
  concurrency: number
}

export interface ReplayResult {
  ms: number
  cpuMs: number
  /** Requests that were answered otherwise than when they were recorded. */
  differences: string[]
}
