import type { ApiObject } from './api-object.ts'
import type { JsonRecord } from './json.ts'
import type { ResourceType, VersionOfType } from './resource-type.ts'

export interface UserInfo {
  username: string
  uid?: string
  groups?: string[]
}

/** What one admission pass is about; `object` is absent for DELETE, `oldObject` for CREATE. */
export interface AdmissionAttributes {
  operation: 'CREATE' | 'UPDATE' | 'DELETE'
  type: ResourceType
  version: VersionOfType
  subresource: '' | 'status'
  namespace: string
  /** Empty while a generateName is not resolved, and for deletecollection. */
  name: string
  object?: ApiObject
  oldObject?: ApiObject
  /** Create-, Update- or DeleteOptions with their apiVersion and kind. */
  options: JsonRecord
  user: UserInfo
  dryRun: boolean
  /** Milliseconds since the epoch by which the whole request must be done. */
  deadline: number
  warn(text: string): void
  /** Prunes and defaults, after a patch. */
  decode(object: unknown): ApiObject
}

/** What is asked before a write: first what may change the object, then, when it is final, what may only refuse it. */
export interface AdmissionChain {
  mutate(attributes: AdmissionAttributes & { object: ApiObject }): Promise<ApiObject>
  /** For DELETE, where nothing can be changed. */
  mutateDeletion(attributes: AdmissionAttributes): Promise<void>
  validate(attributes: AdmissionAttributes): Promise<void>
}

export const admitEverything: AdmissionChain = {
  mutate: async ({ object }) => object,
  mutateDeletion: async () => {},
  validate: async () => {},
}
