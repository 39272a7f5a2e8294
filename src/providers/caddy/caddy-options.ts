import type { AddressPool } from '../../domain/addresses/address-pool.ts'
import { parseAddressPools } from '../../domain/addresses/parse-address-pools.ts'
import type { ProviderSetup } from '../../provider/registry.ts'

/** `provider.options` of the caddy provider, with all defaults filled in. */
export interface CaddyOptions {
  /** One, or several that serve the same. */
  admin: URL[]
  adminTls?: { caFile?: string; certFile?: string; keyFile?: string; serverName?: string }
  adminTimeoutMs: number
  addresses: AddressPool[]
  httpPort: number
  httpsPort: number
  defaultCertificate?: CertificateFiles
}

export interface CertificateFiles {
  certFile: string
  keyFile: string
}

const KNOWN = ['admin', 'adminTls', 'adminTimeoutMs', 'addresses', 'httpPort', 'httpsPort', 'defaultCertificate']

/** Reports every fault; what is returned then is not used. */
export function readCaddyOptions({ options, fault }: Pick<ProviderSetup, 'options' | 'fault'>): CaddyOptions {
  for (const name of Object.keys(options)) {
    if (!KNOWN.includes(name)) fault(name, `the caddy provider has no such option; it knows: ${KNOWN.join(', ')}`)
  }
  const admin = readAdmin(options['admin'], fault)
  const adminTls = readFiles('adminTls', options['adminTls'], ['caFile', 'certFile', 'keyFile', 'serverName'], fault)
  if (adminTls !== undefined && (adminTls.certFile === undefined) !== (adminTls.keyFile === undefined)) {
    fault('adminTls', 'certFile and keyFile belong together')
  }
  if (adminTls !== undefined && admin.some(({ protocol }) => protocol !== 'https:')) {
    fault('adminTls', 'is for endpoints with https: only; leave it out, or change provider.options.admin')
  }
  const defaultCertificate = readFiles(
    'defaultCertificate',
    options['defaultCertificate'],
    ['certFile', 'keyFile'],
    fault,
  )
  if (defaultCertificate !== undefined && Object.keys(defaultCertificate).length < 2) {
    fault('defaultCertificate', 'needs certFile and keyFile, paths of PEM files')
  }
  const httpPort = readNumber('httpPort', options['httpPort'], { least: 1, most: 65_535, otherwise: 80 }, fault)
  const httpsPort = readNumber('httpsPort', options['httpsPort'], { least: 1, most: 65_535, otherwise: 443 }, fault)
  if (httpPort === httpsPort) fault('httpsPort', 'must be another port than httpPort')
  return {
    admin,
    ...(adminTls === undefined ? {} : { adminTls }),
    adminTimeoutMs: readNumber(
      'adminTimeoutMs',
      options['adminTimeoutMs'],
      { least: 100, most: 600_000, otherwise: 10_000 },
      fault,
    ),
    addresses: readAddresses(options['addresses'], fault),
    httpPort,
    httpsPort,
    ...(defaultCertificate === undefined
      ? {}
      : { defaultCertificate: defaultCertificate as unknown as CertificateFiles }),
  }
}

type Fault = ProviderSetup['fault']

const ADMIN =
  'the URL of Caddy’s admin endpoint, or a list of them: http://10.0.0.5:2019, https://…, unix:///run/caddy/admin.sock'

function readAdmin(value: unknown, fault: Fault): URL[] {
  const urls = Array.isArray(value) ? value : [value]
  if (value === undefined || urls.length === 0) fault('admin', `is missing: ${ADMIN}`)
  else if (new Set(urls).size < urls.length) fault('admin', 'names the same endpoint twice')
  return urls.flatMap((each) => {
    const url = typeof each === 'string' && URL.canParse(each) ? new URL(each) : undefined
    if (url !== undefined && isAdminUrl(url)) return [url]
    if (value !== undefined) fault('admin', `must be ${ADMIN}; without credentials, query and fragment`)
    return []
  })
}

function isAdminUrl({ protocol, username, password, search, hash, hostname, pathname }: URL): boolean {
  if (username !== '' || password !== '' || search !== '' || hash !== '') return false
  if (protocol === 'unix:') return hostname === '' && pathname.length > 1
  return protocol === 'http:' || protocol === 'https:'
}

function readAddresses(value: unknown, fault: Fault): AddressPool[] {
  const { pools, faults } = parseAddressPools(value)
  for (const { field, message } of faults) fault(`addresses${field}`, message)
  return pools
}

function readFiles<Name extends string>(
  field: string,
  value: unknown,
  names: readonly Name[],
  fault: Fault,
): Partial<Record<Name, string>> | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    fault(field, `must be an object with ${names.join(', ')}`)
    return {}
  }
  for (const [name, text] of Object.entries(value)) {
    if (!names.includes(name as Name)) fault(`${field}.${name}`, `is not known; known are: ${names.join(', ')}`)
    else if (typeof text !== 'string' || text === '') fault(`${field}.${name}`, 'must be a text that is not empty')
  }
  return value as Partial<Record<Name, string>>
}

function readNumber(
  field: string,
  value: unknown,
  { least, most, otherwise }: { least: number; most: number; otherwise: number },
  fault: Fault,
): number {
  if (value === undefined) return otherwise
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value
  fault(field, `must be a whole number from ${least} to ${most}`)
  return otherwise
}
