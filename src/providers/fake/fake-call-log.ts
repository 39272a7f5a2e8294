import type { CloudContext } from '../../provider/cloud.ts'
import type { FakeFailure } from './fake-cloud.ts'

/** One call into the cloud, in the order they came: `ensureLoadBalancer` of `default/web` with hosts `n1`, `n2`. */
export interface FakeClusterCall {
  method: string
  /** A node, an instance, a Service or a network. */
  about: string
  hosts?: readonly string[]
}

/** Logs every call, and lets it fail before or after it acted: a lost answer is not a lost change. */
export interface FakeCallLog {
  act<T>(call: FakeClusterCall, context: Pick<CloudContext, 'signal'>, action: () => T): Promise<T>
  calls(): readonly FakeClusterCall[]
}

const LOGGED = 100_000

/** `failure` is asked at every call. */
export function createFakeCallLog(failure: (call: FakeClusterCall) => FakeFailure | undefined): FakeCallLog {
  const calls: FakeClusterCall[] = []
  return {
    async act(call, { signal }, action) {
      signal.throwIfAborted()
      calls.push(call)
      if (calls.length > LOGGED) calls.shift()
      const told = failure(call)
      if (told?.when === 'before') throw told.error
      const result = action()
      if (told?.when === 'after') throw told.error
      return result
    },
    calls: () => calls,
  }
}
