import type { FastifyInstance } from 'fastify'
import { SWEEP_SCOPES } from '../../domain/sweep-report.ts'
import type { SweepRequest } from '../../flow/sweep/sweep.ts'
import { UNTRACED } from '../../flow/untraced.ts'
import { badRequest } from './bad-request.ts'
import { withDeadline } from './deadline.ts'
import type { DoorOptions } from './door-options.ts'
import type { Doors } from './doors.ts'
import { ignoreMediaType, refuseWhileDraining } from './request-guards.ts'
import { traceOfRequest } from './request-trace.ts'
import { retryAfterSeconds } from './retry-after.ts'

const LONGEST_TOKEN = 8_192

/** 200 with the counts, or, when time ran out, 503 with the counts so far and the token to go on with. */
export function registerSweepRoute(app: FastifyInstance, doors: Doors, options: DoorOptions): void {
  const onRequest = [refuseWhileDraining(doors.draining), ignoreMediaType]
  app.post<{ Querystring: Record<string, unknown> }>('/sweep', { onRequest }, async (request, reply) => {
    const { scope, continue: token } = request.query
    const sweep = decodeSweep(scope, token, 'query')
    const span = { name: 'sweep request', kind: 'server', parent: traceOfRequest(request.headers) } as const
    const report = await (options.tracer ?? UNTRACED).begin(span, () =>
      withDeadline(options.clock, options.sweepDeadlineMs, (signal) => doors.sweep(sweep, signal)),
    )
    if (report.continue !== undefined) reply.code(503).header('retry-after', retryAfterSeconds(0))
    return reply.send(report)
  })
}

/** Scope and continue token from a query or from an event's data; an absent or empty one is not asked for. */
export function decodeSweep(scope: unknown, token: unknown, path: string): SweepRequest {
  const wanted = isAbsent(scope) ? 'all' : SWEEP_SCOPES.find((known) => known === scope)
  if (wanted === undefined)
    throw badRequest(`${path}.scope`, `must be one of ${SWEEP_SCOPES.join(', ')}`, { value: scope })
  if (isAbsent(token)) return { scope: wanted }
  if (typeof token !== 'string' || token.length > LONGEST_TOKEN) {
    throw badRequest(`${path}.continue`, 'must be the token of the previous answer', { value: token })
  }
  return { scope: wanted, continue: token }
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}
