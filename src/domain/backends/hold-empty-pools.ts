import { type BackendFinding, warning } from './backend-finding.ts'
import type { BackendPool, Backends, PortBackend, ResolvedState, ServiceBackend } from './backends.ts'
import {
  type PoolMemory,
  poolKey,
  portKey,
  type RememberedPool,
  rememberedClusters,
  serviceKey,
} from './pool-memory.ts'
import type { ResolvedBackends } from './resolve-backends.ts'

const DEFAULT_GRACE_MS = 15_000

export interface HeldBackends {
  backends: Backends
  findings: BackendFinding[]
  /** To be given to the next pass. */
  memory: PoolMemory
  /** When the first grace period ends; undefined when nothing is held. */
  lookAgainMs: number | undefined
}

/**
 * Turns "nothing is known of this pool" into `held` for a grace period, and into `empty` after it. Slices vanish when an
 * informer on the control plane is not synced yet (karmada#6434); pods do not stop for that.
 *
 * | the pool | others of the port | then |
 * |---|---|---|
 * | serves, is empty (its cluster says so) or blocked | – | as it is, at once |
 * | its cluster is bound, no slice counts, and it served | – | held |
 * | its cluster is bound no more, and it served | one serves | gone at once: somebody moved the Service |
 * | its cluster is bound no more, and it served | none serves | held |
 * | it never served | – | empty |
 *
 * `previous` is undefined when a balancer exists and nobody remembers what it served: then everything may have served.
 */
export function holdEmptyPools(
  previous: PoolMemory | undefined,
  next: ResolvedBackends,
  now: number,
  graceMs: number = DEFAULT_GRACE_MS,
): HeldBackends {
  const pass: Pass = { previous, blocked: new Set(next.blocked), now, graceMs, memory: {}, waits: [] }
  const services = next.backends.services.map((service) => holdService(service, pass))
  const emptied = services.flatMap(({ emptied }) => emptied)
  const backends = { services: services.map(({ service }) => service) }
  return {
    backends,
    findings: [
      ...next.findings.filter((finding) => isDue(finding, backends)),
      ...emptiedFindings(emptied, next.findings),
    ],
    memory: pass.memory,
    lookAgainMs: pass.waits.length === 0 ? undefined : Math.min(...pass.waits),
  }
}

interface Pass {
  previous: PoolMemory | undefined
  blocked: ReadonlySet<string>
  now: number
  graceMs: number
  /** Filled as pools are gone through. */
  memory: Record<string, RememberedPool>
  waits: number[]
}

function holdService(
  service: ServiceBackend<ResolvedState>,
  pass: Pass,
): { service: ServiceBackend; emptied: string[] } {
  const ports = service.ports.map((port) => holdPort(service, port, pass))
  return {
    service: { ...service, ports: ports.map(({ port }) => port) },
    emptied: ports.some(({ emptied }) => emptied) ? [subjectOf(service)] : [],
  }
}

function holdPort(
  service: ServiceBackend<ResolvedState>,
  port: PortBackend<ResolvedState>,
  pass: Pass,
): { port: PortBackend; emptied: boolean } {
  const key = portKey(service, port)
  const listed = port.pools.map((pool) => holdPool(poolKey(key, pool.cluster), pool, pass))
  const pools = [...listed, ...keepUnbound(key, port, pass)].sort((a, b) => (a.cluster < b.cluster ? -1 : 1))
  const { state } = port
  if (state === 'serving') pass.memory[key] = { endpoints: [] }
  if (state !== 'missing') return { port: { ...port, pools, state }, emptied: false }
  const served = hasServed(key, service, port, pass)
  const waits = served && port.pools.length === 0 && keepWaiting(key, pass)
  const isHeld = waits || pools.some((pool) => pool.state === 'held')
  if (isHeld && !waits) pass.memory[key] = { endpoints: [] }
  return { port: { ...port, pools, state: isHeld ? 'held' : 'empty' }, emptied: served && !isHeld }
}

/** Pools of clusters that the Service is bound to no more: kept only while no other cluster serves the port. */
function keepUnbound(key: string, port: PortBackend<ResolvedState>, pass: Pass): BackendPool[] {
  if (port.state !== 'missing') return []
  return rememberedClusters(pass.previous ?? {}, key)
    .filter((cluster) => !pass.blocked.has(cluster) && port.pools.every((pool) => pool.cluster !== cluster))
    .map((cluster) => holdPool(poolKey(key, cluster), { cluster, state: 'missing', endpoints: [] }, pass))
    .filter(({ state }) => state === 'held')
}

/** Of a Service that is not there its ports are known only as routes name them: then it counts that any of it served. */
function hasServed(
  key: string,
  service: ServiceBackend<ResolvedState>,
  { pools }: PortBackend<ResolvedState>,
  { previous }: Pass,
): boolean {
  if (previous === undefined || previous[key] !== undefined) return true
  return pools.length === 0 && Object.keys(previous).some((known) => known.startsWith(serviceKey(service)))
}

function holdPool(key: string, pool: BackendPool<ResolvedState>, pass: Pass): BackendPool {
  const { cluster, endpoints, state } = pool
  if (state === 'serving') pass.memory[key] = { endpoints }
  if (state !== 'missing') return { cluster, endpoints, state }
  const served = pass.previous === undefined || pass.previous[key] !== undefined
  return served && keepWaiting(key, pass)
    ? { cluster, endpoints: pass.memory[key]?.endpoints ?? [], state: 'held' }
    : { cluster, endpoints: [], state: 'empty' }
}

/** Whether the grace period of this key still runs; then it is remembered. A moment in the future is another's clock. */
function keepWaiting(key: string, { previous, now, graceMs, memory, waits }: Pass): boolean {
  const known = previous?.[key]
  const missingSince = Math.min(known?.missingSince ?? now, now)
  const rest = missingSince + graceMs - now
  if (rest <= 0) return false
  memory[key] = { missingSince, endpoints: known?.endpoints ?? [] }
  waits.push(rest)
  return true
}

/** That a Service is scheduled nowhere is worth telling only once its port is empty: bindings come and go. */
function isDue({ reason, subject }: BackendFinding, { services }: Backends): boolean {
  if (reason !== 'ServiceNotScheduled' && reason !== 'ProviderClustersNotBound') return true
  const service = services.find((candidate) => subjectOf(candidate) === subject)
  return service?.ports.every(({ state }) => state !== 'held') ?? true
}

const SAYS_WHY: ReadonlySet<string> = new Set(['ServiceNotFound', 'ServiceNotScheduled', 'ProviderClustersNotBound'])

function emptiedFindings(emptied: readonly string[], findings: readonly BackendFinding[]): BackendFinding[] {
  return [...new Set(emptied)]
    .filter((subject) => !findings.some((finding) => finding.subject === subject && SAYS_WHY.has(finding.reason)))
    .map((subject) => warning('BackendsEmptied', subject, 'has no endpoints any more'))
}

function subjectOf({ namespace, name }: Pick<ServiceBackend, 'namespace' | 'name'>): string {
  return `service ${namespace}/${name}`
}
