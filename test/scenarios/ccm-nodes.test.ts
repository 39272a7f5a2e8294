import t from 'tap'
import { CatalogueError } from '../../src/domain/catalogue-error.ts'
import type { Node } from '../../src/domain/node.ts'
import type { ClusterStore } from '../../src/ports/cluster-store.ts'
import { InstanceNotFound, NotImplemented } from '../../src/provider/errors.ts'
import { exampleProviderFactory } from '../../src/providers/example/example-provider.ts'
import type { FakeMachine } from '../../src/providers/fake/fake-machines.ts'
import {
  buildJoiningNode,
  buildMachine,
  buildNode,
  NOT_READY,
  READY,
  SHUTDOWN,
  UNINITIALIZED,
} from '../support/build-nodes.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { createNodeWorld, NODE_WORLD_IDENTITY, type NodeWorld, type NodeWorldOptions } from '../support/node-world.ts'
import { silentLogger } from '../support/silent-logger.ts'

// The cases C-76 to C-113: how nodes are initialised, kept and let go, each through every door that can tell of it.

type Door = 'review' | 'status review' | 'cloud event' | 'nodes' | 'pending-nodes' | 'all'
const EVERY_DOOR: Door[] = ['review', 'status review', 'cloud event', 'nodes', 'pending-nodes', 'all']
/** Nothing tells of a change in the cloud. */
const SWEEPS: Door[] = ['nodes', 'pending-nodes', 'all']
/** Of a node in order, `pending-nodes` says nothing. */
const FULL_SWEEPS: Door[] = ['nodes', 'all']
const SETTLED_DOORS: Door[] = ['review', 'cloud event', 'nodes', 'all']

interface Story {
  world: NodeWorld
  /** Comes to the function through the door, for n1 as it is now. */
  look(): Promise<void>
  n1(): Node | undefined
  /** Writes since the last time. */
  writes(): string[]
}

interface Scenario {
  cases: string
  title: string
  doors: Door[]
  given: Omit<NodeWorldOptions, 'objects'> & { nodes: Node[]; machines?: FakeMachine[] }
  /** The method whose first call fails. */
  failsOnce?: string
  /** What is peculiar about the cloud. */
  arrange?(world: NodeWorld): void
  story(t: Assert, story: Story): Promise<void>
}

type Assert = Pick<typeof t, 'equal' | 'match' | 'not' | 'ok' | 'notOk' | 'strictSame'>

const ANNOTATION = 'alpha.kubernetes.io/provided-node-ip'
const taintsOf = (node: Node | undefined) => (node?.spec?.taints ?? []).map(({ key, effect }) => `${key}:${effect}`)
const T = 'node.cloudprovider.kubernetes.io/uninitialized:NoSchedule'
const SD = 'node.cloudprovider.kubernetes.io/shutdown:NoSchedule'
const N1 = { kind: 'Node', namespace: '', name: 'n1' } as const

const internal = (address: string) => ({ type: 'InternalIP', address })
const notReady = (number: number, overrides: Parameters<typeof buildNode>[1] = {}) =>
  buildNode(number, { ...overrides, status: { conditions: [NOT_READY], ...overrides.status } })

const INITIALISATION: Scenario[] = [
  {
    cases: 'R-NODE-6 R-NODE-8',
    title: 'a node that joins is initialised: one write, then its addresses, then the event',
    doors: EVERY_DOOR,
    given: { nodes: [buildJoiningNode(1)], machines: [buildMachine(1)] },
    async story(t, { look, n1, writes, world }) {
      await look()
      t.match(n1(), {
        metadata: {
          labels: {
            'node.kubernetes.io/instance-type': 'fake.small',
            'beta.kubernetes.io/instance-type': 'fake.small',
            'topology.kubernetes.io/zone': 'zone-a',
            'failure-domain.beta.kubernetes.io/zone': 'zone-a',
            'topology.kubernetes.io/region': 'region-1',
            'failure-domain.beta.kubernetes.io/region': 'region-1',
          },
        },
        spec: { providerID: 'fake://i-1', podCIDRs: ['10.244.1.0/24'] },
        status: { addresses: buildMachine(1).addresses, conditions: [READY] },
      })
      t.strictSame(taintsOf(n1()), [])
      t.strictSame(nodeWrites(writes()).slice(0, 2), ['patch Node n1', 'patch Node/status n1'])
      t.ok(world.events().includes('Normal Synced: Node synced successfully'))
      await look()
      t.strictSame(nodeWrites(writes()), [], 'quiet afterwards')
    },
  },
  {
    cases: 'R-NODE-6',
    title: 'what the cloud says replaces a label, and what it does not say makes none',
    doors: EVERY_DOOR,
    given: {
      nodes: [buildJoiningNode(1, { metadata: { labels: { 'node.kubernetes.io/instance-type': 'by-hand' } } })],
      machines: [buildMachine(1, { zone: '', region: '' })],
    },
    async story(t, { look, n1 }) {
      await look()
      t.strictSame(n1()?.metadata.labels, {
        'node.kubernetes.io/instance-type': 'fake.small',
        'beta.kubernetes.io/instance-type': 'fake.small',
      })
    },
  },
  {
    cases: 'R-NODE-3',
    title: 'a providerID that is set stays, whatever the cloud says: the API server takes no other',
    doors: EVERY_DOOR,
    given: { nodes: [buildJoiningNode(1, { spec: { providerID: 'fake://i-1' } })], machines: [buildMachine(1)] },
    arrange: withAnotherId,
    async story(t, { look, n1 }) {
      await look()
      t.equal(n1()?.spec?.providerID, 'fake://i-1')
      t.strictSame(taintsOf(n1()), [])
    },
  },
  {
    cases: 'C-76',
    title: 'without a providerID the taint stays; once it has one, id and taint are one write',
    doors: EVERY_DOOR,
    given: { nodes: [buildJoiningNode(1)], machines: [buildMachine(1)] },
    arrange: withoutIdAtFirst,
    async story(t, { look, n1, writes, world }) {
      await look()
      t.strictSame(taintsOf(n1()), [T])
      t.match(complaints(world).join(), /cloud provider does not set node provider ID for node n1/)
      t.strictSame(nodeWrites(writes()), [])
      await world.clock.advance(5_000)
      t.equal(n1()?.spec?.providerID, 'fake://i-1')
      t.strictSame(taintsOf(n1()), [])
      t.equal(nodeWrites(writes()).filter((write) => write === 'patch Node n1').length, 1)
    },
  },
  {
    cases: 'C-77',
    title: 'a cloud that fails keeps the taint, and is asked again',
    doors: EVERY_DOOR,
    given: { nodes: [buildJoiningNode(1)], machines: [buildMachine(1)] },
    failsOnce: 'instanceMetadata',
    async story(t, { look, n1, writes, world }) {
      await look()
      t.strictSame(nodeWrites(writes()), [])
      t.strictSame(taintsOf(n1()), [T])
      t.notOk(world.events().some((event) => event.includes('Synced')))
      await world.clock.advance(5_000)
      t.strictSame(taintsOf(n1()), [])
    },
  },
  {
    cases: 'C-78 C-79',
    title: 'a node without a providerID is looked for by its name: not deleted, and initialised',
    doors: EVERY_DOOR,
    given: { nodes: [buildJoiningNode(1, { status: { conditions: [NOT_READY] } })], machines: [buildMachine(1)] },
    async story(t, { look, n1, world }) {
      await look()
      await world.clock.advance(5_000)
      t.equal(n1()?.spec?.providerID, 'fake://i-1')
      t.strictSame(taintsOf(n1()), [])
      t.ok(world.calls().includes('instanceExists n1'))
    },
  },
  {
    cases: 'C-81',
    title: 'only our taint goes',
    doors: EVERY_DOOR,
    given: {
      nodes: [
        buildJoiningNode(1, {
          spec: {
            taints: [
              UNINITIALIZED,
              { key: 'node.cluster.x-k8s.io/uninitialized', effect: 'NoSchedule' },
              { key: 'dedicated', value: 'x', effect: 'NoExecute' },
            ],
          },
        }),
      ],
      machines: [buildMachine(1)],
    },
    async story(t, { look, n1 }) {
      await look()
      t.strictSame(taintsOf(n1()), ['node.cluster.x-k8s.io/uninitialized:NoSchedule', 'dedicated:NoExecute'])
    },
  },
  {
    cases: 'C-82',
    title: 'the taint is known by its key, whatever its value and effect, and goes as often as it is there',
    doors: EVERY_DOOR,
    given: {
      nodes: [
        buildJoiningNode(1, {
          spec: { taints: [{ ...UNINITIALIZED, value: '', effect: 'NoExecute' }, UNINITIALIZED] },
        }),
      ],
      machines: [buildMachine(1)],
    },
    async story(t, { look, n1 }) {
      await look()
      t.strictSame(taintsOf(n1()), [])
    },
  },
  {
    cases: 'C-83',
    title: 'a provided address that the cloud does not know keeps the taint, and nothing is written',
    doors: EVERY_DOOR,
    given: {
      nodes: [buildJoiningNode(1, { metadata: { annotations: { [ANNOTATION]: '10.9.9.9' } } })],
      machines: [buildMachine(1)],
    },
    async story(t, { look, n1, writes, world }) {
      await look()
      t.strictSame(nodeWrites(writes()), [])
      t.strictSame(taintsOf(n1()), [T])
      t.match(complaints(world).join(), /failed to get node address from cloud provider that matches ip: 10\.9\.9\.9/)
    },
  },
  {
    cases: 'C-84',
    title: 'a provided address hides others of its own type only',
    doors: EVERY_DOOR,
    given: {
      nodes: [buildJoiningNode(1, { metadata: { annotations: { [ANNOTATION]: '10.0.0.1' } } })],
      machines: [
        buildMachine(1, {
          addresses: [
            { type: 'InternalIP', address: '10.0.0.7' },
            { type: 'InternalIP', address: '10.0.0.1' },
            { type: 'ExternalIP', address: '203.0.113.5' },
            { type: 'Hostname', address: 'n1' },
          ],
        }),
      ],
    },
    async story(t, { look, n1 }) {
      await look()
      t.strictSame(n1()?.status?.addresses, [
        { type: 'InternalIP', address: '10.0.0.1' },
        { type: 'ExternalIP', address: '203.0.113.5' },
        { type: 'Hostname', address: 'n1' },
      ])
    },
  },
  {
    cases: 'C-86',
    title: '(a) nothing known of a node that joins: it is left, and not asked for again at once',
    doors: EVERY_DOOR,
    given: { nodes: [buildJoiningNode(1)] },
    arrange: knowingNothing,
    async story(t, { look, n1, writes, world }) {
      await look()
      await world.clock.advance(60_000)
      t.strictSame(taintsOf(n1()), [T])
      t.strictSame(nodeWrites(writes()), [])
      t.strictSame(complaints(world), [])
    },
  },
  {
    cases: 'C-86',
    title: '(b) nothing known of a node that was initialised: it is left, and nothing crashes',
    doors: FULL_SWEEPS,
    given: { nodes: [buildNode(1)] },
    arrange: knowingNothing,
    async story(t, { look, writes, world }) {
      await look()
      t.strictSame(nodeWrites(writes()), [])
      t.strictSame(complaints(world), [])
    },
  },
  {
    cases: 'C-87',
    title: 'additional labels: not those of Kubernetes, and none that is set already',
    doors: EVERY_DOOR,
    given: {
      nodes: [buildJoiningNode(1, { metadata: { labels: { 'example.dev/a': 'old' } } })],
      machines: [
        buildMachine(1, {
          labels: {
            'node.kubernetes.io/x': '1',
            'k8s.io/y': '1',
            'foo.k8s.io/z': '1',
            'myk8s.io/ok': '1',
            'example.dev/a': 'new',
          },
        }),
      ],
    },
    async story(t, { look, n1 }) {
      await look()
      const labels = n1()?.metadata.labels ?? {}
      t.strictSame(
        ['node.kubernetes.io/x', 'k8s.io/y', 'foo.k8s.io/z'].filter((key) => key in labels),
        [],
      )
      t.match(labels, { 'myk8s.io/ok': '1', 'example.dev/a': 'old' })
    },
  },
  {
    cases: 'C-96',
    title: 'who taints the node meanwhile keeps the taint; ours goes',
    doors: EVERY_DOOR,
    given: { nodes: [buildJoiningNode(1)], machines: [buildMachine(1)] },
    async story(t, { look, n1, world }) {
      let isFirst = true
      const { instancesV2 } = world.cloud.machines
      const ask = instancesV2.instanceMetadata
      instancesV2.instanceMetadata = async (node, context) => {
        if (isFirst) {
          isFirst = false
          const taints = [UNINITIALIZED, { key: 'maint', effect: 'NoSchedule' }]
          await world.edit(N1, { spec: { taints } })
        }
        return ask(node, context)
      }
      await look()
      await world.clock.advance(1_000)
      t.strictSame(taintsOf(n1()), ['maint:NoSchedule'])
      t.equal(n1()?.spec?.providerID, 'fake://i-1')
    },
  },
  {
    cases: 'C-97',
    title: 'a process that died after the first write: the next pass sets the addresses, though the taint is gone',
    doors: SETTLED_DOORS,
    given: {
      nodes: [buildNode(1, { status: { addresses: [{ type: 'Hostname', address: 'n1' }] } })],
      machines: [buildMachine(1)],
    },
    async story(t, { look, n1 }) {
      await look()
      t.strictSame(n1()?.status?.addresses, buildMachine(1).addresses)
    },
  },
  {
    cases: 'C-98',
    title: 'a cloud that shows a new machine late: the node is kept, and initialised when it does',
    doors: EVERY_DOOR,
    given: {
      nodes: [
        buildJoiningNode(1, {
          metadata: { creationTimestamp: '2026-03-01T08:00:00Z' },
          status: { conditions: [NOT_READY] },
        }),
      ],
      machines: [buildMachine(1, { visibleAt: Date.parse('2026-03-01T08:00:20Z') })],
    },
    async story(t, { look, n1, world }) {
      await look()
      await world.clock.advance(19_000)
      t.strictSame(taintsOf(n1()), [T])
      await world.clock.advance(60_000)
      t.strictSame(taintsOf(n1()), [])
      t.equal(n1()?.spec?.providerID, 'fake://i-1')
    },
  },
]

const KEEPING: Scenario[] = [
  {
    cases: 'C-88',
    title: 'the newer labels follow the older ones where those are set',
    doors: SETTLED_DOORS,
    given: {
      nodes: [
        buildNode(1, {
          metadata: {
            labels: {
              'failure-domain.beta.kubernetes.io/zone': 'a',
              'topology.kubernetes.io/zone': 'b',
              'failure-domain.beta.kubernetes.io/region': 'r',
              'node.kubernetes.io/instance-type': 'big',
            },
          },
        }),
      ],
      machines: [buildMachine(1)],
    },
    async story(t, { look, n1, writes }) {
      await look()
      t.strictSame(n1()?.metadata.labels, {
        'failure-domain.beta.kubernetes.io/zone': 'a',
        'topology.kubernetes.io/zone': 'a',
        'failure-domain.beta.kubernetes.io/region': 'r',
        'topology.kubernetes.io/region': 'r',
        'node.kubernetes.io/instance-type': 'big',
      })
      t.strictSame(nodeWrites(writes()), ['patch Node n1'])
    },
  },
  ...[false, true].map(
    (refreshes): Scenario => ({
      cases: 'C-89',
      title: `a machine that was resized and moved: labels ${refreshes ? 'follow where that is asked for' : 'stay'}`,
      doors: FULL_SWEEPS,
      given: {
        nodes: [buildNode(1, { metadata: { labels: labelsOf('small', 'z1') } })],
        machines: [buildMachine(1, { type: 'big', zone: 'z2' })],
        cloud: `nodes: { refreshLabels: ${refreshes} }`,
      },
      async story(t, { look, n1, writes }) {
        await look()
        t.strictSame(n1()?.metadata.labels, refreshes ? labelsOf('big', 'z2') : labelsOf('small', 'z1'))
        writes()
        await look()
        t.strictSame(nodeWrites(writes()), [])
      },
    }),
  ),
  {
    cases: 'C-91',
    title: 'the list of addresses is replaced, in the order of the cloud',
    doors: SETTLED_DOORS,
    given: {
      nodes: [
        buildNode(1, {
          status: { addresses: [internal('10.0.0.11'), internal('10.0.0.12'), { type: 'Hostname', address: 'n1' }] },
        }),
      ],
      machines: [buildMachine(1, { addresses: [internal('10.0.0.12'), { type: 'Hostname', address: 'n1' }] })],
    },
    async story(t, { look, n1 }) {
      await look()
      t.strictSame(n1()?.status?.addresses, [internal('10.0.0.12'), { type: 'Hostname', address: 'n1' }])
    },
  },
  {
    cases: 'C-92',
    title: 'a cloud without addresses clears nothing',
    doors: SETTLED_DOORS,
    given: { nodes: [buildNode(1)], machines: [buildMachine(1, { addresses: [] })] },
    async story(t, { look, writes }) {
      await look()
      t.strictSame(nodeWrites(writes()), [])
    },
  },
  {
    cases: 'C-93',
    title: "the kubelet's host name is kept while the cloud gives none; then the cloud's wins",
    doors: FULL_SWEEPS,
    given: { nodes: [buildNode(1)], machines: [buildMachine(1, { addresses: [internal('10.0.0.9')] })] },
    async story(t, { look, n1, world }) {
      await look()
      t.strictSame(n1()?.status?.addresses, [internal('10.0.0.9'), { type: 'Hostname', address: 'n1' }])
      const hostname = { type: 'Hostname', address: 'n1.cloud.example' }
      world.cloud.machines.put(buildMachine(1, { addresses: [internal('10.0.0.9'), hostname] }))
      await look()
      t.strictSame(n1()?.status?.addresses, [internal('10.0.0.9'), hostname])
    },
  },
  {
    cases: 'C-94',
    title: 'an address that changes in the cloud alone is published by the next sweep',
    doors: FULL_SWEEPS,
    given: { nodes: [buildNode(1)], machines: [buildMachine(1)] },
    async story(t, { look, n1, world }) {
      world.cloud.machines.put(buildMachine(1, { addresses: [internal('10.0.0.99')] }))
      await look()
      t.strictSame(n1()?.status?.addresses, [internal('10.0.0.99'), { type: 'Hostname', address: 'n1' }])
    },
  },
  {
    cases: 'R-NODE-12',
    title: 'a node of another cloud is left alone where that is asked for, shutdown and life too',
    doors: FULL_SWEEPS,
    given: {
      nodes: [buildNode(1, { spec: { providerID: 'other://1' }, status: { conditions: [NOT_READY] } })],
      cloud: 'nodes: { onlyOurs: true }',
    },
    async story(t, { look, writes, world }) {
      await look()
      t.strictSame(nodeWrites(writes()), [])
      t.notOk(world.calls().some((call) => call.startsWith('instanceExists')))
    },
  },
]

const LIFE: Scenario[] = [
  {
    cases: 'C-99',
    title: 'a machine that is stopped: tainted once, kept, and quiet; Ready again: the taint goes',
    doors: EVERY_DOOR,
    given: { nodes: [notReady(1)], machines: [buildMachine(1, { state: 'stopped' })] },
    async story(t, { look, n1, writes, world }) {
      await look()
      t.strictSame(taintsOf(n1()), [SD])
      t.strictSame(n1()?.spec?.taints, [SHUTDOWN])
      writes()
      await look()
      t.strictSame(nodeWrites(writes()), [])
      await world.edit(N1, { status: { conditions: [READY] } }, 'status')
      await look()
      t.strictSame(taintsOf(n1()), [], 'R-LIFE-2')
    },
  },
  {
    cases: 'R-LIFE-2',
    title: 'the shutdown taint is ours by key and effect; the same key with another effect stays',
    doors: FULL_SWEEPS,
    given: {
      nodes: [buildNode(1, { spec: { taints: [SHUTDOWN, { ...SHUTDOWN, effect: 'NoExecute' }] } })],
      machines: [buildMachine(1)],
    },
    async story(t, { look, n1 }) {
      await look()
      t.strictSame(taintsOf(n1()), ['node.cloudprovider.kubernetes.io/shutdown:NoExecute'])
    },
  },
  {
    cases: 'C-101',
    title: 'a Ready node is never deleted, and the cloud not asked whether it exists',
    doors: EVERY_DOOR,
    given: { nodes: [buildNode(1)] },
    async story(t, { look, n1, writes, world }) {
      await look()
      t.ok(n1())
      t.strictSame(nodeWrites(writes()), [])
      t.notOk(world.calls().some((call) => call.startsWith('instanceExists')))
    },
  },
  {
    cases: 'C-102',
    title: 'a cloud that cannot be asked is not a cloud without the machine',
    doors: EVERY_DOOR,
    given: { nodes: [notReady(1)], machines: [buildMachine(1)] },
    failsOnce: 'instanceExists',
    async story(t, { look, n1, writes, world }) {
      await look()
      t.ok(n1())
      t.strictSame(nodeWrites(writes()), [])
      t.match(complaints(world).join(), /is down/)
      await world.clock.advance(5_000)
      t.equal(world.calls().filter((call) => call === 'instanceExists n1').length, 2, 'asked again')
    },
  },
  {
    cases: 'C-103 C-112',
    title: 'InstanceNotFound of the newer interface is "gone"; the event names the node completely',
    doors: EVERY_DOOR,
    given: { nodes: [notReady(1, { spec: { providerID: '' } })] },
    arrange: ({ cloud }) => {
      cloud.machines.instancesV2.instanceExists = async () => {
        throw new InstanceNotFound()
      }
    },
    async story(t, { look, n1, world }) {
      await look()
      t.equal(n1(), undefined)
      t.match(deletingEvent(world), {
        type: 'Normal',
        message: 'Deleting node n1 because it does not exist in the cloud provider',
        involvedObject: { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'NU1' },
        source: { component: 'cloud-node-lifecycle-controller' },
      })
    },
  },
  {
    cases: 'C-104',
    title: 'gone between the two questions: existence is asked once more, and no taint is written',
    doors: EVERY_DOOR,
    given: {
      nodes: [notReady(1)],
      machines: [buildMachine(1)],
    },
    arrange({ cloud: { machines } }) {
      const ask = machines.instancesV2.instanceShutdown
      machines.instancesV2.instanceShutdown = (node, context) => {
        machines.remove('i-1')
        return ask(node, context)
      }
    },
    async story(t, { look, n1, writes }) {
      await look()
      t.equal(n1(), undefined)
      t.strictSame(
        nodeWrites(writes()).filter((write) => write.endsWith('n1')),
        ['delete Node n1'],
      )
    },
  },
  {
    cases: 'C-106',
    title: 'a new node that the cloud does not show is kept for a minute',
    doors: EVERY_DOOR,
    given: { nodes: [notReady(1, { metadata: { creationTimestamp: '2026-03-01T07:59:50Z' } })] },
    async story(t, { look, n1, world }) {
      await look()
      t.ok(n1())
      await world.clock.advance(49_000)
      t.ok(n1())
      await world.clock.advance(2_000)
      t.equal(n1(), undefined)
    },
  },
  {
    cases: 'C-107',
    title: 'a node that was registered anew under its name is another one, and survives',
    doors: EVERY_DOOR,
    given: { nodes: [notReady(1)] },
    arrange(world) {
      world.cloud.machines.instancesV2.instanceExists = async (node) => {
        if (node.metadata.uid !== 'NU1') return true
        await world.remove(N1)
        await world.create(buildNode(1))
        return false
      }
    },
    async story(t, { look, n1, world }) {
      await look()
      await world.clock.advance(10_000)
      t.not(n1(), undefined)
      t.not(n1()?.metadata.uid, 'NU1')
      const deletion = world.writes.find(({ what }) => what === 'delete Node n1')
      t.equal(deletion?.preconditions?.uid, 'NU1')
    },
  },
  {
    cases: 'C-109',
    title: "a providerID of another cloud is the provider's error: no deletion, no taint",
    doors: EVERY_DOOR,
    given: { nodes: [notReady(1, { spec: { providerID: 'other://10.0.0.1' } })] },
    async story(t, { look, n1, writes }) {
      await look()
      t.ok(n1())
      t.strictSame(nodeWrites(writes()), [])
    },
  },
  {
    cases: 'C-111',
    title: 'a node that never said how it is counts as not Ready',
    doors: ['review', 'cloud event', ...SWEEPS],
    given: { nodes: [buildNode(1, { status: { conditions: [] } })] },
    async story(t, { look, n1 }) {
      await look()
      t.equal(n1(), undefined)
    },
  },
  {
    cases: 'C-112',
    title: 'a deletion that the API server refuses is told, and tried again',
    doors: EVERY_DOOR,
    given: { nodes: [notReady(1)], wrapStore: refusingOneDeletion },
    async story(t, { look, n1, world }) {
      await look()
      t.ok(n1())
      t.ok(world.events().some((event) => /Warning DeletingNodeFailed: Failed deleting node n1: .*refused/.test(event)))
      await world.clock.advance(5_000)
      t.equal(n1(), undefined)
    },
  },
  ...(['pending', 'stopping', 'stopped', 'suspended', 'terminated'] as const).map(
    (state): Scenario => ({
      cases: 'C-113',
      title: `only termination is the end: ${state}`,
      doors: ['pending-nodes'],
      given: { nodes: [notReady(1)], machines: [buildMachine(1, { state })] },
      async story(t, { look, n1 }) {
        await look()
        t.equal(n1() === undefined, state === 'terminated')
      },
    }),
  ),
]

const OLDER_FORM: Scenario[] = [
  {
    cases: 'R-NODE-4 R-IF-2',
    title: 'in the form of 2019: by providerID, by name, zones beside',
    doors: EVERY_DOOR,
    given: { form: '2019', nodes: [buildJoiningNode(1)], machines: [buildMachine(1)] },
    async story(t, { look, n1, world }) {
      await look()
      t.match(n1(), {
        metadata: { labels: { 'topology.kubernetes.io/zone': 'zone-a' } },
        spec: { providerID: 'fake://i-1' },
        status: { addresses: buildMachine(1).addresses },
      })
      t.strictSame(taintsOf(n1()), [])
      t.ok(world.calls().includes('instanceID n1'))
    },
  },
  {
    cases: 'R-IF-6',
    title: 'of a cloud in both forms only the newer one is asked',
    doors: EVERY_DOOR,
    given: {
      nodes: [buildJoiningNode(1)],
      machines: [buildMachine(1)],
      cloudProvider: (fake) => ({ ...fake, instances: neverAsked, zones: neverAsked }),
    },
    async story(t, { look, n1 }) {
      await look()
      t.match(n1(), {
        metadata: { labels: { 'topology.kubernetes.io/zone': 'zone-a' } },
        spec: { providerID: 'fake://i-1' },
      })
      t.strictSame(taintsOf(n1()), [])
    },
  },
  {
    cases: 'R-NODE-3',
    title: 'in the form of 2019 a cloud without ids is tolerated, and asked by name',
    doors: ['pending-nodes'],
    given: {
      form: '2019',
      nodes: [buildJoiningNode(1)],
      machines: [buildMachine(1)],
      failure: ({ method }) => (method === 'instanceID' ? { when: 'before', error: new NotImplemented() } : undefined),
    },
    async story(t, { look, n1 }) {
      await look()
      t.equal(n1()?.spec?.providerID, undefined)
      t.strictSame(taintsOf(n1()), [])
      t.strictSame(n1()?.status?.addresses, buildMachine(1).addresses)
    },
  },
  {
    cases: 'R-IF-3',
    title: 'in the form of 2019: no instance of that name is "gone", no shutdown question is "running"',
    doors: ['pending-nodes'],
    given: {
      form: '2019',
      nodes: [notReady(1, { spec: { providerID: '' } }), notReady(2)],
      machines: [buildMachine(2, { state: 'stopped' })],
      failure: ({ method }) =>
        method === 'instanceShutdownByProviderID' ? { when: 'before', error: new NotImplemented() } : undefined,
    },
    async story(t, { look, n1, world }) {
      await look()
      t.equal(n1(), undefined)
      t.strictSame(taintsOf(world.node('n2')), [])
    },
  },
]

for (const scenario of [...INITIALISATION, ...KEEPING, ...LIFE, ...OLDER_FORM]) {
  t.test(`${scenario.cases} ${scenario.title}`, async (t) => {
    for (const door of scenario.doors) {
      await t.test(`through ${door}`, async (t) => scenario.story(t, tell(scenario, door)))
    }
  })
}

function tell({ given: { nodes, machines = [], ...options }, failsOnce, arrange }: Scenario, door: Door): Story {
  const world: NodeWorld = createNodeWorld({
    ...(failsOnce !== undefined && { failure: failing(failsOnce) }),
    ...options,
    // Routes are another story.
    cloud: `configureCloudRoutes: false, ${options.cloud ?? ''}`,
    objects: structuredClone(nodes),
  })
  for (const machine of machines) world.cloud.machines.put(structuredClone(machine))
  arrange?.(world)
  let seen = 0
  return {
    world,
    look: () => look(world, door),
    n1: () => world.node('n1'),
    writes() {
      const since = world.writes.slice(seen).map(({ what }) => what)
      seen = world.writes.length
      return since
    },
  }
}

async function look(world: NodeWorld, door: Door): Promise<void> {
  const node = world.node('n1')
  if (node === undefined) return
  const before: Node = {
    ...node,
    metadata: { ...node.metadata, resourceVersion: '1' },
    status: { ...node.status, conditions: [], addresses: [] },
  }
  switch (door) {
    case 'review':
      await world.review('CREATE', { object: node })
      break
    case 'status review':
      await world.review('UPDATE', {
        subResource: 'status',
        object: node,
        oldObject: before,
      })
      break
    case 'cloud event':
      await world.cloudEvent('update', node)
      break
    default:
      await world.sweep(door)
  }
  await world.clock.advance(300)
}

function nodeWrites(writes: readonly string[]): string[] {
  return writes.filter((write) => write.includes(' Node'))
}

function failing(method: string): NonNullable<NodeWorldOptions['failure']> {
  let isFirst = true
  return (call) => {
    if (call.method !== method || !isFirst) return undefined
    isFirst = false
    return { when: 'before', error: new Error('the cloud is down') }
  }
}

/** A capability of which every method fails. */
function neverAsked(): never {
  const refuse = () => Promise.reject(new Error('the older form is never asked'))
  return new Proxy({}, { get: () => refuse }) as never
}

function withAnotherId({ cloud }: NodeWorld): void {
  const { instancesV2 } = cloud.machines
  const ask = instancesV2.instanceMetadata
  instancesV2.instanceMetadata = async (node, context) => {
    const metadata = await ask(node, context)
    return metadata && { ...metadata, providerID: 'fake://i-9' }
  }
}

function withoutIdAtFirst({ cloud: { machines } }: NodeWorld): void {
  const ask = machines.instancesV2.instanceMetadata
  let isFirst = true
  machines.instancesV2.instanceMetadata = async (node, context) => {
    const metadata = await ask(node, context)
    if (metadata === undefined || !isFirst) return metadata
    isFirst = false
    return { ...metadata, providerID: '' }
  }
}

/** Go's nil. */
function knowingNothing({ cloud: { machines } }: NodeWorld): void {
  machines.instancesV2.instanceMetadata = async () => null as never
}

function refusingOneDeletion(store: ClusterStore): ClusterStore {
  let isFirst = true
  return {
    ...store,
    async delete(key, options) {
      if (isFirst) {
        isFirst = false
        throw new CatalogueError('ApiForbidden', 'refused', { object: key })
      }
      return store.delete(key, options)
    },
  }
}

/** What went wrong, in the words of the log. */
function complaints({ logs }: NodeWorld): string[] {
  return logs
    .filter(({ level, message }) => (level === 'warn' || level === 'error') && message !== 'controller not started')
    .map(({ fields }) => JSON.stringify(fields))
}

function deletingEvent({ core }: NodeWorld) {
  const { items } = core.list({ group: '', version: 'v1', plural: 'events' })
  return items.find((event) => event['reason'] === 'DeletingNode')
}

function labelsOf(type: string, zone: string): Record<string, string> {
  return {
    'node.kubernetes.io/instance-type': type,
    'beta.kubernetes.io/instance-type': type,
    'topology.kubernetes.io/zone': zone,
    'failure-domain.beta.kubernetes.io/zone': zone,
    'topology.kubernetes.io/region': 'region-1',
    'failure-domain.beta.kubernetes.io/region': 'region-1',
  }
}

t.test('R-NODE-13 R-RT-11 what is measured has the names that dashboards know', async (t) => {
  const world = createNodeWorld({
    objects: [buildJoiningNode(1, { metadata: { creationTimestamp: '2026-03-01T07:59:50Z' } })],
  })
  world.cloud.machines.put(buildMachine(1))
  await world.sweep('nodes')
  await world.sweep('routes')
  const { body } = await world.runtime.app.inject({ method: 'GET', url: '/metrics' })
  t.match(body, /^node_controller_cloud_provider_taint_removal_delay_seconds_sum 10$/m)
  t.match(body, /^node_controller_initial_node_sync_delay_seconds_count 1$/m)
  t.match(body, /^route_controller_route_sync_total 1$/m)
})

t.test('a dry run and our own writes mean no work', async (t) => {
  const world = createNodeWorld({ objects: [buildJoiningNode(1)] })
  world.cloud.machines.put(buildMachine(1))
  const node = world.node('n1')
  await world.review('CREATE', { object: node, dryRun: true })
  await world.clock.advance(60_000)
  t.strictSame(world.calls(), [])
  const before = node && { ...node, metadata: { ...node.metadata, resourceVersion: '1', labels: { a: 'b' } } }
  await world.review('UPDATE', { object: node, oldObject: before, username: NODE_WORLD_IDENTITY })
  await world.clock.advance(60_000)
  t.strictSame(world.calls(), [])
})

t.test('two who look after one node at once: one works, the other is done', async (t) => {
  const world = createNodeWorld({ objects: [buildJoiningNode(1)], cloud: 'configureCloudRoutes: false' })
  world.cloud.machines.put(buildMachine(1))
  await Promise.all([
    world.sweep('nodes'),
    world.sweep('pending-nodes'),
    world.review('CREATE', { object: world.node('n1') }),
  ])
  await world.clock.advance(1_000)
  const stored = world.writes.filter(({ what }) => what === 'patch Node n1')
  t.equal(stored.length, 1)
  t.strictSame(taintsOf(world.node('n1')), [])
})

t.test('the oldest form of the interface, without InstancesV2, runs as it is; what it lacks does not', async (t) => {
  const { cloudProvider } = exampleProviderFactory({
    options: {},
    fault: () => t.fail('no fault'),
    logger: silentLogger,
    clock: createManualClock(),
  })
  const world = createNodeWorld({
    objects: [buildJoiningNode(1), buildNode(2, { status: { conditions: [NOT_READY] } })],
    cloud: 'allowUntaggedCloud: true',
    cloudProvider: (fake) => cloudProvider ?? fake,
  })
  t.strictSame(await world.sweep('all'), {
    scope: 'all',
    listed: 0,
    outcomes: { settled: 0, gone: 0, ignored: 0, later: 0, failed: 0 },
    orphans: { found: 0, removed: 0 },
  })
  await world.review('CREATE', { object: world.node('n1') })
  await world.clock.advance(60_000)
  t.strictSame(world.writes, [])
  t.ok(world.node('n2'))
})
