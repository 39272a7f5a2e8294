import { checkApi } from './checks/check-api.ts'
import { checkAuthentication } from './checks/check-authentication.ts'
import { checkCaBundle } from './checks/check-ca-bundle.ts'
import { checkCertificate } from './checks/check-certificate.ts'
import { checkDryRun } from './checks/check-dry-run.ts'
import { checkIdentity } from './checks/check-identity.ts'
import { checkIngressClass } from './checks/check-ingress-class.ts'
import { checkKarmadaWebhooks } from './checks/check-karmada-webhooks.ts'
import { checkLastSweep } from './checks/check-last-sweep.ts'
import { checkLatency } from './checks/check-latency.ts'
import { checkObjects } from './checks/check-objects.ts'
import { checkProvider } from './checks/check-provider.ts'
import { checkRbac } from './checks/check-rbac.ts'
import { checkReachability } from './checks/check-reachability.ts'
import { checkUrl } from './checks/check-url.ts'
import { checkWebhooks } from './checks/check-webhooks.ts'
import { type Examination, type State, worst } from './examination.ts'
import type { Facts } from './facts.ts'

/** In the order in which one leads to the next. A check that has nothing to look at answers undefined. */
const CHECKS = {
  api: checkApi,
  webhooks: checkWebhooks,
  'ca-bundle': checkCaBundle,
  url: checkUrl,
  certificate: checkCertificate,
  reachability: checkReachability,
  'dry-run': checkDryRun,
  latency: checkLatency,
  authentication: checkAuthentication,
  'karmada-webhooks': checkKarmadaWebhooks,
  rbac: checkRbac,
  identity: checkIdentity,
  'ingress-class': checkIngressClass,
  provider: checkProvider,
  'last-sweep': checkLastSweep,
  objects: checkObjects,
} as const satisfies Record<string, (facts: Facts) => Examination | undefined>

export type CheckName = keyof typeof CHECKS

export interface Check extends Examination {
  name: CheckName
  state: State
}

export interface Diagnosis {
  state: State
  checks: Check[]
}

export function diagnose(facts: Facts): Diagnosis {
  const checks = Object.entries(CHECKS).flatMap(([name, check]): Check[] => {
    const examination = check(facts)
    if (examination === undefined) return []
    const state = worst(examination.problems.map((problem) => problem.state))
    return [{ name: name as CheckName, state, ...examination }]
  })
  return { state: worst(checks.map(({ state }) => state)), checks }
}
