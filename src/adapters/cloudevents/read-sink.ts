import { X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { rootCertificates } from 'node:tls'
import { CatalogueError } from '../../domain/catalogue-error.ts'

/** Where events go and what goes with each. */
export interface Sink {
  /** Its path may be a secret: never logged. */
  url: string
  /** PEM; the system's own when absent. */
  ca?: string[]
  /** Set on every event. */
  extensions: Readonly<Record<string, string>>
  /** A bearer token, read anew for each request. */
  tokenFile?: string
}

/** What Knative's SinkBinding puts into a container. */
export interface SinkEnvironment {
  K_SINK?: string | undefined
  K_CE_OVERRIDES?: string | undefined
  K_CA_CERTS?: string | undefined
}

/** What is given on the command line goes before the environment. */
export interface SinkOptions {
  url?: string | undefined
  caFile?: string | undefined
  tokenFile?: string | undefined
}

// Mounted by SinkBinding where the sink has an audience.
const OIDC_TOKEN = '/oidc/token'

/** Throws `ConfigurationInvalid`, naming the option or the variable. */
export function readSink(options: SinkOptions, environment: SinkEnvironment): Sink {
  const url = sinkUrl(options.url ?? environment.K_SINK, options.url === undefined ? 'K_SINK' : '--sink')
  const ca = authorities(options.caFile, environment.K_CA_CERTS)
  const tokenFile = options.tokenFile ?? (existsSync(OIDC_TOKEN) ? OIDC_TOKEN : undefined)
  return {
    url,
    extensions: overrides(environment.K_CE_OVERRIDES),
    ...(ca === undefined ? {} : { ca }),
    ...(tokenFile === undefined ? {} : { tokenFile }),
  }
}

function sinkUrl(text: string | undefined, field: string): string {
  if (!text) throw invalid('--sink', 'give the URL of the events door, here or in the variable K_SINK')
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) throw invalid(field, 'must be an http(s) URL')
  if (url.username !== '' || url.password !== '') throw invalid(field, 'must not hold credentials; use --token-file')
  return url.href
}

/** A file replaces the well-known authorities; Knative's variable adds to them. */
function authorities(file: string | undefined, variable: string | undefined): Sink['ca'] {
  if (file !== undefined) return certificates(readAuthorities(file), '--ca')
  return variable ? [...rootCertificates, ...certificates(variable, 'K_CA_CERTS')] : undefined
}

function readAuthorities(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw invalid('--ca', `${file} cannot be read`, cause)
  }
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g

/** Checked here: TLS leaves out without a word what it cannot read, and then trusts nobody. */
function certificates(text: string, field: string): string[] {
  const found = text.match(CERTIFICATE) ?? []
  if (found.length === 0) throw invalid(field, 'must hold certificates in PEM')
  try {
    for (const pem of found) new X509Certificate(pem)
  } catch (cause) {
    throw invalid(field, 'holds a certificate that cannot be read; give authorities in PEM', cause)
  }
  return found
}

const CORE_ATTRIBUTES = [
  'specversion',
  'id',
  'source',
  'type',
  'subject',
  'time',
  'datacontenttype',
  'dataschema',
  'data',
]

function overrides(text: string | undefined): Record<string, string> {
  if (!text) return {}
  const { extensions = {} } = parseObject(text)
  const entries = Object.entries(extensions ?? {})
  for (const [name, value] of entries) {
    const isExtension = /^[a-z0-9]+$/.test(name) && !CORE_ATTRIBUTES.includes(name) && typeof value === 'string'
    if (!isExtension) throw invalid('K_CE_OVERRIDES', `"${name}" must be an extension attribute with a text`)
  }
  return Object.fromEntries(entries)
}

function parseObject(text: string): { extensions?: Record<string, string> | null } {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value
  } catch {}
  throw invalid('K_CE_OVERRIDES', 'must be a JSON object like {"extensions": {"name": "value"}}')
}

function invalid(field: string, message: string, cause?: unknown): CatalogueError {
  return new CatalogueError('ConfigurationInvalid', `${field}: ${message}`, { field, cause })
}
