import type { WorldSize } from '../support/build-world.ts'

/** What the control plane's process is asked for, and what it answers. */
export interface PlaneCalls {
  start(size: WorldSize): Promise<PlaneAddress>
  /** Resolves when this many ingresses have an address. */
  served(count: number): Promise<void>
  /** Requests by verb, since the last time this was asked. */
  requests(): Promise<Record<string, number>>
}

export interface PlaneAddress {
  url: string
  caPem: string
  token: string
  user: string
}

export type PlaneMessage = { call: keyof PlaneCalls; argument: unknown }
