import type {
  DescribedCloud,
  ServedBalancer,
  ServedServiceBalancer,
  Serves,
} from '../../provider/protocol/operations.ts'
import type { ProtocolValidator } from '../../provider/protocol/protocol-validator.ts'
import type { ProviderSetup } from '../../provider/registry.ts'

/** `provider.options` of `provider: { name: http }`. */
export interface HttpOptions {
  /** Of the provider, without `/v1`; a path before it is kept. */
  url: string
  /** What is asked of it. A factory makes no network call, so this is configured; the first call compares. */
  serves: Serves
  consistencyWindowMs?: number
  cloud?: DescribedCloud
  /** A file whose first line is the bearer token; read again when it changes, as are the others. */
  tokenFile?: string
  caFile?: string
  clientCertFile?: string
  clientKeyFile?: string
  /** How long one call may take. Shorter than `work.providerDeadlineMs`, or that one ends it. */
  timeoutMs: number
  /** Connections that are kept. */
  connections: number
  requestBytes: number
  answerBytes: number
  /** Without TLS, or without a token: only said on purpose. */
  insecure: boolean
}

const MIB = 1024 * 1024

const NUMBERS = {
  timeoutMs: { fallback: 40_000, least: 100, most: 600_000 },
  connections: { fallback: 16, least: 1, most: 1_000 },
  requestBytes: { fallback: 16 * MIB, least: 1_024, most: 1_024 * MIB },
  answerBytes: { fallback: 4 * MIB, least: 1_024, most: 1_024 * MIB },
} as const

const FILES = ['tokenFile', 'caFile', 'clientCertFile', 'clientKeyFile'] as const
const KNOWN = ['url', 'serves', 'cloud', 'consistencyWindowMs', 'insecure', ...FILES, ...Object.keys(NUMBERS)]

/** Reports every fault; what it answers after one is not used. */
export function parseHttpOptions(
  { options, fault }: Pick<ProviderSetup, 'options' | 'fault'>,
  validate: ProtocolValidator,
): HttpOptions {
  for (const name of Object.keys(options)) {
    if (!KNOWN.includes(name)) fault(name, `the http provider has no such option; it knows: ${KNOWN.join(', ')}`)
  }
  const { serves, consistencyWindowMs, cloud } = parseServes(options, fault, validate)
  const insecure = options['insecure'] === true
  if (options['insecure'] !== undefined && typeof options['insecure'] !== 'boolean')
    fault('insecure', 'must be true or false')
  const files = Object.fromEntries(
    FILES.flatMap((name) => {
      const path = options[name]
      if (path === undefined) return []
      if (typeof path !== 'string' || path === '') fault(name, 'must be the path of a file')
      return [[name, String(path)]]
    }),
  )
  if ((files['clientCertFile'] === undefined) !== (files['clientKeyFile'] === undefined)) {
    fault('clientCertFile', 'and clientKeyFile belong together: set both')
  }
  if (!insecure && files['tokenFile'] === undefined && files['clientCertFile'] === undefined) {
    fault('tokenFile', 'must name the file with the token of the provider (or set clientCertFile and clientKeyFile)')
  }
  return {
    url: parseUrl(options['url'], insecure, fault),
    serves,
    ...(consistencyWindowMs !== undefined && { consistencyWindowMs }),
    ...(cloud && { cloud }),
    ...files,
    ...numbersOf(options, fault),
    insecure,
  }
}

type Fault = ProviderSetup['fault']

function parseUrl(url: unknown, insecure: boolean, fault: Fault): string {
  if (typeof url !== 'string' || !URL.canParse(url)) {
    fault('url', 'must be the URL of the provider, such as https://balancer.example.com:9443')
    return 'https://invalid.invalid'
  }
  const { protocol, username, password, search, hash, origin, pathname } = new URL(url)
  if (protocol !== 'https:' && !(protocol === 'http:' && insecure)) {
    fault('url', 'must be https: keys of certificates travel to the provider (http only with insecure: true)')
  }
  if (username !== '' || password !== '') fault('url', 'must have no credentials in it; use tokenFile')
  if (search !== '' || hash !== '') fault('url', 'must have no query and no fragment')
  return `${origin}${pathname.replace(/\/+$/, '')}`
}

function parseServes(
  options: ProviderSetup['options'],
  fault: Fault,
  validate: ProtocolValidator,
): Pick<HttpOptions, 'serves' | 'consistencyWindowMs' | 'cloud'> {
  const { serves, consistencyWindowMs, cloud } = options
  if (serves === undefined || Object.keys(Object(serves)).length === 0) {
    fault('serves', 'must say what the provider serves; GET /v1/provider of it answers what can stand here')
    return { serves: {} }
  }
  const said = {
    serves,
    ...(consistencyWindowMs !== undefined && { consistencyWindowMs }),
    ...(cloud !== undefined && { cloud }),
  }
  const wrong = validate('Description', { name: 'http', ...said })
  if (wrong !== undefined) {
    const [field = '', ...rest] = wrong.split(': ')
    fault(field, rest.join(': '))
    return { serves: {} }
  }
  const checked = said as Pick<HttpOptions, 'serves' | 'consistencyWindowMs' | 'cloud'>
  const { Service, instances, routes } = checked.serves
  if (checked.cloud === undefined && (Service ?? instances ?? routes) !== undefined) {
    fault('cloud', 'is required for Service, instances and routes: { providerName: …, hasClusterID: … }')
  }
  return checked
}

function numbersOf(options: ProviderSetup['options'], fault: Fault): Record<keyof typeof NUMBERS, number> {
  const entries = Object.entries(NUMBERS).map(([name, { fallback, least, most }]) => {
    const value = options[name] ?? fallback
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return [name, value]
    fault(name, `must be a whole number from ${least} to ${most}`)
    return [name, fallback]
  })
  return Object.fromEntries(entries) as Record<keyof typeof NUMBERS, number>
}

/** What is left out is not asked for. */
export function completeBalancer({ list = false, resourceBackends = false, externalName = false }: ServedBalancer) {
  return { list, resourceBackends, externalName }
}

export function completeServiceBalancer(balancer: ServedServiceBalancer) {
  const { list = false, protocols = ['TCP' as const], sourceRanges = false, target = 'instance' as const } = balancer
  return { list, protocols, sourceRanges, target, consistencyWindowMs: balancer.consistencyWindowMs ?? 0 }
}
