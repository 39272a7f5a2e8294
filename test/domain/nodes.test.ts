import t from 'tap'
import { lookupsForChange } from '../../src/domain/changes/keys-for-change.ts'
import type { Node, NodeAddress } from '../../src/domain/node.ts'
import { parseClusterCidrs } from '../../src/domain/nodes/cluster-cidrs.ts'
import { sameAddresses, sameAddressSet, wantedAddresses } from '../../src/domain/nodes/node-addresses.ts'
import { canonicalCidr, planRoutes } from '../../src/domain/nodes/plan-routes.ts'
import type { Route } from '../../src/domain/nodes/route.ts'
import { isUnsettledNode } from '../../src/domain/nodes/unsettled-node.ts'
import { buildNode, NOT_READY, READY, SHUTDOWN, UNINITIALIZED } from '../support/build-nodes.ts'

const internal = (address: string): NodeAddress => ({ type: 'InternalIP', address })
const external = (address: string): NodeAddress => ({ type: 'ExternalIP', address })
const hostname = (address: string): NodeAddress => ({ type: 'Hostname', address })
const ANNOTATION = 'alpha.kubernetes.io/provided-node-ip'

t.test('R-NODE-5 addresses that a node asks for come first and hide others of their type', async (t) => {
  const v4 = [internal('10.0.0.7'), internal('10.0.0.1'), external('203.0.113.5'), hostname('n1')]
  const dual = [...v4, internal('2001:db8::1'), external('2001:db8::5')]
  const rows: { asked: string; cloud: NodeAddress[]; wanted: NodeAddress[] | RegExp }[] = [
    { asked: '10.0.0.1', cloud: v4, wanted: [internal('10.0.0.1'), external('203.0.113.5'), hostname('n1')] },
    {
      asked: '203.0.113.5',
      cloud: v4,
      wanted: [external('203.0.113.5'), internal('10.0.0.7'), internal('10.0.0.1'), hostname('n1')],
    },
    { asked: '010.000.000.001', cloud: v4, wanted: [internal('10.0.0.1'), external('203.0.113.5'), hostname('n1')] },
    { asked: '::ffff:10.0.0.1', cloud: v4, wanted: [internal('10.0.0.1'), external('203.0.113.5'), hostname('n1')] },
    {
      asked: '10.0.0.1',
      cloud: [internal('10.0.0.1'), external('10.0.0.1'), external('203.0.113.5')],
      wanted: [internal('10.0.0.1'), external('10.0.0.1'), hostname('n1')],
    },
    {
      asked: '10.0.0.1,2001:db8::1',
      cloud: dual,
      wanted: [
        internal('10.0.0.1'),
        internal('2001:db8::1'),
        external('203.0.113.5'),
        hostname('n1'),
        external('2001:db8::5'),
      ],
    },
    {
      asked: '2001:0db8:0::1, 10.0.0.1',
      cloud: dual,
      wanted: [
        internal('2001:db8::1'),
        internal('10.0.0.1'),
        external('203.0.113.5'),
        hostname('n1'),
        external('2001:db8::5'),
      ],
    },
    { asked: '10.9.9.9', cloud: v4, wanted: /matches ip: 10\.9\.9\.9$/ },
    { asked: '10.0.0.1,2001:db8::9', cloud: dual, wanted: /matches ip: 2001:db8::9$/ },
    { asked: '10.0.0.1,10.0.0.7', cloud: v4, wanted: /failed to parse node IP/ },
    { asked: '10.0.0.1,2001:db8::1,10.0.0.7', cloud: dual, wanted: /failed to parse node IP/ },
    { asked: 'n1', cloud: v4, wanted: /failed to parse node IP/ },
    { asked: '', cloud: v4, wanted: /failed to parse node IP/ },
    { asked: '10.0.0.1', cloud: [], wanted: /matches ip: 10\.0\.0\.1$/ },
  ]
  for (const { asked, cloud, wanted } of rows) {
    const node = buildNode(1, {
      metadata: { annotations: { [ANNOTATION]: asked } },
      status: { addresses: [hostname('n1')] },
    })
    const found = wantedAddresses(node, cloud)
    if (wanted instanceof RegExp) t.match('fault' in found ? found.fault : '', wanted, `"${asked}"`)
    else t.strictSame(found, { addresses: wanted }, `"${asked}"`)
  }
})

t.test('addresses are compared in order for writing, as a set for routes', async (t) => {
  const [a, b] = [internal('10.0.0.1'), internal('10.0.0.2')]
  t.equal(sameAddresses([a, b], [b, a]), false)
  t.equal(sameAddresses(undefined, []), true)
  t.equal(sameAddressSet([a, b], [b, a]), true)
  t.equal(sameAddressSet([a], [a, b]), false)
})

t.test('the networks of the pods, and whose a route is to judge', async (t) => {
  const parsed = parseClusterCidrs('10.244.0.0/16, 2001:db8::/48')
  const cidrs = 'cidrs' in parsed ? parsed.cidrs : []
  t.equal(cidrs.length, 2)
  const route = (destinationCIDR: string, overrides: Partial<Route> = {}): Route => ({
    destinationCIDR,
    targetNode: 'gone',
    ...overrides,
  })
  const goes = (given: Route) => planRoutes([buildNode(1)], [given], cidrs).surplus.length === 1
  for (const within of ['10.244.9.0/24', '10.244.0.0/16', '10.244.0.0/15', '2001:db8:0:9::/64', '2001:db8::/32'])
    t.ok(goes(route(within)), within)
  for (const outside of ['10.245.0.0/24', '10.240.0.0/12', '0.0.0.0/0', '2001:db9::/64', 'nonsense', ''])
    t.notOk(goes(route(outside)), outside)
  t.ok(goes(route('10.244.1.0/24', { targetNode: '' })), 'of no node')
  t.ok(goes(route('10.244.1.0/24', { targetNode: 'n1', blackhole: true })), 'to nowhere')
  t.notOk(goes(route('10.244.1.0/24', { targetNode: 'n1' })), 'needed')
  t.equal(canonicalCidr('2001:0db8:0::/64'), canonicalCidr('2001:db8::/64'))
  t.not(canonicalCidr('10.0.0.0/8'), canonicalCidr('10.0.0.0/9'))
})

t.test('what a change of a node concerns: itself, all routes, all backends', async (t) => {
  const before = buildNode(1)
  const changes: { what: string; after: Node; keys: string[]; byUs?: string[] }[] = [
    { what: 'nothing', after: before, keys: [] },
    {
      what: 'a heartbeat',
      after: changed({ status: { conditions: [{ ...READY, lastHeartbeatTime: 'later' }] } }),
      keys: [],
    },
    { what: 'readiness', after: changed({ status: { conditions: [NOT_READY] } }), keys: ['n1'] },
    { what: 'a label', after: changed({ metadata: { labels: { a: 'b' } } }), keys: ['n1', '_backends'], byUs: [] },
    {
      what: 'an annotation',
      after: changed({ metadata: { annotations: { [ANNOTATION]: '10.0.0.1' } } }),
      keys: ['n1'],
    },
    { what: 'a taint', after: changed({ spec: { taints: [SHUTDOWN] } }), keys: ['n1'] },
    { what: 'deletion', after: changed({ metadata: { deletionTimestamp: '2026-03-01T08:00:00Z' } }), keys: ['n1'] },
    { what: 'a network', after: changed({ spec: { podCIDRs: [] } }), keys: ['n1', '_routes'] },
    { what: 'an address', after: changed({ status: { addresses: [] } }), keys: ['n1', '_routes', '_backends'] },
    { what: 'its instance', after: changed({ spec: { providerID: 'fake://i-9' } }), keys: ['n1', '_backends'] },
    {
      what: 'its exclusion',
      after: changed({ metadata: { labels: { 'node.kubernetes.io/exclude-from-external-load-balancers': 'true' } } }),
      keys: ['n1', '_backends'],
    },
  ]
  for (const { what, after, keys, byUs } of changes) {
    t.strictSame(keysOf({ operation: 'UPDATE', oldObject: before, object: after }), keys, what)
    const others = byUs ?? keys.filter((key) => key !== 'n1')
    t.strictSame(
      keysOf({ operation: 'UPDATE', oldObject: before, object: after, username: 'us' }),
      others,
      `${what}, by us`,
    )
  }
  const all = ['n1', '_routes', '_backends']
  t.strictSame(keysOf({ operation: 'CREATE', object: before }), all)
  t.strictSame(keysOf({ operation: 'DELETE', oldObject: before }), all)
  t.strictSame(keysOf({ operation: 'UPDATE', object: before }), all, 'what it was before is not known')
  t.strictSame(keysOf({ operation: 'DELETE' }), all, 'a name and nothing else')
  t.strictSame(
    keysOf({ operation: 'UPDATE', oldObject: before, object: { ...before, spec: 'x' } as never }).length,
    3,
    'no node',
  )

  function changed(overrides: Parameters<typeof buildNode>[1]): Node {
    return buildNode(1, overrides)
  }
})

function keysOf(change: object): string[] {
  const event = { source: 'admission', group: '', kind: 'Node', namespace: '', name: 'n1', receivedAt: 0, ...change }
  const { lookups } = lookupsForChange(event as never, { identity: 'us', finalizer: 'f' })
  return lookups.map((lookup) => (lookup.find === 'key' ? lookup.key.name : lookup.find))
}

t.test('what the sweep of pending nodes looks at', async (t) => {
  t.equal(isUnsettledNode(buildNode(1)), false)
  t.equal(isUnsettledNode(buildNode(1, { spec: { taints: [UNINITIALIZED] } })), true)
  t.equal(isUnsettledNode(buildNode(1, { spec: { taints: [SHUTDOWN] } })), true)
  t.equal(isUnsettledNode(buildNode(1, { status: { conditions: [NOT_READY] } })), true)
  t.equal(isUnsettledNode(buildNode(1, { status: { conditions: [] } })), true)
  t.equal(isUnsettledNode(buildNode(1, { metadata: { deletionTimestamp: 'x' }, status: { conditions: [] } })), false)
})
