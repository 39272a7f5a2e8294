import type { Node } from '../domain/node.ts'
import type { InstancesBench } from './cloud-bench.ts'
import type { ConformanceCheck } from './conformance-check.ts'
import { ConformanceFault, demand } from './conformance-fault.ts'

/** What `instancesV2` says of machines. A Node is deleted because of it. */
export const INSTANCES_CHECKS: readonly ConformanceCheck<InstancesBench>[] = [
  {
    name: 'absent-instance',
    level: 1,
    contract: 'no instance is made up: of a providerID that nobody has, nothing is known',
    async run(bench) {
      const node = nodeOf(`${bench.providerName}://conformance-absent`)
      const exists = await unlessFails(
        bench.ask('instanceExists', (part, context) => part.instanceExists(node, context)),
      )
      demand(exists !== true, 'instanceExists answers true for an instance that nobody has')
      const metadata = await unlessFails(
        bench.ask('instanceMetadata', (part, context) => part.instanceMetadata(node, context)),
      )
      demand(metadata === undefined, 'instanceMetadata answers for an instance that nobody has')
    },
  },
  {
    name: 'foreign-instance',
    level: 1,
    contract: 'a machine of another cloud is not judged: instanceExists throws, it does not answer false',
    async run(bench) {
      const node = nodeOf('conformance-another-cloud://i-1')
      const exists = await unlessFails(
        bench.ask('instanceExists', (part, context) => part.instanceExists(node, context)),
      )
      demand(
        exists !== false,
        'instanceExists answers false for a providerID of another cloud: its Node would be deleted',
      )
      demand(exists !== true, 'instanceExists answers true for a providerID of another cloud')
    },
  },
  {
    name: 'running-instance',
    level: 1,
    contract: 'the instance of a node that runs exists, and is not shut down',
    skip: withoutNode,
    async run(bench) {
      const node = given(bench)
      for (const time of ['', ' the second time']) {
        const exists = await bench.ask('instanceExists', (part, context) => part.instanceExists(node, context))
        demand(exists === true, `instanceExists answers ${exists} for a node that runs${time}`)
      }
      const isDown = await bench.ask('instanceShutdown', (part, context) => part.instanceShutdown(node, context))
      demand(isDown === false, `instanceShutdown answers ${isDown} for a node that runs`)
    },
  },
  {
    name: 'instance-metadata',
    level: 1,
    contract: 'metadata names the instance by its providerID, has addresses, and is the same each time',
    skip: withoutNode,
    async run(bench) {
      const node = given(bench)
      const ask = () => bench.ask('instanceMetadata', (part, context) => part.instanceMetadata(node, context))
      const metadata = await ask()
      demand(metadata !== undefined, 'instanceMetadata knows nothing of a node that runs')
      const { providerID, nodeAddresses } = metadata
      const known = node.spec?.providerID ?? ''
      demand(
        providerID.startsWith(`${bench.providerName}://`) && providerID.length > bench.providerName.length + 3,
        `the providerID "${providerID}" is not ${bench.providerName}://…`,
      )
      demand(known === '' || known === providerID, `the providerID is "${providerID}", and the node has "${known}"`)
      demand(nodeAddresses.length > 0, 'there is no address')
      const odd = nodeAddresses.find(({ type, address }) => !ADDRESS_TYPES.has(type) || address === '')
      demand(odd === undefined, `an address of type "${odd?.type}" is "${odd?.address}"`)
      demand(JSON.stringify(await ask()) === JSON.stringify(metadata), 'a second call answers otherwise')
    },
  },
  {
    name: 'instance-arguments',
    level: 1,
    contract: 'the node belongs to the caller',
    async run(bench) {
      const node = bench.node ?? nodeOf(`${bench.providerName}://conformance-absent`)
      const before = JSON.stringify(node)
      await unlessFails(bench.ask('instanceExists', (part, context) => part.instanceExists(node, context)))
      await unlessFails(bench.ask('instanceShutdown', (part, context) => part.instanceShutdown(node, context)))
      await unlessFails(bench.ask('instanceMetadata', (part, context) => part.instanceMetadata(node, context)))
      demand(JSON.stringify(node) === before, 'the node that was handed over is changed')
    },
  },
  {
    name: 'instance-aborted',
    level: 1,
    contract: 'a call whose signal is aborted already rejects: it never answers that an instance is gone',
    async run(bench) {
      const node = bench.node ?? nodeOf(`${bench.providerName}://conformance-absent`)
      const call = bench.with(AbortSignal.abort(), (part, context) => part.instanceExists(node, context))
      const outcome = await bench.outcomeOf(call)
      demand(outcome === 'rejected', `instanceExists has ${outcome} although its signal was aborted before`)
    },
  },
]

const ADDRESS_TYPES: ReadonlySet<string> = new Set([
  'InternalIP',
  'ExternalIP',
  'Hostname',
  'InternalDNS',
  'ExternalDNS',
])

function nodeOf(providerID: string): Node {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: 'conformance-absent' }, spec: { providerID } }
}

function withoutNode({ node }: InstancesBench): string | undefined {
  return node === undefined ? 'no node was named whose machine runs' : undefined
}

function given({ node }: InstancesBench): Node {
  if (node === undefined) throw new ConformanceFault('no node was named')
  return node
}

/** Undefined for what could not be said: unknown is not absent. */
async function unlessFails<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call
  } catch {
    return undefined
  }
}
