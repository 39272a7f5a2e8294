import type { Clock } from '../../ports/clock.ts'
import type { AdmissionChain, UserInfo } from './admission-chain.ts'
import type { ApiObject } from './api-object.ts'
import type { AppliedFields } from './applied-fields.ts'
import type { BackgroundTasks } from './background-tasks.ts'
import type { ObjectStore } from './object-store.ts'
import type { ResourceRegistry } from './resource-registry.ts'
import type { Allocate, ResourceType, VersionOfType } from './resource-type.ts'

/** Everything the operations share; time and randomness come from outside. */
export interface CoreEnvironment {
  store: ObjectStore
  registry: ResourceRegistry
  clock: Clock
  uid(): string
  /** The five characters after a generateName. */
  nameSuffix(): string
  allocate: Allocate
  admission: AdmissionChain
  applied: AppliedFields
  background: BackgroundTasks
}

/** Where a request goes, as its path says. */
export interface RequestTarget {
  group: string
  version: string
  plural: string
  /** Absent for cluster-scoped resources and for all namespaces. */
  namespace?: string
  name?: string
  subresource?: 'status'
}

/** The same, looked up. */
export interface ResolvedTarget {
  type: ResourceType
  version: VersionOfType
  collection: string
  /** Empty for cluster-scoped resources and for all namespaces. */
  namespace: string
  name: string
  subresource: '' | 'status'
}

/** What every write may say. */
export interface WriteOptions {
  user: UserInfo
  dryRun?: boolean
  fieldManager?: string
  fieldValidation?: 'Ignore' | 'Warn' | 'Strict'
  /** What the client gives the request, never more than the server does. */
  timeoutMs?: number
}

export interface Written {
  object: ApiObject
  created: boolean
  warnings: string[]
}

/** The API server gives a request 34 s in all (protocols §1.6). */
const REQUEST_LIMIT_MS = 34_000

/** When a request that begins now must be done. */
export function deadlineOf(clock: Clock, { timeoutMs = REQUEST_LIMIT_MS }: { timeoutMs?: number }): number {
  return clock.now() + Math.min(timeoutMs, REQUEST_LIMIT_MS)
}

/** RFC 3339 in whole seconds, as metadata has it. */
export function timestampOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z')
}
