import { isProviderError } from '../provider/errors.ts'
import { ConformanceFault } from './conformance-fault.ts'

export interface PatienceOptions {
  /** How long the cloud may go on saying `RetryAfter`, in milliseconds. */
  patienceMs: number
  wait(ms: number): Promise<void>
  now(): number
}

/** Waits for a cloud, as a caller does that comes back when it was told to. */
export interface Patience {
  patienceMs: number
  wait(ms: number): Promise<void>
  /** How one call ends within `patienceMs`. */
  outcomeOf(call: Promise<unknown>): Promise<CallOutcome>
  /** The call's answer, made again after every `RetryAfter`. Any other end is a `ConformanceFault`. */
  patiently<T>(what: string, call: (signal: AbortSignal) => Promise<T>): Promise<T>
}

export type CallOutcome = 'answered' | 'rejected' | 'pending'

const LOOK_EVERY_MS = 5
const LONGEST_WAIT_MS = 1_000

export function createPatience({ patienceMs, wait, now }: PatienceOptions): Patience {
  async function outcomeOf(call: Promise<unknown>): Promise<CallOutcome> {
    const found: { outcome: CallOutcome } = { outcome: 'pending' }
    const note = (outcome: CallOutcome) => () => {
      found.outcome = outcome
    }
    call.then(note('answered'), note('rejected'))
    for (const until = now() + patienceMs; found.outcome === 'pending' && now() < until; ) await wait(LOOK_EVERY_MS)
    return found.outcome
  }

  async function attempt<T>(what: string, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController()
    const answer = call(controller.signal)
    if ((await outcomeOf(answer)) !== 'pending') return answer
    controller.abort(new Error('deadline'))
    throw new ConformanceFault(`${what} has not answered within ${patienceMs} ms: throw RetryAfter instead of waiting`)
  }

  async function patiently<T>(what: string, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    for (const until = now() + patienceMs; ; ) {
      try {
        return await attempt(what, call)
      } catch (error) {
        if (!isProviderError(error) || error.kind !== 'RetryAfter') throw failure(what, error)
        if (now() >= until)
          throw new ConformanceFault(`${what} still says RetryAfter after ${patienceMs} ms: ${error.message}`)
        await wait(Math.min(error.afterMs, LONGEST_WAIT_MS))
      }
    }
  }

  return { patienceMs, wait, outcomeOf, patiently }
}

function failure(what: string, error: unknown): ConformanceFault {
  if (error instanceof ConformanceFault) return error
  const message = error instanceof Error ? error.message : String(error)
  return new ConformanceFault(`${what} fails: ${message}`, { cause: error })
}
