import type { PoolAddress } from '../../domain/addresses/address-pool.ts'
import type { ServedIngress } from './served-record.ts'

/** An address and the objects that are reached there; of two that want the same the first has it. */
export interface SharedAddress {
  address: PoolAddress
  records: readonly ServedIngress[]
  /** A word for names of files and proxies. */
  name: string
  /** Paths of what is looked up for every request, and can change without a reload. */
  maps: { hosts: string; exact: string; prefix: string }
  certificateList: string
}
