import type { AssignedAddresses } from '../../domain/addresses/address-pool.ts'
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
export function subroutes(route: unknown): CaddyRoute[] {
  const routes = handlersOf(route).find((each) => each?.handler === 'subroute')?.['routes']
  return Array.isArray(routes) ? (routes as CaddyRoute[]) : []
}

function handlersOf(route: unknown): (CaddyHandler | null)[] {
  const handlers = (route as CaddyRoute | null)?.handle
  return Array.isArray(handlers) ? handlers : []
}

/** As far as everything else relies on it: a record that was edited by hand must not break a whole address. */
function isRecord(value: unknown): value is CaddyRecord {
  if (typeof value !== 'object' || value === null) return false
  const { identity, assigned, routes, certificates, fingerprint } = value as Partial<CaddyRecord>
  return (
    typeof fingerprint === 'string' &&
    ['clusterId', 'kind', 'namespace', 'name', 'uid'].every(
      (field) => typeof (identity as Record<string, unknown> | undefined)?.[field] === 'string',
    ) &&
    Array.isArray(assigned?.addresses) &&
    assigned.addresses.every((address) => typeof address?.listen === 'string' && typeof address.ip === 'string') &&
    Array.isArray(assigned.claims) &&
    Array.isArray(routes) &&
    routes.every(
      (route) => typeof route?.host === 'string' && typeof route.path === 'string' && typeof route.match === 'string',
    ) &&
    Array.isArray(certificates) &&
    certificates.every((certificate) => typeof certificate?.tag === 'string' && Array.isArray(certificate.hosts))
  )
}
