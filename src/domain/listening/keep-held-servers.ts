import type { ListenerPlan } from './listener-plan.ts'

/** Fills in what `held` without servers stands for: what was served on that port before. */
export function keepHeldServers(plan: ListenerPlan, before: ListenerPlan | undefined): ListenerPlan {
  return {
    ...plan,
    listeners: plan.listeners.map((listener) => {
      if (listener.state !== 'held' || listener.servers.length > 0) return listener
      const served = before?.listeners.find(({ port }) => port === listener.port)
      return { ...listener, servers: served?.servers ?? [] }
    }),
  }
}
