import type { Route } from '../../domain/nodes/route.ts'
import type { Routes } from '../../provider/cloud.ts'
import type { FakeCallLog } from './fake-call-log.ts'
import type { FakeMachines } from './fake-machines.ts'

/** A route as the cloud keeps it. */
export interface FakeRoute {
  /** Marks whose it is; another cluster's, or nobody's, is never listed (R-RT-10). */
  cluster: string
  name: string
  destinationCIDR: string
  /** Id of the machine, whether there is one or not. */
  nextHop: string
}

export interface FakeRoutes {
  routes: Routes
  put(route: FakeRoute): void
  /** By hand, in the cloud's console. */
  remove(destinationCIDR: string): void
  all(): FakeRoute[]
}

export function createFakeRoutes(log: FakeCallLog, machines: FakeMachines): FakeRoutes {
  const routes: FakeRoute[] = []

  function asListed({ name, destinationCIDR, nextHop }: FakeRoute): Route {
    const machine = machines.find(nextHop)
    if (machine === undefined) return { name, destinationCIDR, targetNode: nextHop, blackhole: true }
    return { name, destinationCIDR, targetNode: machine.name }
  }

  return {
    put: (route) => void routes.push(route),
    remove(destinationCIDR) {
      const index = routes.findIndex((route) => route.destinationCIDR === destinationCIDR)
      if (index >= 0) routes.splice(index, 1)
    },
    all: () => [...routes],
    routes: {
      listRoutes: (cluster, context) =>
        log.act({ method: 'listRoutes', about: cluster }, context, () =>
          routes.filter((route) => route.cluster === cluster).map(asListed),
        ),
      createRoute: (cluster, nameHint, { targetNode, destinationCIDR }, context) =>
        log.act({ method: 'createRoute', about: destinationCIDR, hosts: [targetNode] }, context, () => {
          const machine = machines.find(targetNode)
          if (machine === undefined) throw new Error(`no machine is called ${targetNode}`)
          const taken = routes.find((route) => route.destinationCIDR === destinationCIDR)
          if (taken?.nextHop === machine.id && taken.cluster === cluster) return
          if (taken !== undefined) throw new Error(`a route to ${destinationCIDR} exists`)
          const name = `${cluster}-${nameHint}-${destinationCIDR}`
          routes.push({ cluster, name, destinationCIDR, nextHop: machine.id })
        }),
      deleteRoute: (cluster, { destinationCIDR, targetNode }, context) =>
        log.act({ method: 'deleteRoute', about: destinationCIDR, hosts: [targetNode] }, context, () => {
          const index = routes.findIndex(
            (route) =>
              route.cluster === cluster &&
              route.destinationCIDR === destinationCIDR &&
              (machines.find(route.nextHop)?.name ?? route.nextHop) === targetNode,
          )
          if (index >= 0) routes.splice(index, 1)
        }),
    },
  }
}
