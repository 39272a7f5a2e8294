import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import { type Child, startChild } from './child.ts'
import type { Networks } from './networks.ts'
import { residentBytes } from './resident-bytes.ts'

/** An HAProxy with a master, on the machine of the balancers. */
export interface Haproxy {
  /** Of the provider that runs beside it. */
  options: object
  /** Names of what it balances for us. */
  balancers(): Promise<string[]>
  memory(): Promise<number>
  /** Stopped and started anew, with the files that are there. */
  restart(): Promise<void>
  output(): string
  stop(): Promise<void>
}
