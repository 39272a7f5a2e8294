import { isIP } from 'node:net'
import { parseArgs } from 'node:util'
import { canonicalAddress } from '../adapters/certificates/describe-certificate.ts'
import type { KubernetesSource } from '../adapters/kubernetes/read-kubeconfig.ts'
import { dns1123SubdomainFaults } from '../domain/validation/name-faults.ts'
import { OUR_CONFIGURATION } from '../domain/webhook-configuration.ts'
import { UsageError } from './usage-error.ts'

export interface CertsOptions {
  hosts: string[]
  kept: { folder: string } | { secret: { namespace: string; name: string }; source: KubernetesSource }
  /** Of the API server that calls us; undefined: its bundles are somebody else's business. */
  callers: KubernetesSource | undefined
  configurations: string[]
  servingMs: number
  authorityMs: number
  settleMs: number
  renewServing: boolean
  renewAuthority: boolean
  retireAuthorities: boolean
  only: 'look' | 'check' | undefined
}

const text = { type: 'string' } as const
const flag = { type: 'boolean', default: false } as const
const DAY_MS = 86_400_000

/** Throws `UsageError`. */
export function parseCertsOptions(args: string[]): CertsOptions {
  const { values } = parseArgs({
    args,
    options: {
      host: { ...text, multiple: true, default: [] },
      directory: text,
      secret: text,
      'secret-kubeconfig': text,
      'secret-context': text,
      kubeconfig: text,
      context: text,
      'in-cluster': flag,
      configuration: { ...text, multiple: true, default: [OUR_CONFIGURATION] },
      days: { ...text, default: '365' },
      'authority-days': { ...text, default: '3650' },
      settle: { ...text, default: '3600' },
      renew: flag,
      'renew-authority': flag,
      'retire-authorities': flag,
      'dry-run': flag,
      check: flag,
    },
  })
  const days = wholeNumber('--days', values.days, 1)
  const authorityDays = wholeNumber('--authority-days', values['authority-days'], 1)
  if (authorityDays < days) throw usage(`--authority-days: ${authorityDays} is less than the ${days} of --days`)
  return {
    hosts: hostsOf(values.host),
    kept: keptOf(values),
    callers: callersOf(values),
    configurations: values.configuration,
    servingMs: days * DAY_MS,
    authorityMs: authorityDays * DAY_MS,
    settleMs: wholeNumber('--settle', values.settle, 0) * 1_000,
    renewServing: values.renew,
    renewAuthority: values['renew-authority'],
    retireAuthorities: values['retire-authorities'],
    only: values.check ? 'check' : values['dry-run'] ? 'look' : undefined,
  }
}

function hostsOf(hosts: readonly string[]): string[] {
  if (hosts.length === 0) throw usage('give the host of the URL by which API servers call the function with --host')
  return [...new Set(hosts.map(hostOf))]
}

/** As clients compare it: in lower case, an address in its shortest form, without brackets. */
function hostOf(given: string): string {
  const host = given.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  if (isIP(host) !== 0) return canonicalAddress(host)
  const isName = dns1123SubdomainFaults(host.replace(/^\*\./, '')).length === 0 && !/^[\d.]+$/.test(host)
  if (isName) return host
  throw usage(`--host: "${given}" is neither a DNS name nor an IP address; leave out scheme, port and path`)
}

interface Values {
  directory?: string | undefined
  secret?: string | undefined
  'secret-kubeconfig'?: string | undefined
  'secret-context'?: string | undefined
  kubeconfig?: string | undefined
  context?: string | undefined
  'in-cluster': boolean
}

function keptOf(values: Values): CertsOptions['kept'] {
  const { directory, secret } = values
  if ((directory === undefined) === (secret === undefined)) throw usage('give either --directory or --secret')
  if (directory !== undefined) return { folder: directory }
  const [namespace = '', name = '', ...rest] = (secret ?? '').split('/')
  if (namespace === '' || name === '' || rest.length > 0) throw usage(`--secret: "${secret}" is not NAMESPACE/NAME`)
  const file = values['secret-kubeconfig']
  const source = file === undefined ? ({ kind: 'in-cluster' } as const) : fileSource(file, values['secret-context'])
  return { secret: { namespace, name }, source }
}

function callersOf(values: Values): KubernetesSource | undefined {
  const { kubeconfig, context } = values
  if (kubeconfig !== undefined && values['in-cluster']) throw usage('give either --kubeconfig or --in-cluster')
  if (kubeconfig !== undefined) return fileSource(kubeconfig, context)
  return values['in-cluster'] ? { kind: 'in-cluster' } : undefined
}

function fileSource(path: string, context: string | undefined): KubernetesSource {
  return { kind: 'file', path, ...(context === undefined ? {} : { context }) }
}

function wholeNumber(option: string, value: string, least: number): number {
  const number = Number(value)
  if (Number.isSafeInteger(number) && number >= least && number <= 100_000_000 && /^\d+$/.test(value)) return number
  throw usage(`${option}: "${value}" is not a whole number from ${least}`)
}

function usage(message: string): UsageError {
  return new UsageError(`certs: ${message}`)
}
