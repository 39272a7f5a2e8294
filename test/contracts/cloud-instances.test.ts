import t from 'tap'
import { createFakeClusterCloud } from '../../src/providers/fake/fake-cluster-cloud.ts'
import { buildMachine, buildNode } from '../support/build-nodes.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { instancesFindings } from './cloud-instances-contract.ts'

const context = { signal: new AbortController().signal, logger: silentLogger, clusterId: 'default' }

function tested() {
  const cloud = createFakeClusterCloud({ clock: createManualClock() })
  cloud.machines.put(buildMachine(1))
  cloud.machines.put(buildMachine(2, { state: 'stopped' }))
  return {
    cloud,
    cloudProvider: cloud.cloudProvider,
    running: buildNode(1),
    stopped: buildNode(2),
    missing: buildNode(3),
    foreign: buildNode(4, { spec: { providerID: 'other://10.0.0.1' } }),
  }
}

t.test('the fake cloud keeps the contract of instances', async (t) => {
  t.strictSame(await instancesFindings(tested(), context), [])
})

t.test('C-108 a provider whose "not found" nobody can recognise breaks the contract', async (t) => {
  const broken = tested()
  const { instancesV2 } = broken.cloud.machines
  const ask = instancesV2.instanceExists
  instancesV2.instanceExists = async (node, given) => {
    if (await ask(node, given)) return true
    throw new Error(`node with name ${node.metadata.name} does not exist`)
  }
  const findings = await instancesFindings(broken, context)
  t.equal(findings.length, 1)
  t.match(findings[0], /gone must answer false or throw InstanceNotFound, and throws .*n3 does not exist/)
})

t.test('C-109 C-113 a provider that takes too much for gone breaks the contract', async (t) => {
  const broken = tested()
  broken.cloud.machines.instancesV2.instanceExists = async (node) => node.metadata.name === 'n1'
  t.match(await instancesFindings(broken, context), [
    /stopped instance must answer true/,
    /another cloud must not answer false/,
  ])
})
