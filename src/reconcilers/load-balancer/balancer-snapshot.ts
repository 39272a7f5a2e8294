import type { BackendFinding } from '../../domain/backends/backend-finding.ts'
import type { Backends } from '../../domain/backends/backends.ts'
import type { PoolMemory } from '../../domain/backends/pool-memory.ts'
import type { Certificate } from '../../domain/backends/resolve-certificates.ts'
import type { Finding } from '../../domain/finding.ts'
import type { MultiClusterIngress } from '../../domain/multi-cluster-ingress.ts'
import type { MultiClusterService } from '../../domain/multi-cluster-service.ts'
import type { Ownership } from '../../domain/ownership.ts'
import type { BalancerRecord } from '../../provider/multicluster.ts'
import type { ComputedStatus } from './computed-status.ts'

export type BalancedObject = MultiClusterIngress | MultiClusterService

/** An object and its balancer. */
export interface BalancerLook<T extends BalancedObject = BalancedObject> {
  object: T
  /** Ours. */
  finalizer: string
  /** Whether objects of the Go manager are taken over. */
  takeOver: boolean
  ownership: Ownership
  /** What is wrong with an object that would be ours to serve; one with faults is shown to no provider. */
  faults: readonly Finding[]
  /** Whether the provider serves this kind at all. */
  capable: boolean
  /** The provider's answer; undefined also when it was not asked because the object is not to be served. */
  record: BalancerRecord | undefined
  /** The record is of a list, and a while old: good for finding that nothing is to be done, and for nothing else. */
  isListed: boolean
  /** The provider is to look at its balancer even if nothing that we know has changed. */
  verify: boolean
}

/** Everything a decision is made from, read before it is made. */
export interface BalancerSnapshot<T extends BalancedObject = BalancedObject> extends BalancerLook<T> {
  inputs: BalancerInputs
}

/** What a balancer is made from. */
export interface BalancerInputs {
  /** What is asked of the provider, where it is not the object's own spec. */
  spec: BalancedObject['spec']
  backends: Backends
  certificates: readonly Certificate[]
  findings: readonly BackendFinding[]
  status: ComputedStatus
  /** What the pools serve now, for the next pass. */
  memory: PoolMemory
  /** When a held pool is to be looked at again. */
  lookAgainMs: number | undefined
  /** Of all that the balancer is computed from. */
  fingerprint: string
}
