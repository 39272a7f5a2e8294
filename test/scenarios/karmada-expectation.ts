import type { BackendFindingReason } from '../../src/domain/backends/backend-finding.ts'
import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import type { LoadBalancerStatus } from '../../src/domain/load-balancer-status.ts'
import type { EventReason } from '../../src/reconcilers/event-recorder.ts'
import type { PoolDescription } from '../support/describe-backends.ts'

/** What has to become of one case of ../shared/cases/karmada: its `.expect.md` as data. */
export interface KarmadaExpectation {
  id: number
  stages: Stage[]
  /** Balancers that are in the cloud before the story begins, by object key. */
  balancers?: Record<string, LoadBalancerStatus>
  /** The same case with something else given. */
  variants?: Variant[]
  /** Where the text leaves a choice, or was decided otherwise: what and why. */
  note?: string
}

/** One step of the story, told through a door, and the world after it. */
export interface Stage {
  /**
   * - `stored`: the objects of the case are there
   * - `repeated`: the same is told once more
   * - `after`: the objects of the second file are applied
   * - `created`: `create` is applied
   * - `waited`: `waitMs` go by; nothing is told, delayed work is done
   * - `refused`: somebody tries to store the object, and Karmada refuses it
   * - `deleted`: deletion was asked for, as the file shows it
   */
  step: 'stored' | 'repeated' | 'after' | 'created' | 'waited' | 'refused' | 'deleted'
  /** The event that is told: `CREATE MultiClusterIngress/shop/storefront`. */
  trigger: string
  doors: Doors
  create?: KubernetesObject[]
  waitMs?: number
  objects: ObjectExpectation[]
  others: OtherExpectation
  /** Writes to the API server that are allowed at most in this step; not counted when absent. */
  writes?: number
}

/** Through which doors the step can be told; a text says why not. */
export interface Doors {
  mutate: true | string
  notify: true | string
  cloudEvents: true | string
  sweep: true | string
}

export type ProviderCall = 'get' | 'ensure' | 'update' | 'ensureDeleted'

/** One MultiClusterIngress or MultiClusterService, by key; `storefront-*` for a generated name. */
export interface ObjectExpectation {
  key: string
  /** `finalizer`: in deletion it alone decides. `neverStored`: there is no such object. */
  ownership: 'ours' | 'another' | 'unresolved' | 'finalizer' | 'neverStored'
  /** The calls of this step, in order; more than one list where the text allows several. */
  calls: readonly (readonly ProviderCall[])[]
  /** `gone`: the object goes with it. `none`: ours is not there. */
  finalizer: 'added' | 'kept' | 'removed' | 'gone' | 'none'
  status: StatusExpectation
  events: EventExpectation[]
  /** As handed over with ensure or update; by `shop/web:80/TCP`, then by cluster. */
  backends?: Record<string, Record<string, PoolDescription>>
  /** Secret names with a usable certificate, in order. */
  certificates?: string[]
}

export interface StatusExpectation {
  /** `provider`: as it reports. `unchanged`: as it was. `empty`: cleared or never there. */
  loadBalancer: 'provider' | 'unchanged' | 'empty'
  /** Absent: not looked at (a MultiClusterService has none). `[]`: absent or empty. */
  serviceLocations?: { name: string; clusters?: string[] }[]
  trafficBlockClusters?: string[]
  /** As they were, timestamps included. */
  conditions?: 'unchanged'
}

export interface EventExpectation {
  type: 'Normal' | 'Warning'
  reason: EventReason | BackendFindingReason
  /** All of these are in the message. */
  message?: string[]
  /** `most`: once or not at all. */
  count: 'once' | 'most'
}

export interface OtherExpectation {
  /** ServiceExports and PropagationPolicies, by key. */
  present: Record<string, { owner: string; clusters?: string[] } | 'a user’s, unchanged'>
  absent: string[]
}

export interface Variant {
  title: string
  given: {
    ourFinalizer?: true
    deleting?: true
    failOpen?: true
    supports?: { resourceBackends: boolean; externalName: boolean }
    /** Karmada's webhook refuses the write that releases or claims. */
    denied?: string
    /** The provider refuses the object for good. */
    terminal?: true
  }
  stage: Stage
}
