// npm run test:balancers [part of a name…]: the function with real proxies in front of two member clusters, which are
// network namespaces. Exit 0: all passed; 1: something failed; 2: what it needs is not here.

import { join } from 'node:path'
import { MissingTools, provideBinaries } from '../apiserver/binaries.ts'
import { loadScenarios } from '../apiserver/load-scenarios.ts'
import { createReport } from '../apiserver/report.ts'
import { missingPrograms } from './prerequisites.ts'
import type { Scenario } from './scenario.ts'
import { NetworksForbidden } from './support/networks.ts'
import { openWorld, type World } from './support/world.ts'

const SCENARIOS = join(import.meta.dirname, 'scenarios')
const wanted = process.argv.slice(2)
const log = (line: string) => void process.stdout.write(`${line}\n`)

// Each process that is started ends with this one.
process.setMaxListeners(100)
process.exitCode = await main()

async function main(): Promise<number> {
  const opened = await openedWorld()
  if ('missing' in opened) {
    log(opened.missing)
    log('0 passed, 1 failed')
    return 2
  }
  const { world } = opened
  const report = createReport(log)
  try {
    for (const { name, run } of await loadScenarios<Scenario>(SCENARIOS))
      if (isWanted(name)) await report.scenario(name, () => world.during(() => run(world)))
  } finally {
    await world.close({ failed: report.failures() > 0 })
  }
  return report.conclude()
}

async function openedWorld(): Promise<{ world: World } | { missing: string }> {
  const missing = missingPrograms()
  if (missing !== undefined) return { missing }
  try {
    const binaries = await provideBinaries({ env: process.env, log })
    return { world: await openWorld(binaries, log) }
  } catch (error) {
    if (error instanceof MissingTools || error instanceof NetworksForbidden) return { missing: error.message }
    throw error
  }
}

function isWanted(name: string): boolean {
  return wanted.length === 0 || wanted.some((part) => name.includes(part))
}
