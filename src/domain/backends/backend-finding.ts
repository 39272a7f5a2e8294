/** Something the owner of an object should know about its backends. Stable: no clock, no counts that move, no secrets. */
export interface BackendFinding {
  type: 'Normal' | 'Warning'
  reason: BackendFindingReason
  /** Names the object at fault. */
  message: string
  /** `service shop/web`, as in the message. */
  subject: string
}

export type BackendFindingReason =
  | 'ServiceNotFound'
  | 'ServicePortNotFound'
  | 'ServiceNotScheduled'
  | 'ProviderClustersNotBound'
  | 'AllClustersBlocked'
  | 'BackendsEmptied'
  | 'SliceClusterUnknown'
  | 'EndpointsNotAllowed'
  | 'ExternalNameNotSupported'
  | 'ExternalNameRefused'
  | 'ResourceBackendNotSupported'
  | 'SecretNotFound'
  | 'SecretInvalid'
  | 'DeprecatedFields'
  | 'PropagationPolicyNotOurs'
  | 'HostConflict'

export function warning(reason: BackendFindingReason, subject: string, rest: string): BackendFinding {
  return { type: 'Warning', reason, subject, message: `${subject} ${rest}` }
}
