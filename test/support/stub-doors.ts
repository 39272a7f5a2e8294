import type { Doors } from '../../src/adapters/http/doors.ts'
import type { AdmissionRequest } from '../../src/domain/admission-request.ts'
import type { Finding } from '../../src/domain/finding.ts'
import { isBeingDeleted } from '../../src/domain/kubernetes-object.ts'
import { validateMultiClusterIngress } from '../../src/domain/validation/validate-multi-cluster-ingress.ts'
import { validateMultiClusterService } from '../../src/domain/validation/validate-multi-cluster-service.ts'
import type { WorkItem } from '../../src/domain/work-item.ts'
import { acceptEvent } from '../../src/flow/accept-event.ts'
import { claimOnAdmission } from '../../src/flow/claim-on-admission.ts'
import type { Flow } from '../../src/flow/flow.ts'
import { isCertainlyOurs, type OwnershipRules } from '../../src/flow/ownership-rules.ts'
import { FIXTURE_WORLD } from './fixtures.ts'

/** Doors without a cluster behind them: admission as it is, a queue that records, work and sweeps that find nothing. */
export function stubDoors(overrides: Partial<Doors> = {}): Doors & { queued: WorkItem[] } {
  const queued: WorkItem[] = []
  const flow = {
    queue: { add: async (item: WorkItem) => void queued.push(item) },
    marks: { identity: FIXTURE_WORLD.identity, finalizer: FIXTURE_WORLD.finalizer },
  } as Flow
  return {
    queued,
    mutate: (request) => claimOnAdmission(request, RULES),
    validate: (request) => ({ findings: findingsOf(request), warnings: [] }),
    acceptEvent: (event) => acceptEvent(event, flow),
    work: async () => ({ kind: 'settled' }),
    sweep: async ({ scope }) => ({
      scope,
      listed: 0,
      outcomes: { settled: 0, gone: 0, ignored: 0, later: 0, failed: 0 },
      orphans: { found: 0, removed: 0 },
    }),
    readiness: async () => ({ ready: true, checks: [{ name: 'certificate', ok: true, message: 'not served here' }] }),
    metricsText: async () => '# TYPE up gauge\nup 1\n',
    draining: () => false,
    ...overrides,
  }
}

const RULES: OwnershipRules = {
  finalizer: FIXTURE_WORLD.finalizer,
  classNames: FIXTURE_WORLD.classNames,
  defaultClassIsOurs: FIXTURE_WORLD.defaultClassIsOurs,
  selector: {},
  serves: { MultiClusterIngress: true, MultiClusterService: true },
}

function findingsOf(request: AdmissionRequest): Finding[] {
  const { kind, object, oldObject } = request
  if (object === undefined || isBeingDeleted(oldObject ?? object) || !isCertainlyOurs(request, RULES)) return []
  return kind === 'MultiClusterIngress'
    ? validateMultiClusterIngress(object, oldObject)
    : validateMultiClusterService(object, oldObject)
}
