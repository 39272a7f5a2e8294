import type { AssignedAddresses } from '../../domain/addresses/address-pool.ts'
import { parseIpAddress } from '../../domain/ip-address.ts'
import { isRuleHost } from '../../domain/routing/is-rule-host.ts'
import type { PlannedRoute } from '../../domain/routing/route-plan.ts'
import type { BalancerIdentity } from '../../provider/multicluster.ts'
import { type CaddyHandler, type CaddyRoute, OURS } from './caddy-configuration.ts'

/** What Caddy keeps of a balancer for us, beside what it serves by. Everything on an address is rendered from these. */
export interface CaddyRecord {
  identity: BalancerIdentity
  fingerprint: string
  assigned: AssignedAddresses
  routes: PlannedRoute[]
  defaultUpstream?: string
  /** Replaces what a path matched. */
  rewriteTarget?: string
  certificates: RecordedCertificate[]
  /** Of everything in the balancer's route but this, and of the settings it was made by. */
  digest: string
}

/** Certificates themselves are in Caddy's TLS app, once each, whoever uses them. */
export interface RecordedCertificate {
  hosts: string[]
  tag: string
}

/** Caddy's routes have no place for notes, so it is a variable that nobody asks for. */
export function recordHandler(record: CaddyRecord): CaddyHandler {
  return { handler: 'vars', [OURS]: record }
}

/** The record in a balancer's route, or undefined where it is none. */
export function recordOf(route: unknown): CaddyRecord | undefined {
  const notes = handlersOf(route).flatMap((each) => (each?.handler === 'vars' ? [each[OURS]] : []))
  return notes.find(isRecord)
}

/** Routes of the first subroute; nothing in what is no route. */
export function subroutes(route: unknown): (CaddyRoute | null)[] {
  const routes = handlersOf(route).find((each) => each?.handler === 'subroute')?.['routes']
  return Array.isArray(routes) ? routes : []
}

function handlersOf(route: unknown): (CaddyHandler | null)[] {
  const handlers = (route as CaddyRoute | null)?.handle
  return Array.isArray(handlers) ? handlers : []
}

/** As far as everything else relies on it: a record that was edited by hand must not break a whole address. */
function isRecord(value: unknown): value is CaddyRecord {
  if (!isObject(value)) return false
  const { identity, fingerprint, assigned, routes, certificates, defaultUpstream, rewriteTarget } = value
  return (
    typeof fingerprint === 'string' &&
    isObject(identity) &&
    hasTexts(identity, ['clusterId', 'kind', 'namespace', 'name', 'uid']) &&
    isObject(assigned) &&
    isListOf(assigned['addresses'], isPoolAddress) &&
    isListOf(assigned['claims'], isClaim) &&
    isListOf(routes, isRoute) &&
    isListOf(certificates, isCertificate) &&
    isTextOrAbsent(defaultUpstream) &&
    isTextOrAbsent(rewriteTarget)
  )
}

/** With something that Caddy can listen on: what it cannot would have it refuse everybody's changes. */
function isPoolAddress(address: Members): boolean {
  const { ip, listen } = address
  if (typeof ip !== 'string' || typeof listen !== 'string') return false
  return listen === '*' || listen === '::' || parseIpAddress(listen) !== undefined
}

function isClaim({ port, host }: Members): boolean {
  return typeof port === 'number' && isTextOrAbsent(host)
}

function isRoute(route: Members): boolean {
  const { host, upstream, tls } = route
  const isHost = host === '' || (typeof host === 'string' && isRuleHost(host))
  return isHost && hasTexts(route, ['path', 'match']) && isTextOrAbsent(upstream) && typeof tls === 'boolean'
}

function isCertificate({ tag, hosts }: Members): boolean {
  return typeof tag === 'string' && Array.isArray(hosts) && hosts.every((host) => typeof host === 'string')
}

type Members = Readonly<Record<string, unknown>>

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null
}

function isListOf(value: unknown, isElement: (element: Members) => boolean): boolean {
  return Array.isArray(value) && value.every((element) => isObject(element) && isElement(element))
}

function hasTexts(value: Members, fields: readonly string[]): boolean {
  return fields.every((field) => typeof value[field] === 'string')
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === 'string'
}
