import { join } from 'node:path'
import { kubeconfigOf } from '../../src/local/kubeconfig.ts'
import type { PlaneAddress, PlaneCalls } from '../servers/plane-calls.ts'
import type { WorldSize } from './build-world.ts'
import { OTHER_CORE } from './on-core.ts'
import { startTold } from './told-process.ts'

export interface ControlPlane extends Omit<PlaneCalls, 'start'>, PlaneAddress {
  kubeconfig: string
  stop(): Promise<void>
}

/** In a process of its own, on the other core than what is measured. */
export async function startControlPlane(size: WorldSize): Promise<ControlPlane> {
  const child = startTold(join(import.meta.dirname, '../servers/control-plane.ts'), OTHER_CORE)
  const address = await child.tell<PlaneAddress>({ call: 'start', argument: size })
  return {
    ...address,
    kubeconfig: kubeconfigOf(address),
    served: (count) => inTime(child.tell({ call: 'served', argument: count }), `${count} ingresses with an address`),
    requests: () => child.tell({ call: 'requests' }),
    stop: () => child.stop(),
  }
}

const PATIENCE_MS = 180_000

async function inTime<T>(promise: Promise<T>, what: string): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`waited in vain for ${what}`)), PATIENCE_MS)
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
