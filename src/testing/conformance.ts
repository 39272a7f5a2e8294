import type { Node } from '../domain/node.ts'
import type { Provider } from '../provider/provider.ts'
import { createBench } from './bench.ts'
import { createInstancesBench, createRoutesBench } from './cloud-bench.ts'
import type { ConformanceCheck } from './conformance-check.ts'
import { INSTANCES_CHECKS } from './instances-checks.ts'
import { LEVEL_ONE } from './level-one.ts'
import { LEVEL_TWO } from './level-two.ts'
import { createPatience } from './patience.ts'
import { ROUTES_CHECKS } from './routes-checks.ts'
import { testedBalancers } from './tested-balancer.ts'

/** What is examined. */
export interface ConformanceSubject {
  /** A provider; asked for anew by each check. A cloud in memory may be a new one each time, a real one stays. */
  createProvider(): Provider | Promise<Provider>
  /** 1: the basics. 2: overlaps, lost answers, others in the account, too. */
  level: 1 | 2
  /** How long the cloud may go on saying `RetryAfter`, and an aborted call may take, in milliseconds; 10 000 when absent. */
  patienceMs?: number
  /** A node whose machine runs: it is looked at, and routes of the check lead to it. Without one that is skipped. */
  node?: Node
  /** Of what waits and tells the time; the system's when absent. */
  clock?: { now(): number; wait(ms: number): Promise<void> }
}

export interface ConformanceResult {
  /** `MultiClusterIngress/ensure-again` */
  check: string
  level: 1 | 2
  /** What the contract says. */
  contract: string
  outcome: 'passed' | 'failed' | 'skipped'
  /** Why it failed or was skipped; empty when it passed. */
  message: string
}

export interface ConformanceReport {
  provider: string
  level: 1 | 2
  /** Whether nothing failed. */
  passed: boolean
  results: ConformanceResult[]
}

const PATIENCE_MS = 10_000
const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/

/** Examines a provider by its contract (`MultiClusterProvider`, `CloudProvider`). Never rejects for what the provider does. */
export async function examineProvider(subject: ConformanceSubject): Promise<ConformanceReport> {
  const provider = await subject.createProvider()
  const parts = partsOf(provider)
  const results = [checkName(provider), checkInterfaces(provider, parts)]
  for (const part of parts) results.push(...(await examinePart(part, subject)))
  return {
    provider: provider.name,
    level: subject.level,
    passed: results.every(({ outcome }) => outcome !== 'failed'),
    results,
  }
}

/** For people: one line a check, what failed with the reason under it. */
export function formatReport({ provider, level, passed, results }: ConformanceReport): string {
  const lines = results.flatMap(({ check, outcome, contract, message }) => [
    `${outcome.padEnd(8)}${check}`,
    ...(outcome === 'passed' ? [] : [`        ${outcome === 'failed' ? `${contract}; but ${message}` : message}`]),
  ])
  const count = (outcome: ConformanceResult['outcome']) => results.filter((each) => each.outcome === outcome).length
  const verdict = `${provider}: level ${level} ${passed ? 'passed' : 'not passed'}`
  return [
    ...lines,
    '',
    `${verdict}: ${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`,
  ].join('\n')
}

function checkName({ name }: Provider): ConformanceResult {
  const contract = 'the name is lower case, [a-z0-9-], since it is part of the finalizer’s'
  const isGood = NAME.test(name)
  return result('provider/name', 1, contract, isGood ? undefined : `it is "${name}"`)
}

function checkInterfaces({ cloudProvider }: Provider, parts: readonly string[]): ConformanceResult {
  const contract = 'it implements loadBalancer, mcsLoadBalancer or a part of cloudProvider'
  if (parts.length > 0) return result('provider/interfaces', 1, contract, undefined)
  const message = 'it serves nothing, so there is nothing to examine'
  if (cloudProvider === undefined) return result('provider/interfaces', 1, contract, message)
  return { check: 'provider/interfaces', level: 1, contract, outcome: 'skipped', message }
}

/** `MultiClusterIngress`, … of balancers; `instances` and `routes`. */
function partsOf(provider: Provider): string[] {
  const { cloudProvider } = provider
  return [
    ...testedBalancers(provider).map(({ kind }) => kind),
    ...(cloudProvider?.instancesV2?.() === undefined ? [] : ['instances']),
    ...(cloudProvider?.routes() === undefined ? [] : ['routes']),
  ]
}

async function examinePart(part: string, subject: ConformanceSubject): Promise<ConformanceResult[]> {
  const patience = createPatience(patienceOptions(subject))
  const cloudParts = ({ cloudProvider }: Provider) => ({
    providerName: cloudProvider?.providerName() ?? '',
    node: subject.node,
    patience,
  })
  switch (part) {
    case 'instances':
      return examine(part, INSTANCES_CHECKS, subject, (provider) => {
        const instances = provider.cloudProvider?.instancesV2?.()
        return instances && createInstancesBench(instances, cloudParts(provider))
      })
    case 'routes':
      return examine(part, ROUTES_CHECKS, subject, (provider, name) => {
        const routes = provider.cloudProvider?.routes()
        const place = ROUTES_CHECKS.findIndex((check) => check.name === name)
        return routes && createRoutesBench(routes, place, cloudParts(provider))
      })
    default:
      return examine(part, [...LEVEL_ONE, ...LEVEL_TWO], subject, (provider, name) => {
        const balancer = testedBalancers(provider).find(({ kind }) => kind === part)
        return balancer && createBench(balancer, name, patience)
      })
  }
}

/** Each check has a bench of its own, over a provider of its own. */
async function examine<B extends { cleanUp(): Promise<void> }>(
  part: string,
  checks: readonly ConformanceCheck<B>[],
  subject: ConformanceSubject,
  benchOf: (provider: Provider, check: string) => B | undefined,
): Promise<ConformanceResult[]> {
  const results: ConformanceResult[] = []
  for (const check of checks.filter(({ level }) => level <= subject.level)) {
    const bench = benchOf(await subject.createProvider(), check.name)
    results.push(await runCheck(part, check, bench))
  }
  return results
}

async function runCheck<B extends { cleanUp(): Promise<void> }>(
  part: string,
  check: ConformanceCheck<B>,
  bench: B | undefined,
): Promise<ConformanceResult> {
  const { name, level, contract } = check
  if (bench === undefined) return result(`${part}/${name}`, level, contract, 'the provider has lost this interface')
  const skipped = check.skip?.(bench)
  if (skipped !== undefined) return { check: `${part}/${name}`, level, contract, outcome: 'skipped', message: skipped }
  const fault = await faultOf(() => check.run(bench))
  const left = await faultOf(() => bench.cleanUp())
  return result(`${part}/${name}`, level, contract, fault ?? left)
}

async function faultOf(action: () => Promise<void>): Promise<string | undefined> {
  try {
    await action()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function result(check: string, level: 1 | 2, contract: string, fault: string | undefined): ConformanceResult {
  return { check, level, contract, outcome: fault === undefined ? 'passed' : 'failed', message: fault ?? '' }
}

function patienceOptions({ patienceMs = PATIENCE_MS, clock = SYSTEM_CLOCK }: ConformanceSubject) {
  return { patienceMs, wait: (ms: number) => clock.wait(ms), now: () => clock.now() }
}

const SYSTEM_CLOCK = {
  now: () => performance.now(),
  wait: (ms: number) =>
    new Promise<void>((resolve) => {
      setTimeout(resolve, ms)
    }),
}
