import { danglingDifferences, judgeResults, type KnownDifference } from '../contracts/kubernetes-api/judge-results.ts'
import { type CheckResult, kubernetesApiContract, nameOfCheck } from '../contracts/kubernetes-api-contract.ts'

export interface Report {
  /** What of the contract held on this server. What is known to differ counts as passed while it does differ. */
  contract(server: string, results: readonly CheckResult[], known?: readonly KnownDifference[]): void
  /** What it tells is printed at its end, as another may be played beside it. */
  scenario(name: string, run: (tell: (line: string) => void) => Promise<void>): Promise<void>
  failures(): number
  /** Prints the totals; returns the exit code. */
  conclude(): number
}

export function createReport(log: (line: string) => void): Report {
  const summaries: string[] = []
  const total = { passed: 0, failed: 0 }
  const scenarios = { passed: 0, failed: 0 }

  const fail = (title: string, text = '') => {
    log(`not ok: ${title}`)
    if (text !== '') log(text.replace(/^/gm, '    '))
  }

  return {
    contract(server, results, known = []) {
      const { passed, failed, differences, vanished } = judgeResults(results, known)
      const dangling = danglingDifferences(known, kubernetesApiContract)
      for (const { check, failure } of failed) fail(`${server}: ${nameOfCheck(check)}`, failure?.stack)
      for (const { check } of vanished) fail(`${server}: listed as different, and is not: ${nameOfCheck(check)}`)
      for (const name of dangling) fail(`${server}: listed as different, and is no check: ${name}`)

      const seconds = results.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000
      const wrong = failed.length + vanished.length + dangling.length
      summaries.push(
        `${server}: ${results.length} contract checks (${seconds.toFixed(1)} s in all), ${passed.length} passed, ` +
          `${wrong} failed, ${differences.length} known to differ`,
        ...differences.map(({ check, reason }) => `  differs: ${check} (${reason})`),
      )
      total.passed += passed.length + differences.length
      total.failed += wrong
    },
    async scenario(name, run) {
      const start = performance.now()
      const told: string[] = []
      try {
        await run((line) => void told.push(line))
        scenarios.passed += 1
        for (const line of told) log(`    ${line}`)
        log(`ok: scenario: ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)`)
      } catch (error) {
        scenarios.failed += 1
        for (const line of told) log(`    ${line}`)
        fail(`scenario: ${name}`, error instanceof Error ? error.stack : String(error))
      }
    },
    failures: () => total.failed + scenarios.failed,
    conclude() {
      for (const summary of summaries) log(summary)
      log(`scenarios: ${scenarios.passed + scenarios.failed}, ${scenarios.passed} passed, ${scenarios.failed} failed`)
      log(`${total.passed + scenarios.passed} passed, ${total.failed + scenarios.failed} failed`)
      return total.failed + scenarios.failed === 0 ? 0 : 1
    },
  }
}
