import type { Door } from '../door.ts'
import type { IngressClass } from '../ingress-class.ts'
import type { AccessRule } from './required-access.ts'
import type { RegisteredWebhook } from './webhook.ts'

/** What could be asked, or why it could not: the second is never taken for good. */
export type Asked<T> = { known: true; value: T } | { known: false; reason: string }

/** All that the doctor judges by. Gathered once; whoever judges asks nobody. No secrets in it. */
export interface Facts {
  now: number
  settings: DoctorSettings
  /** Every admission webhook of the API server. */
  webhooks: Asked<RegisteredWebhook[]>
  /** Ours, as the code registers them. */
  expectedWebhooks: readonly RegisteredWebhook[]
  /** Of our webhooks, by name. */
  bundles: Asked<Record<string, CaBundle>>
  /** Where the API server calls the function, or where `--url` says that it is. */
  address: Asked<{ host: string; port: number }>
  /** Of the host that the API server calls, as seen from here. */
  addresses: Asked<string[]>
  certificate: Asked<ServedCertificate>
  /** From here. */
  readiness: Asked<{ ready: boolean; failing: string[] }>
  entry: Asked<DoorAttempts[]>
  /** Prometheus' text format. */
  metrics: Asked<string>
  dryRun: Asked<DryRun>
  access: Asked<{ rule: AccessRule; allowed: boolean }[]>
  /** As which user the function writes. */
  writer: Asked<ApiUser>
  /** Who asks now. */
  operator: Asked<ApiUser>
  /** `group/version` → names of resources, for each that we need. */
  served: Asked<Record<string, string[]>>
  serverVersion: Asked<string>
  ingressClasses: Asked<IngressClass[]>
  provider: Asked<ProviderAbilities>
  /** Of a provider over clusters, to a question that changes nothing, from here; undefined where there is none. */
  providerAnswer: Asked<{ ms: number }> | undefined
  unfinished: Asked<UnfinishedObject[]>
}

export interface DoctorSettings {
  controlPlane: 'karmada' | 'kubernetes'
  identity: string | undefined
  ingressClass: { controller: string; names: readonly string[]; default: boolean }
  /** Whether the operator gave credentials of their own, beside the function's. */
  operatorIsApart: boolean
  /** Before the doors; part of the proof. */
  pathPrefix: boolean
  doors: readonly DoorSettings[]
  sweepIntervalMs: number
  /** What the mutate door adds to the doctor's object; undefined where it has nothing to add. */
  finalizer: string | undefined
}

export interface ApiUser {
  username: string
  groups: readonly string[]
}

export type CaBundle = { state: 'absent' | 'unreadable' } | { state: 'readable'; notAfter: number }

export interface ServedCertificate {
  /** That it is for. */
  hosts: readonly string[]
  notBefore: number
  notAfter: number
  /** Why the caBundle does not lead to it. */
  chainFault?: string
  /** Why it is not for the host that the API server calls. */
  nameFault?: string
}

/** What one door is to ask of its callers. */
export interface DoorSettings {
  door: Door
  /** `token`, `client certificate`, `OIDC`: any one suffices. */
  proofs: readonly string[]
  /** Whoever reaches it may use it, and should not. */
  open: boolean
}

/** The same harmless request with all proof, where we have one, and once without each part of it. */
export interface DoorAttempts {
  door: Door
  withProof?: {
    status: number
    /** The setting or option of the token; absent where none was sent. */
    from?: string
    /** Whether that token was meant for this very door. */
    meant?: boolean
  }
  without: { proof: 'path prefix' | 'credential'; status: number }[]
}

export interface DryRun {
  status: number
  /** Of a refusal, in the API server's words. */
  message: string
  warnings: string[]
  finalizers: string[]
  /** Of the first request, and of one right after it. */
  firstMs: number
  secondMs: number
}

export interface ProviderAbilities {
  name: string
  can: string[]
  /** What is wrong with it under this configuration. */
  faults: string[]
}

export interface UnfinishedObject {
  /** `MultiClusterIngress shop/web` */
  name: string
  state: 'leaving' | 'unserved'
  /** Milliseconds since the epoch. */
  since: number
}
