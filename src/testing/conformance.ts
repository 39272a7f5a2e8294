import type { Provider } from '../provider/provider.ts'
import { type BenchOptions, createBench } from './bench.ts'
import type { ConformanceCheck } from './conformance-check.ts'
import { LEVEL_ONE } from './level-one.ts'
import { LEVEL_TWO } from './level-two.ts'
import { testedBalancers } from './tested-balancer.ts'

/** What is examined. */
export interface ConformanceSubject {
  /** A provider; asked for anew by each check. A cloud in memory may be a new one each time, a real one stays. */
  createProvider(): Provider | Promise<Provider>
  /** 1: the basics. 2: overlaps, lost answers, others in the account, too. */
  level: 1 | 2
  /** How long the cloud may go on saying `RetryAfter`, and an aborted call may take, in milliseconds; 10 000 when absent. */
  patienceMs?: number
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
  const kinds = testedBalancers(provider).map(({ kind }) => kind)
  const checks = [...LEVEL_ONE, ...LEVEL_TWO].filter(({ level }) => level <= subject.level)
  const results = [checkName(provider), checkInterfaces(kinds)]
  for (const kind of kinds) for (const check of checks) results.push(await runCheck(kind, check, subject))
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

function checkInterfaces(kinds: readonly string[]): ConformanceResult {
  const contract = 'it implements loadBalancer, mcsLoadBalancer or cloudProvider.loadBalancer'
  if (kinds.length > 0) return result('provider/interfaces', 1, contract, undefined)
  const message = 'it balances nothing, so there is nothing to examine'
  return { check: 'provider/interfaces', level: 1, contract, outcome: 'skipped', message }
}

async function runCheck(
  kind: string,
  check: ConformanceCheck,
  subject: ConformanceSubject,
): Promise<ConformanceResult> {
  const { name, level, contract } = check
  const balancer = testedBalancers(await subject.createProvider()).find((each) => each.kind === kind)
  if (balancer === undefined) return result(`${kind}/${name}`, level, contract, 'the provider has lost this interface')
  const bench = createBench(balancer, name, benchOptions(subject))
  const skipped = check.skip?.(bench)
  if (skipped !== undefined) return { check: `${kind}/${name}`, level, contract, outcome: 'skipped', message: skipped }
  const fault = (await faultOf(() => check.run(bench))) ?? (await faultOf(() => bench.cleanUp()))
  return result(`${kind}/${name}`, level, contract, fault)
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

function benchOptions({ patienceMs = PATIENCE_MS, clock = SYSTEM_CLOCK }: ConformanceSubject): BenchOptions {
  return { patienceMs, wait: (ms) => clock.wait(ms), now: () => clock.now() }
}

const SYSTEM_CLOCK = {
  now: () => performance.now(),
  wait: (ms: number) =>
    new Promise<void>((resolve) => {
      setTimeout(resolve, ms)
    }),
}
