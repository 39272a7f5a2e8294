import type { Connection } from './connection.ts'
import type { Request } from './load-request.ts'
import type { Reply, Target } from './target.ts'

/** Asks once; never rejects. */
export async function timedRequest(connection: Connection, target: Target): Promise<Request> {
  const from = performance.now()
  try {
    const reply = await connection.ask(target)
    return { from, to: performance.now(), ...resultOf(reply) }
  } catch (error) {
    return { from, to: performance.now(), failure: kindOf(error) }
  }
}

function resultOf({ pod, status, fingerprint, isRepeated = false }: Reply): Partial<Request> {
  if (pod === undefined) return { failure: `status ${status}`, isRepeated }
  return { pod: pod.pod, cluster: pod.cluster, isRepeated, ...(fingerprint === undefined ? {} : { fingerprint }) }
}

function kindOf(error: unknown): string {
  const { code, name, message } = error as NodeJS.ErrnoException
  if (name === 'AbortError' || name === 'TimeoutError') return 'timeout'
  return typeof code === 'string' ? code : message
}
