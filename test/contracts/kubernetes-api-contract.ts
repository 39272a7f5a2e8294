import { type ApiClient, createApiClient } from './kubernetes-api/api-client.ts'
import { mustBe, openBench, type Receivers } from './kubernetes-api/bench.ts'
import { admissionOrderChecks } from './kubernetes-api/checks/admission-order.ts'
import { admissionStageChecks } from './kubernetes-api/checks/admission-stages.ts'
import { coreKindChecks } from './kubernetes-api/checks/core-kinds.ts'
import { errorChecks } from './kubernetes-api/checks/errors.ts'
import { lifecycleChecks } from './kubernetes-api/checks/lifecycle.ts'
import { patchChecks } from './kubernetes-api/checks/patches.ts'
import { readingChecks } from './kubernetes-api/checks/reading.ts'
import { reviewRequestChecks } from './kubernetes-api/checks/review-request.ts'
import { reviewResponseChecks } from './kubernetes-api/checks/review-response.ts'
import { webhookConfigurationChecks } from './kubernetes-api/checks/webhook-configuration.ts'
import { webhookCredentialChecks } from './kubernetes-api/checks/webhook-credentials.ts'
import type { ContractCheck } from './kubernetes-api/contract-check.ts'
import { contractCrds, GROUP } from './kubernetes-api/contract-crds.ts'
import { eventually } from './kubernetes-api/eventually.ts'
import type { ServerUnderTest } from './kubernetes-api/server-under-test.ts'

/** What we believe about a Kubernetes API. Whoever serves one must pass every check. */
export const kubernetesApiContract: readonly ContractCheck[] = [
  ...reviewRequestChecks,
  ...reviewResponseChecks,
  ...webhookCredentialChecks,
  ...webhookConfigurationChecks,
  ...admissionOrderChecks,
  ...admissionStageChecks,
  ...errorChecks,
  ...patchChecks,
  ...lifecycleChecks,
  ...readingChecks,
  ...coreKindChecks,
]

export interface CheckResult {
  check: ContractCheck
  /** Absent when the check passed. */
  failure?: Error
  durationMs: number
}

export interface ContractRun {
  server: ServerUnderTest
  receivers: Receivers
  checks?: readonly ContractCheck[]
  concurrency?: number
}

/** Runs the checks, each in a namespace of its own, side by side; those that disturb others afterwards, one by one. */
export async function runContract(run: ContractRun): Promise<CheckResult[]> {
  const { server, receivers, checks = kubernetesApiContract, concurrency = 6 } = run
  requireUniqueNames(checks)
  const { url, caPem } = server
  const admin = createApiClient({ url, caPem, token: server.admin.token })
  const plain = createApiClient({ url, caPem, token: server.plain.token })
  try {
    await installContractCrds(admin)
    const open = (check: ContractCheck) => {
      const namespace = `contract-${checks.indexOf(check)}`
      return openBench({ server, receivers, admin, plain, namespace })
    }
    const together = checks.filter((check) => check.alone !== true)
    const results = await inLanes(concurrency, together, async (check) => runCheck(check, open))
    for (const check of checks) if (check.alone === true) results.push(await runCheck(check, open))
    return results
  } finally {
    await Promise.all([admin.close(), plain.close()])
  }
}

async function runCheck(check: ContractCheck, open: (check: ContractCheck) => ReturnType<typeof openBench>) {
  const start = performance.now()
  const result: CheckResult = { check, durationMs: 0 }
  try {
    const bench = await open(check)
    try {
      await check.run(bench)
    } finally {
      await bench.dispose()
    }
  } catch (error) {
    result.failure = error instanceof Error ? error : new Error(String(error))
  }
  result.durationMs = performance.now() - start
  return result
}

async function installContractCrds(admin: ApiClient): Promise<void> {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  for (const crd of contractCrds) {
    await mustBe(201, admin.post(definitions, crd))
    const { group, versions, names } = crd.spec
    for (const version of versions as { name: string }[])
      await eventually(() => mustBe(200, admin.get(`/apis/${group}/${version.name}/${names.plural}?limit=1`)), 20_000)
  }
  // A real API server holds back the first creations of a new kind for two seconds; no check shall be held back.
  const widget = { apiVersion: `${GROUP}/v1`, kind: 'Widget', metadata: { name: 'first' }, spec: { title: 'first' } }
  await mustBe(201, admin.post(`/apis/${GROUP}/v1/namespaces/default/widgets?dryRun=All`, widget))
}

async function inLanes<T, R>(lanes: number, tasks: readonly T[], work: (task: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const lane = async () => {
    for (;;) {
      const index = next++
      const task = tasks[index]
      if (task === undefined) return
      results[index] = await work(task)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return results
}

function requireUniqueNames(checks: readonly ContractCheck[]): void {
  const names = new Set<string>()
  for (const check of checks) {
    const name = nameOfCheck(check)
    if (names.has(name)) throw new Error(`two checks are called "${name}"`)
    names.add(name)
  }
}

/** Names are unique within their section. */
export function nameOfCheck({ section, name }: ContractCheck): string {
  return `${section}: ${name}`
}
