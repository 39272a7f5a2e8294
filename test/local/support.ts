import type { ApiObject } from '../../src/local/core/api-object.ts'
import {
  type ControlPlaneCore,
  type ControlPlaneCoreOptions,
  createControlPlaneCore,
} from '../../src/local/core/control-plane-core.ts'
import { StatusError } from '../../src/local/core/status-error.ts'
import { karmadaCrds } from '../../src/local/crds/karmada-crds.ts'
import type { Clock } from '../../src/ports/clock.ts'

/** Time that only moves when a test says so. */
export function manualClock(start = Date.parse('2026-01-01T00:00:00Z')) {
  let now = start
  let timers: { at: number; callback: () => void }[] = []
  const clock: Clock = {
    now: () => now,
    after(ms, callback) {
      const timer = { at: now + ms, callback }
      timers.push(timer)
      return () => {
        timers = timers.filter((other) => other !== timer)
      }
    },
  }
  async function advance(ms: number): Promise<void> {
    const end = now + ms
    for (;;) {
      await settle()
      const [next] = timers.filter(({ at }) => at <= end).sort((left, right) => left.at - right.at)
      if (next === undefined) break
      timers = timers.filter((timer) => timer !== next)
      now = next.at
      next.callback()
    }
    now = end
    await settle()
  }
  return { clock, advance, timers: () => timers.length }
}

/** Until every promise that can go on has gone on. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

export const realClock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
}

export function testCore(options: Partial<ControlPlaneCoreOptions> = {}): ControlPlaneCore {
  let uids = 0
  let names = 0
  return createControlPlaneCore({
    clock: manualClock().clock,
    uid: () => `uid-${++uids}`,
    nameSuffix: () => `n${String(++names).padStart(4, '0')}`,
    definitions: karmadaCrds,
    namespaces: ['shop'],
    ...options,
  })
}

export const admin = { user: { username: 'admin' } }

export const ingresses = {
  group: 'networking.karmada.io',
  version: 'v1alpha1',
  plural: 'multiclusteringresses',
  namespace: 'shop',
}

export const services = { group: '', version: 'v1', plural: 'services', namespace: 'shop' }

export function ingress(name: string, parts: { metadata?: object; spec?: object; status?: object } = {}): ApiObject {
  const { metadata = {}, spec = { ingressClassName: 'demo' }, status } = parts
  return {
    apiVersion: 'networking.karmada.io/v1alpha1',
    kind: 'MultiClusterIngress',
    metadata: { name, ...metadata },
    spec,
    ...(status === undefined ? {} : { status }),
  }
}

/** What a call that should fail answers: `422 Invalid: …`. */
export async function refusal(action: () => unknown): Promise<string> {
  try {
    await action()
  } catch (error) {
    if (error instanceof StatusError) return `${error.status.code} ${error.status.reason ?? ''}: ${error.message}`
    throw error
  }
  return 'accepted'
}
