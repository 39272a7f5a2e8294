import type { CheckResult } from '../contracts/kubernetes-api-contract.ts'

export interface Report {
  contract(server: string, results: readonly CheckResult[]): void
  scenario(name: string, run: () => Promise<void>): Promise<void>
  failures(): number
  /** Prints the totals; returns the exit code. */
  conclude(): number
}

export function createReport(log: (line: string) => void): Report {
  const summaries: string[] = []
  let passed = 0
  let failed = 0
  let scenarios = { passed: 0, failed: 0 }

  return {
    contract(server, results) {
      const failures = results.filter(({ failure }) => failure !== undefined)
      for (const { check, failure } of failures) {
        log(`not ok: ${check.section}: ${check.name}`)
        log(indented(failure?.stack ?? ''))
      }
      const seconds = results.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000
      const ok = results.length - failures.length
      summaries.push(
        `${server}: ${results.length} contract checks, ${ok} passed, ${failures.length} failed (${seconds.toFixed(1)} s of checks)`,
      )
      passed += ok
      failed += failures.length
    },
    async scenario(name, run) {
      const start = performance.now()
      try {
        await run()
        scenarios = { ...scenarios, passed: scenarios.passed + 1 }
        log(`ok: scenario ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)`)
      } catch (error) {
        scenarios = { ...scenarios, failed: scenarios.failed + 1 }
        log(`not ok: scenario ${name}`)
        log(indented(error instanceof Error ? (error.stack ?? error.message) : String(error)))
      }
    },
    failures: () => failed + scenarios.failed,
    conclude() {
      for (const summary of summaries) log(summary)
      log(`scenarios: ${scenarios.passed + scenarios.failed}, ${scenarios.passed} passed, ${scenarios.failed} failed`)
      log(`${passed + scenarios.passed} passed, ${failed + scenarios.failed} failed`)
      return failed + scenarios.failed === 0 ? 0 : 1
    },
  }
}

function indented(text: string): string {
  return text.replace(/^/gm, '    ')
}
