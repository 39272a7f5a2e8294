import type { FastifyReply } from 'fastify'
import type { Clock } from '../../ports/clock.ts'
import { problem } from '../../provider/protocol/problem.ts'
import { deadline } from '../../reconcilers/deadline.ts'
import { ProblemError } from './problem-error.ts'

/**
 * Calls with a signal that fires at the deadline, when the caller closes the connection, and when `stopped` does. Then it is
 * answered at once, whether the call settles or not: overlapping calls are harmless by contract.
 */
export async function withinDeadline<T>(
  ms: number,
  { raw }: FastifyReply,
  { clock, stopped }: { clock: Clock; stopped: AbortSignal },
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const gone = new AbortController()
  const leave = () => {
    if (!raw.writableFinished) gone.abort(new Error('the caller went away'))
  }
  raw.once('close', leave)
  if (raw.destroyed) leave()
  const { signal, cancel } = deadline(clock, ms, AbortSignal.any([gone.signal, stopped]))
  try {
    return await untilAborted(call(signal), signal)
  } catch (error) {
    if (!signal.aborted) throw error
    if (stopped.aborted) throw new ProblemError(problem('DeadlineExceeded', 'the provider stopped before it was done'))
    if (gone.signal.aborted)
      throw new ProblemError(problem('DeadlineExceeded', 'the caller went away before it was done'))
    throw new ProblemError(problem('DeadlineExceeded', `the provider has not answered within ${ms} ms`))
  } finally {
    cancel()
    raw.off('close', leave)
  }
}

function untilAborted<T>(call: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const abort = () => reject(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  call.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  return promise
}
