// The contract on the local control plane alone; `npm run test:apiserver` runs it on a real kube-apiserver too.
import { test } from 'tap'
import { knownDifferences } from './known-differences.ts'
import { danglingDifferences, judgeResults } from './kubernetes-api/judge-results.ts'
import { openReceivers } from './kubernetes-api/open-receivers.ts'
import { startLocalServerUnderTest } from './kubernetes-api/start-local-server-under-test.ts'
import { kubernetesApiContract, nameOfCheck, runContract } from './kubernetes-api-contract.ts'

test('the local control plane keeps the contract of a Kubernetes API', async (t) => {
  const receivers = await openReceivers()
  const server = await startLocalServerUnderTest()
  t.teardown(async () => {
    await server.close()
    await receivers.close()
  })

  const results = await runContract({ server, receivers, concurrency: 24 })
  const { passed, failed, differences, vanished } = judgeResults(results, knownDifferences)
  for (const { check } of passed) t.pass(nameOfCheck(check))
  for (const { check, reason } of differences) t.pass(`${check} differs: ${reason}`)
  for (const { check, failure } of failed) t.fail(nameOfCheck(check), { found: failure?.message ?? '' })
  t.strictSame(
    vanished.map(({ check }) => nameOfCheck(check)),
    [],
    'what is listed as different is different',
  )
  t.strictSame(
    danglingDifferences(knownDifferences, kubernetesApiContract),
    [],
    'what is listed as different is a check',
  )
})
