import type { RoutesBench } from './cloud-bench.ts'
import type { ConformanceCheck } from './conformance-check.ts'
import { demand } from './conformance-fault.ts'

/** Routes between the pod networks of nodes. What is listed may be deleted. */
export const ROUTES_CHECKS: readonly ConformanceCheck<RoutesBench>[] = [
  {
    name: 'route-is-made-once',
    level: 1,
    contract: 'createRoute makes the route, or returns when exactly this one exists; the list has it once',
    skip: withoutNode,
    async run(bench) {
      const { route } = bench
      demand((await bench.listed()).length === 0, `a route to ${route.destinationCIDR} is listed that nobody made`)
      for (const time of ['once', 'twice']) {
        await bench.create()
        const found = await bench.listed()
        demand(found.length === 1, `${found.length} routes are listed after it was made ${time}`)
        demand(
          found[0]?.targetNode === route.targetNode,
          `it leads to "${found[0]?.targetNode}" and not to ${route.targetNode}`,
        )
      }
    },
  },
  {
    name: 'route-is-deleted',
    level: 1,
    contract: 'deleteRoute takes a route as it was listed; of what is absent it returns',
    skip: withoutNode,
    async run(bench) {
      await bench.create()
      await bench.delete()
      demand((await bench.listed()).length === 0, 'the route is still listed after it was deleted')
      await bench.delete()
      await bench.create()
      demand((await bench.listed()).length === 1, 'it cannot be made again after it was deleted')
    },
  },
  {
    name: 'route-arguments',
    level: 1,
    contract: 'the route belongs to the caller',
    skip: withoutNode,
    async run(bench) {
      const before = JSON.stringify(bench.route)
      const { route } = bench
      await bench.ask('createRoute', (part, context) => part.createRoute('conformance', 'conformance', route, context))
      await bench.ask('deleteRoute', (part, context) => part.deleteRoute('conformance', route, context))
      demand(JSON.stringify(route) === before, 'the route that was handed over is changed')
    },
  },
  {
    name: 'route-aborted',
    level: 1,
    contract: 'a call whose signal is aborted already rejects: no list is empty because of it, and nothing is made',
    async run(bench) {
      const list = bench.with(AbortSignal.abort(), (part, context) => part.listRoutes('conformance', context))
      const outcome = await bench.outcomeOf(list)
      demand(outcome === 'rejected', `listRoutes has ${outcome} although its signal was aborted before`)
      if (bench.node === undefined) return
      const create = bench.with(AbortSignal.abort(), (part, context) =>
        part.createRoute('conformance', 'conformance', { ...bench.route }, context),
      )
      demand((await bench.outcomeOf(create)) !== 'pending', 'createRoute has not settled after its signal fired')
      demand((await bench.listed()).length === 0, 'the aborted createRoute made a route')
    },
  },
  {
    name: 'routes-of-others',
    level: 2,
    contract: 'routes of another cluster in the same account are neither listed nor removed',
    skip: withoutNode,
    async run(bench) {
      await bench.create('another')
      demand((await bench.listed()).length === 0, 'the list names a route of another cluster')
      await bench.delete()
      demand((await bench.listed('another')).length === 1, 'the route of another cluster is gone')
    },
  },
]

function withoutNode({ node }: RoutesBench): string | undefined {
  return node === undefined ? 'no node was named whose machine runs' : undefined
}
