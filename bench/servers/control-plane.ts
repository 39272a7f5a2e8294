// The control plane in memory, over HTTPS, in a process of its own; told what to do by messages of its parent.
import { subscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { createCertificateAuthority } from '../../src/adapters/certificates/certificate-authority.ts'
import { createSystemClock } from '../../src/adapters/system/system-clock.ts'
import { RESOURCES } from '../../src/domain/kinds.ts'
import type { MultiClusterIngress } from '../../src/domain/multi-cluster-ingress.ts'
import type { ControlPlaneCore } from '../../src/local/core/control-plane-core.ts'
import { karmadaCrds } from '../../src/local/crds/karmada-crds.ts'
import { startLocalControlPlane } from '../../src/local/start-local-control-plane.ts'
import { buildWorld, IDENTITY, type WorldSize } from '../support/build-world.ts'
import { listenToParent } from '../support/listen-to-parent.ts'
import type { PlaneAddress, PlaneCalls, PlaneMessage } from './plane-calls.ts'

let core: ControlPlaneCore | undefined
let counts: Record<string, number> = {}

const calls: PlaneCalls = {
  async start(size: WorldSize): Promise<PlaneAddress> {
    const authority = await createCertificateAuthority(Date.now(), 'control plane')
    const plane = await startLocalControlPlane({ clock: createSystemClock(), definitions: karmadaCrds, authority })
    plane.core.preload(buildWorld(size))
    core = plane.core
    const { url, caPem } = plane
    return { url, caPem, token: plane.tokenFor(IDENTITY), user: IDENTITY }
  },
  served: (count) => served(requireCore(), count),
  async requests() {
    const counted = counts
    counts = {}
    return counted
  },
}

subscribe('http.server.request.start', (message) => {
  const { method = '' } = (message as { request: IncomingMessage }).request
  counts[method] = (counts[method] ?? 0) + 1
})

listenToParent(({ call, argument }: PlaneMessage) => calls[call](argument as never))

function requireCore(): ControlPlaneCore {
  if (core === undefined) throw new Error('not started')
  return core
}

function served(plane: ControlPlaneCore, wanted: number): Promise<void> {
  const { group, version, plural } = RESOURCES.MultiClusterIngress
  const target = { group, version, plural }
  const { items, metadata } = plane.list(target)
  const names = new Set(items.filter(isServed).map(nameOf))
  return new Promise((resolve) => {
    if (names.size >= wanted) return resolve()
    const stop = plane.watch(
      target,
      { resourceVersion: metadata.resourceVersion },
      {
        onEvent({ object }) {
          const ingress = object as unknown as MultiClusterIngress
          if (!isServed(ingress)) return
          names.add(nameOf(ingress))
          if (names.size < wanted) return
          stop()
          resolve()
        },
        onEnd: () => {},
      },
    )
  })
}

function isServed({ status }: MultiClusterIngress): boolean {
  return (status?.loadBalancer?.ingress?.length ?? 0) > 0
}

function nameOf({ metadata }: MultiClusterIngress): string {
  return `${metadata.namespace}/${metadata.name}`
}
