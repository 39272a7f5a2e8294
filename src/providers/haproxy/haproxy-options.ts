import { isAbsolute, join } from 'node:path'
import type { AddressPool } from '../../domain/addresses/address-pool.ts'
import { parseAddressPools } from '../../domain/addresses/parse-address-pools.ts'
import type { ProviderSetup } from '../../provider/registry.ts'

/** `provider.options`, with all defaults filled in. Paths are absolute. */
export interface HaproxyOptions {
  /** Records, keys, certificates and maps; ours alone. */
  stateDirectory: string
  /** The file that we write and HAProxy reads (`-f`). */
  configurationFile: string
  /** A file of the operator's that HAProxy reads before ours, with `global` and whatever else. Without one `global` is ours. */
  baseConfiguration?: string
  /** Of the worker, with level admin. */
  runtimeSocket: string
  /** Of the master (`-S`). */
  masterSocket: string
  /** The program, for checking. */
  haproxy: string
  addresses: AddressPool[]
  /** Of our `global`; as many as the limit of open files allows when absent. */
  maxConnections?: number
  /** How long connections of before a reload may go on. */
  hardStopAfterSeconds: number
  /** On 127.0.0.1, where one worker tells the next which client belongs to which server. */
  peersPort: number
}

const OPTIONAL = ['baseConfiguration', 'maxConnections']
const DEFAULT_DIRECTORY = '/var/lib/wcp-haproxy'

export function readHaproxyOptions({ options, fault }: Pick<ProviderSetup, 'options' | 'fault'>): HaproxyOptions {
  const unread = new Set(Object.keys(options))
  const take = (name: string) => {
    unread.delete(name)
    return options[name]
  }
  const path = (name: string, otherwise: string) => {
    const value = take(name) ?? otherwise
    if (typeof value === 'string' && isAbsolute(value) && /^[\x21-\x7e]+$/.test(value)) return value
    fault(name, 'must be an absolute path without blanks')
    return otherwise
  }
  const whole = (name: string, least: number, most: number, otherwise: number) => {
    const value = take(name) ?? otherwise
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value
    fault(name, `must be a whole number from ${least} to ${most}`)
    return otherwise
  }
  const stateDirectory = path('stateDirectory', DEFAULT_DIRECTORY)
  const read: HaproxyOptions = {
    stateDirectory,
    configurationFile: path('configurationFile', join(stateDirectory, 'haproxy.cfg')),
    ...(options['baseConfiguration'] === undefined ? {} : { baseConfiguration: path('baseConfiguration', '/') }),
    runtimeSocket: path('runtimeSocket', '/run/haproxy/wcp-admin.sock'),
    masterSocket: path('masterSocket', '/run/haproxy-master.sock'),
    haproxy: path('haproxy', '/usr/sbin/haproxy'),
    addresses: readPools(take('addresses'), fault),
    ...(options['maxConnections'] === undefined ? {} : { maxConnections: whole('maxConnections', 10, 10_000_000, 10) }),
    hardStopAfterSeconds: whole('hardStopAfterSeconds', 1, 604_800, 3_600),
    peersPort: whole('peersPort', 1, 65_535, 10_699),
  }
  for (const name of unread) {
    fault(name, `the haproxy provider has no such option; it knows: ${[...Object.keys(read), ...OPTIONAL].join(', ')}`)
  }
  return read
}

function readPools(value: unknown, fault: ProviderSetup['fault']): AddressPool[] {
  if (value === undefined) {
    fault('addresses', 'is required: the addresses of this machine that balancers can be reached at')
    return []
  }
  const { pools, faults } = parseAddressPools(value)
  for (const { field, message } of faults) fault(`addresses${field}`, message)
  return pools
}
