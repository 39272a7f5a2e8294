import { CatalogueError } from '../../domain/catalogue-error.ts'
import { hasFinalizer } from '../../domain/finalizers.ts'
import type { Node } from '../../domain/node.ts'
import type { Outcome } from '../../domain/outcome.ts'
import type { Service } from '../../domain/service.ts'
import { publishedIngress } from '../../domain/service-balancer/published-ingress.ts'
import { SERVICE_FINALIZER, standingOf } from '../../domain/service-balancer/service-standing.ts'
import type { CloudBalancerAnswer, CloudBalancerResult } from '../../provider/cloud.ts'
import { isProviderError } from '../../provider/errors.ts'
import type { EventNote } from '../event-recorder.ts'
import { createCame, rememberingCreate } from '../load-balancer/unknown-create.ts'
import { claimService } from './claim-service.ts'
import { cleanUpService } from './clean-up-service.ts'
import type { Serve } from './decide-service.ts'
import { readRecord } from './gather-service.ts'
import { publishIngress } from './publish-ingress.ts'
import { SERVICE_METRICS } from './service-metrics.ts'
import { askCloud, type HeldServicePass, tellCloud } from './service-pass.ts'
import { isStillWorking, plainMessage, tell, tellFailure } from './tell-service.ts'

/** claim → ensure | update → tell → publish → read again; events and status in upstream's order (R-SVC-6). */
export async function serveService(serve: Serve, found: Service, pass: HeldServicePass): Promise<Outcome> {
  const { wanted, call } = serve
  const version = versionOf(serve, found)
  if (call === 'ensure' && serve.isNews) await tell(found, [{ ...ENSURING, version }], pass)
  const service = serve.claim ? await claimService(found, pass) : found
  const answer = await callBalancer(serve, service, pass)
  if ('outcome' in answer) return answer.outcome
  const { result } = answer
  if (call !== 'ensure') await createCame(service.metadata.uid ?? '', pass)
  await tell(service, notesFor(serve, result, version), pass)
  const ingress = result.status && publishedIngress(result.status, wanted.request.options)
  const published = await publishIngress(service, ingress, pass)
  const isLook = typeof published === 'object' && (published !== service || call === 'none')
  const current = isLook ? published : await pass.store.get(pass.key, { signal: pass.signal })
  const outcome = await lookAgain(service, current, pass)
  if (outcome.kind !== 'settled') return outcome
  const isWritten = current?.metadata.resourceVersion !== found.metadata.resourceVersion
  const acted = isWritten || (call !== 'none' && (result.changed ?? serve.isNews))
  return published === 'changed' ? { ...CHANGED, acted } : { ...outcome, acted }
}

const CHANGED = { kind: 'later', afterMs: 0, reason: 'it changed while its balancer was made' } as const

const ENSURING = { type: 'Normal', reason: 'EnsuringLoadBalancer', message: 'Ensuring load balancer' } as const

/** The same news from another instance, or after a crash, has the same name; the next change has another. */
function versionOf({ wanted: { record, request } }: Serve, { metadata }: Service): string {
  return [
    metadata.resourceVersion,
    record?.fingerprint ?? (record === undefined ? 'none' : 'unknown'),
    request.fingerprint,
  ].join(' ')
}

type Answer = { result: CloudBalancerResult } | { outcome: Outcome }

async function callBalancer(serve: Serve, service: Service, pass: HeldServicePass): Promise<Answer> {
  const { record, request } = serve.wanted
  switch (serve.call) {
    case 'none':
      return { result: { changed: false, ...(record?.status === undefined ? {} : { status: record.status }) } }
    case 'ensure':
      if (request.nodes.length === 0) await tell(service, [UNAVAILABLE], pass)
      return ensure(serve, service, pass)
    case 'update':
      return updateHosts(serve, service, pass)
  }
}

const UNAVAILABLE = {
  type: 'Warning',
  reason: 'UnAvailableLoadBalancer',
  message: 'There are no available nodes for LoadBalancer',
} as const

async function ensure({ wanted }: Serve, service: Service, pass: HeldServicePass): Promise<Answer> {
  const uid = service.metadata.uid ?? ''
  const { record, request } = wanted
  const call = () =>
    tellCloud(pass, uid, request, (cloud, context) =>
      cloud.ensureLoadBalancer(pass.clusterName, service, request.nodes, context),
    )
  try {
    // One that comes late finds a balancer that is deleted by then, and makes it anew.
    return { result: resultOf(await rememberingCreate({ uid, isThere: record !== undefined }, pass, call)) }
  } catch (error) {
    if (isElsewhere(error)) return { outcome: ELSEWHERE }
    await tellFailure(service, 'failed to ensure load balancer', error, pass)
    throw error
  }
}

/** A provider that returns nothing has nothing to tell (C-29); Go's nil came as null. */
function resultOf(answer: CloudBalancerAnswer): CloudBalancerResult {
  return answer ?? {}
}

/** R-SVC-24. A balancer that is gone is no failure of the update: it is made anew. */
async function updateHosts({ wanted: { request } }: Serve, service: Service, pass: HeldServicePass): Promise<Answer> {
  const { metrics, clock } = pass
  const started = clock.now()
  try {
    const answer = await tellCloud(pass, service.metadata.uid ?? '', request, (cloud, context) =>
      cloud.updateLoadBalancer(pass.clusterName, service, request.nodes, context),
    )
    metrics.observe(SERVICE_METRICS.updateHosts.name, (clock.now() - started) / 1000)
    return { result: resultOf(answer) }
  } catch (error) {
    if (isElsewhere(error)) return { outcome: ELSEWHERE }
    if (isStillWorking(error)) throw error
    metrics.count(SERVICE_METRICS.nodeSyncErrors.name)
    if (await isGone(service, pass)) return { outcome: { kind: 'later', afterMs: 0, reason: 'its balancer is gone' } }
    const message = `Error updating load balancer with new hosts ${namesOf(request.nodes)}, error: ${plainMessage(error)}`
    await tell(service, [{ type: 'Warning', reason: 'UpdateLoadBalancerFailed', message }], pass)
    throw error
  }
}

/** Only a plain "no" counts: a look that fails does not hide why the update did. */
async function isGone(service: Service, pass: HeldServicePass): Promise<boolean> {
  try {
    return (await readRecord(service, pass)) === undefined
  } catch {
    return false
  }
}

const NAMES_TOLD = 20

function namesOf(nodes: readonly Node[]): string {
  const names = nodes.slice(0, NAMES_TOLD).map(({ metadata }) => metadata.name)
  return `[${names.join(' ')}] [node names limited, total number of nodes: ${nodes.length}]`
}

const ELSEWHERE: Outcome = { kind: 'ignored', reason: 'the provider says that it is served elsewhere' }

function isElsewhere(error: unknown): boolean {
  return isProviderError(error) && error.kind === 'ImplementedElsewhere'
}

/** What changed nothing is no news, and a provider that does not know is believed to have done what it was called for. */
function notesFor(serve: Serve, { changed, warnings = [] }: CloudBalancerResult, version: string): EventNote[] {
  const told = warnings.map(({ reason, message }): EventNote => ({ type: 'Warning', reason, message }))
  if (serve.call === 'none' || changed === false || (!serve.isNews && changed !== true)) return told
  if (serve.call === 'ensure') return [...told, { ...ENSURED, version }]
  return [...told, serve.wanted.request.nodes.length === 0 ? UNAVAILABLE : { ...UPDATED, version }]
}

const ENSURED = { type: 'Normal', reason: 'EnsuredLoadBalancer', message: 'Ensured load balancer' } as const
const UPDATED = {
  type: 'Normal',
  reason: 'UpdatedLoadBalancer',
  message: 'Updated load balancer with new hosts',
} as const

/**
 * The Service may have gone, or have become another's, while its balancer was made: then that is cleaned up at once, and
 * what is not ours any more is not written to.
 */
async function lookAgain(service: Service, current: Service | undefined, pass: HeldServicePass): Promise<Outcome> {
  const { uid = '' } = service.metadata
  if (current === undefined) return removeMade(uid, pass, { kind: 'gone' })
  if (current.metadata.uid !== uid) {
    return removeMade(uid, pass, { kind: 'later', afterMs: 0, reason: 'another Service of its name' })
  }
  const standing = standingOf(current, pass.loadBalancerClass)
  if (standing.kind === 'cleanUp') return cleanUpService(current, pass)
  if (standing.kind === 'leave') return removeMade(uid, pass, { kind: 'ignored', reason: standing.reason })
  if (hasFinalizer(current, SERVICE_FINALIZER)) return { kind: 'settled' }
  throw new CatalogueError('Conflict', 'our finalizer was taken away while the balancer was made', {
    object: pass.key,
  })
}

async function removeMade(uid: string, pass: HeldServicePass, outcome: Outcome): Promise<Outcome> {
  await askCloud(pass, { uid, options: {} }, (cloud, context) =>
    cloud.ensureLoadBalancerDeleted(pass.clusterName, undefined, context),
  )
  return outcome
}
