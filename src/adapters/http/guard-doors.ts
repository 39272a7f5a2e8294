import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { CatalogueError } from '../../domain/catalogue-error.ts'
import type { Door } from '../../domain/door.ts'
import { judgeProofs, type ProofFailure } from '../../domain/judge-proofs.ts'
import type { Rate } from '../../domain/token-bucket.ts'
import type { CallerProof, ShownCredentials } from '../../ports/caller-proof.ts'
import { callerAddress, createCallerLimits } from './caller-limits.ts'
import type { DoorGuard } from './door-guard.ts'
import { DOOR_METRICS } from './door-metrics.ts'
import type { GuardOptions } from './door-options.ts'
import { createRefusalLog } from './refusal-log.ts'
import { createCredentialReader } from './shown-credentials.ts'

/** Every route, with the door it belongs to; the handshake and the probes are everyone's. */
const DOOR_OF_ROUTE: Readonly<Record<string, Door | 'everyone'>> = {
  'POST /admission/mutate': 'admission',
  'POST /admission/validate': 'admission',
  'POST /admission/notify': 'admission',
  'POST /events': 'events',
  'OPTIONS /events': 'everyone',
  'POST /sweep': 'sweep',
  'GET /metrics': 'metrics',
  'GET /healthz': 'everyone',
  'GET /readyz': 'everyone',
  'GET /openapi.json': 'everyone',
}

/** Of what is not proven, from one address. */
const FAILURES: Rate = { perSecond: 1, burst: 20 }

/**
 * Asks every caller who it is, before anything of a body is read. All refusals of a kind are alike, so that a stranger
 * learns nothing from them.
 *
 * The API server is never told to slow down: it would send the same review again until its timeout, and the user would
 * wait. Its reviews are not limited, and one that is not proven is answered 401 or 403 however many there are.
 */
export function guardDoors(app: FastifyInstance, options: GuardOptions): void {
  const { clock, metrics, callers } = options
  const credentialsOf = createCredentialReader()
  const limits = createCallerLimits()
  const log = createRefusalLog(options)

  app.addHook('onRoute', (route) => {
    const door = doorOf(String(route.method), route.url)
    if (door === 'everyone' || isOpen(guardOf(door))) return
    const ask: onRequestHookHandler = (request, reply, done) => {
      admit(door, request, reply).then(() => done(), done)
    }
    route.onRequest = [ask, ...[route.onRequest ?? []].flat()]
  })

  function guardOf(door: Door): DoorGuard {
    const guard = callers[door]
    if (guard === undefined) throw new TypeError(`nobody said who may call the door ${door}`)
    return guard
  }

  async function admit(door: Door, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { proofs, rate } = guardOf(door)
    const address = callerAddress(request.raw.socket.remoteAddress)
    const verdict = proofs === 'anyone' ? { kind: 'proven' as const } : await verdictOf(proofs, credentialsOf(request))
    if (verdict.kind === 'proven') {
      const waitMs = rate === undefined ? 0 : limits.take(`${door} ${verdict.caller ?? address}`, rate, clock.now())
      if (waitMs > 0) throw refuse(door, 'limited', request, reply, waitMs)
      return
    }
    const waitMs = door === 'admission' ? 0 : limits.take(`refused ${address}`, FAILURES, clock.now())
    throw refuse(door, waitMs > 0 ? 'limited' : verdict.reason, request, reply, waitMs)
  }

  function refuse(
    door: Door,
    reason: ProofFailure | 'limited',
    request: FastifyRequest,
    reply: FastifyReply,
    waitMs: number,
  ): CatalogueError {
    metrics.count(DOOR_METRICS.refusals.name, { door, reason })
    log(door, reason, request.raw.socket.remoteAddress)
    if (bringsMuch(request)) reply.header('connection', 'close')
    return refusal(reason, waitMs)
  }
}

function doorOf(method: string, url: string): Door | 'everyone' {
  const door = DOOR_OF_ROUTE[`${method} ${url}`]
  if (door === undefined) throw new TypeError(`${method} ${url} has no row in DOOR_OF_ROUTE: who may call it?`)
  return door
}

/** Nobody is asked for anything, and nobody is counted. */
function isOpen({ proofs, rate }: DoorGuard): boolean {
  return proofs === 'anyone' && rate === undefined
}

async function verdictOf(proofs: readonly CallerProof[], shown: ShownCredentials) {
  return judgeProofs(await Promise.all(proofs.map((proof) => proof.check(shown))))
}

const WORTH_A_CONNECTION = 64 * 1024

/** A body that nobody will read: a small one is skipped, for a large one, or one of unknown length, the connection goes. */
function bringsMuch({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > WORTH_A_CONNECTION
}

const COME_BACK_MS = 5_000

function refusal(reason: ProofFailure | 'limited', waitMs: number): CatalogueError {
  switch (reason) {
    case 'limited':
      return new CatalogueError('TooManyRequests', 'send the request again later', { afterMs: waitMs })
    case 'unverifiable':
      return new CatalogueError('CallerUnverifiable', 'send the request again later', { afterMs: COME_BACK_MS })
    case 'notAllowed':
      return new CatalogueError('CallerNotAllowed', 'this caller may not use this door')
    default:
      return new CatalogueError('CallerUnknown', 'this door wants to know who calls')
  }
}
