import { exchangePatch, goManagersFinalizerFor, hasFinalizer } from '../domain/finalizers.ts'
import type { Kind } from '../domain/kinds.ts'
import { isBeingDeleted, type KubernetesObject } from '../domain/kubernetes-object.ts'
import { formatKey, keyOf, type ObjectKey } from '../domain/object-key.ts'
import { letGoStandingOf } from '../domain/service-balancer/service-standing.ts'
import { type Attempt, attempt } from './attempt.ts'
import type { Drain } from './drain.ts'
import { listServed } from './list-served.ts'
import { servedCloud } from './served-cloud.ts'

const BALANCED = ['MultiClusterIngress', 'MultiClusterService'] as const

type BalancedKey = ObjectKey & { kind: (typeof BALANCED)[number] }

/** What has a balancer of ours, or our finalizer. */
export async function heldObjects(drain: Drain): Promise<KubernetesObject[]> {
  const { config, provider } = drain
  if (servedCloud(config, provider) !== undefined) {
    const services = await listServed('Service', drain)
    return services.filter((service) => letGoStandingOf(service, config.cloud.loadBalancerClass).kind === 'cleanUp')
  }
  const held: KubernetesObject[] = []
  for (const kind of BALANCED) held.push(...(await listServed(kind, drain)))
  return held.filter((object) => hasFinalizer(object, config.finalizer))
}

/** Answers how many objects could not be let go of. */
export async function letGoOfBalancers(drain: Drain): Promise<number> {
  const { config, provider, keepBalancers, report } = drain
  if (keepBalancers && servedCloud(config, provider) !== undefined) {
    report('Services: nothing to hand over: another cloud controller manager finds the finalizer, which is shared')
    return 0
  }
  let left = 0
  for (const object of await heldObjects(drain)) {
    const key = keyOf(object.kind as Kind, object)
    // Nobody can put a new finalizer on what is in deletion, nor does anybody need its balancer.
    const isKept = keepBalancers && isBalanced(key) && !isBeingDeleted(object)
    if (!(await carryOut(key, isKept ? handOver(key, object, drain) : cleanUp(key, drain), drain))) left += 1
  }
  return left
}

function isBalanced(key: ObjectKey): key is BalancedKey {
  return BALANCED.some((kind) => kind === key.kind)
}

interface LetGo {
  would: string
  act: () => Promise<Attempt>
}

async function carryOut(key: ObjectKey, { would, act }: LetGo, { dryRun, report, signal }: Drain): Promise<boolean> {
  signal.throwIfAborted()
  const { done, message } = dryRun ? { done: true, message: would } : await attempt(act)
  report(`${formatKey(key)}: ${message}`)
  return done
}

function handOver(key: BalancedKey, object: KubernetesObject, { store, config, signal }: Drain): LetGo {
  return {
    would: 'would be handed over',
    async act() {
      const operations = exchangePatch(object, config.finalizer, goManagersFinalizerFor(key.kind))
      await store.patch(key, { type: 'json', operations }, { signal })
      return { done: true, message: 'handed over' }
    },
  }
}

function cleanUp(key: ObjectKey, { reconcilers, store, signal }: Drain): LetGo {
  return {
    would: 'balancer would be removed',
    async act() {
      const outcome = await reconcilers[key.kind]?.reconcile(key, { reader: store, signal })
      const done = outcome?.kind === 'settled' || outcome?.kind === 'gone'
      if (done) return { done, message: 'balancer removed, let go' }
      const reason = outcome === undefined ? NO_CONTROLLER : 'reason' in outcome ? outcome.reason : 'unknown'
      return { done, message: `stays: ${reason}` }
    },
  }
}

const NO_CONTROLLER = 'cloud.controllers, or what the provider can do, leaves it to nobody; it may be another’s'
