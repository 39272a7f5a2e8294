// npm run test:apiserver [part of a name…]: the contract and the scenarios on a real kube-apiserver, the same contract
// on the local control plane. Exit 0: all passed; 1: something failed; 2: no API server here and none can be built.

import { join } from 'node:path'
import { knownDifferences } from '../contracts/known-differences.ts'
import { createApiClient } from '../contracts/kubernetes-api/api-client.ts'
import { type Receivers, webhookUsers } from '../contracts/kubernetes-api/bench.ts'
import { openReceivers } from '../contracts/kubernetes-api/open-receivers.ts'
import { startLocalServerUnderTest } from '../contracts/kubernetes-api/start-local-server-under-test.ts'
import { kubernetesApiContract, runContract } from '../contracts/kubernetes-api-contract.ts'
import { apiServerUnderTest } from './api-server-under-test.ts'
import { type Binaries, MissingTools, provideBinaries } from './binaries.ts'
import { installCrds } from './install-crds.ts'
import { loadScenarios } from './load-scenarios.ts'
import { createReport, type Report } from './report.ts'
import { runKubectl } from './run-kubectl.ts'
import type { Scenario } from './scenario.ts'
import { type ApiServer, startApiServer } from './start-api-server.ts'

const SCENARIOS = join(import.meta.dirname, 'scenarios')
const wanted = process.argv.slice(2)
const log = (line: string) => void process.stdout.write(`${line}\n`)

process.exitCode = await main()

async function main(): Promise<number> {
  const binaries = await binariesOrNone()
  if (binaries === undefined) return 2
  const report = createReport(log)
  await onTheRealServer(binaries, report)
  await onTheLocalControlPlane(report)
  return report.conclude()
}

async function binariesOrNone(): Promise<Binaries | undefined> {
  try {
    return await provideBinaries({ env: process.env, log })
  } catch (error) {
    if (!(error instanceof MissingTools)) throw error
    log(error.message)
    return undefined
  }
}

async function onTheRealServer(binaries: Binaries, report: Report): Promise<void> {
  const scenarios = (await loadScenarios<Scenario>(SCENARIOS)).filter(isWanted)
  const beside = scenarios.filter((scenario) => scenario.beside)
  const others = scenarios.filter((scenario) => !scenario.beside)
  await withServer(binaries, report, async (server, receivers) => {
    // The second one starts when the first one listens: two that look for free ports in one moment may find the same.
    const lanes = [contractAndScenarios(server, receivers, others, report)]
    if (beside.length > 0) lanes.push(withServer(binaries, report, (second) => runScenarios(second, beside, report)))
    for (const lane of await Promise.allSettled(lanes)) if (lane.status === 'rejected') throw lane.reason
  })
}

async function contractAndScenarios(
  server: ApiServer,
  receivers: Receivers,
  scenarios: readonly Scenario[],
  report: Report,
): Promise<void> {
  const underTest = await apiServerUnderTest(server)
  const checks = kubernetesApiContract.filter(isWanted)
  report.contract(underTest.name, await runContract({ server: underTest, receivers, checks }))
  await runScenarios(server, scenarios, report)
}

async function withServer(
  binaries: Binaries,
  report: Report,
  use: (server: ApiServer, receivers: Receivers) => Promise<void>,
): Promise<void> {
  const receivers = await openReceivers()
  try {
    const server = await startApiServer({ binaries, webhookUsers: webhookUsers(receivers), log })
    try {
      log(`kube-apiserver ${server.version} serves at ${server.url}`)
      await use(server, receivers)
    } finally {
      await server.stop({ failed: report.failures() > 0 })
    }
  } finally {
    await receivers.close()
  }
}

async function onTheLocalControlPlane(report: Report): Promise<void> {
  const receivers = await openReceivers()
  const server = await startLocalServerUnderTest()
  try {
    const checks = kubernetesApiContract.filter(isWanted)
    report.contract(server.name, await runContract({ server, receivers, checks }), knownDifferences)
  } finally {
    await server.close()
    await receivers.close()
  }
}

async function runScenarios(server: ApiServer, scenarios: readonly Scenario[], report: Report): Promise<void> {
  const { url, caPem, adminToken: token } = server
  const admin = createApiClient({ url, caPem, token })
  try {
    log(`installed ${await installCrds(admin)}`)
    const kubectl = (parameters: readonly string[], input?: string) => runKubectl(server, parameters, input)
    for (const scenario of scenarios)
      await report.scenario(scenario.name, (tell) => scenario.run({ server, admin, kubectl, log: tell }))
  } finally {
    await admin.close()
  }
}

function isWanted({ name, section = '' }: { name: string; section?: string }): boolean {
  return wanted.length === 0 || wanted.some((part) => name.includes(part) || section.includes(part))
}
