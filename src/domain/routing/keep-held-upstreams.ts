import type { RoutePlan } from './route-plan.ts'

/** Fills in what `held` without servers stands for: what was served there before. */
export function keepHeldUpstreams(plan: RoutePlan, before: Pick<RoutePlan, 'upstreams'> | undefined): RoutePlan {
  return {
    ...plan,
    upstreams: plan.upstreams.map((upstream) => {
      if (upstream.state !== 'held' || upstream.servers.length > 0) return upstream
      const served = before?.upstreams.find(({ key }) => key === upstream.key)
      return { ...upstream, servers: served?.servers ?? [] }
    }),
  }
}
