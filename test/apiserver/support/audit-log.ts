import { open, stat } from 'node:fs/promises'

/** One request of the function, as the API server saw it. */
export interface AuditedRequest {
  /** Name of the ServiceAccount. */
  account: string
  verb: string
  /** Empty for the core group. */
  group: string
  /** `multiclusteringresses/status` with its subresource. */
  resource: string
  namespace: string
  name: string
  code: number
  /** Refused by RBAC; a 403 of admission is none. */
  forbidden: boolean
}

interface AuditEvent {
  verb: string
  user: { username: string }
  objectRef?: { apiGroup?: string; resource?: string; subresource?: string; namespace?: string; name?: string }
  responseStatus?: { code?: number }
  annotations?: Record<string, string>
}

const READS = ['get', 'list', 'watch']

export interface AuditLog {
  /** What was asked since `mark`, or since this was opened. */
  requests(): Promise<AuditedRequest[]>
  /** What came before is over. */
  mark(): Promise<void>
}

export async function openAuditLog(path: string): Promise<AuditLog> {
  let from = await sizeOf(path)
  return {
    async requests() {
      const lines = (await readFrom(path, from)).split('\n')
      // The last one is empty, or only half written.
      return lines.slice(0, -1).map((line) => audited(JSON.parse(line) as AuditEvent))
    },
    async mark() {
      from = await sizeOf(path)
    },
  }
}

export function isWrite({ verb }: AuditedRequest): boolean {
  return !READS.includes(verb)
}

function audited({ verb, user, objectRef = {}, responseStatus = {}, annotations = {} }: AuditEvent): AuditedRequest {
  const { apiGroup = '', resource = '', subresource, namespace = '', name = '' } = objectRef
  return {
    account: user.username.slice(user.username.lastIndexOf(':') + 1),
    verb,
    group: apiGroup,
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
    namespace,
    name,
    code: responseStatus.code ?? 0,
    forbidden: annotations['authorization.k8s.io/decision'] === 'forbid',
  }
}

/** Rows of `verb resource`, how often, and how often for each of `objects`; the most frequent first. */
export function requestTable(requests: readonly AuditedRequest[], objects: number): string[] {
  const counts = new Map<string, number>()
  for (const { verb, resource, code } of requests) {
    const row = `${verb.padEnd(7)} ${resource}${code >= 400 ? ` (${code})` : ''}`
    counts.set(row, (counts.get(row) ?? 0) + 1)
  }
  const rows = [...counts].toSorted(([, a], [, b]) => b - a)
  const line = (row: string, count: number) =>
    `${row.padEnd(40)} ${String(count).padStart(6)} ${(count / objects).toFixed(3).padStart(8)}`
  const writes = requests.filter(isWrite).length
  return [
    `${'request'.padEnd(40)} ${'count'.padStart(6)} ${'each'.padStart(8)}`,
    ...rows.map(([row, count]) => line(row, count)),
    line('all reads', requests.length - writes),
    line('all writes', writes),
  ]
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path)).size
}

async function readFrom(path: string, from: number): Promise<string> {
  const file = await open(path)
  try {
    const size = (await file.stat()).size
    const buffer = Buffer.alloc(Math.max(0, size - from))
    await file.read(buffer, 0, buffer.length, from)
    return buffer.toString('utf8')
  } finally {
    await file.close()
  }
}
