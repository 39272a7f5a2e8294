import fc from 'fast-check'
import t from 'tap'
import type {
  AddressClaim,
  AddressPool,
  AddressWish,
  AssignedAddresses,
} from '../../src/domain/addresses/address-pool.ts'
import { addressWish } from '../../src/domain/addresses/address-wish.ts'
import { type AddressHolder, assignAddresses } from '../../src/domain/addresses/assign-addresses.ts'
import { listenerClaims } from '../../src/domain/addresses/listener-claims.ts'
import { parseAddressPools } from '../../src/domain/addresses/parse-address-pools.ts'
import { publishedStatus } from '../../src/domain/addresses/published-status.ts'
import { routeClaims } from '../../src/domain/addresses/route-claims.ts'
import { formatIpAddress, parseIpAddress } from '../../src/domain/ip-address.ts'
import { listenerSettings } from '../../src/domain/listening/listener-settings.ts'
import { routeSettings } from '../../src/domain/routing/route-settings.ts'

t.test('text forms of addresses', async (t) => {
  const rows: [string, string][] = [
    ['192.0.2.1', '192.0.2.1'],
    ['255.255.255.255', '255.255.255.255'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['0:0:0:0:0:0:0:0', '::'],
    ['2001:db8::1:0:0:1', '2001:db8::1:0:0:1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
  ]
  for (const [text, expected] of rows) {
    const parsed = parseIpAddress(text)
    t.equal(parsed && formatIpAddress(parsed), expected)
  }
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
      const parsed = parseIpAddress(text)
      const again = parsed && parseIpAddress(formatIpAddress(parsed))
      return parsed === undefined || (again?.family === parsed.family && again.value === parsed.value)
    }),
  )
})

t.test('pools as configured', async (t) => {
  const { pools, faults } = parseAddressPools({
    default: ['198.51.100.10', '198.51.100.16/30', '198.51.100.40 - 198.51.100.41', '2001:DB8::0/127'],
    nat: [{ ip: '203.0.113.7', listen: '10.0.0.7' }, { ip: '203.0.113.8' }],
    'edge.b': { hostname: 'edge.example.com', addresses: ['127.0.0.1'] },
  })
  t.strictSame(faults, [])
  t.strictSame(
    pools.map(({ name, hostname, addresses }) => [
      name,
      hostname,
      ...addresses.map(({ ip, listen }) => (ip === listen ? ip : `${ip} at ${listen}`)),
    ]),
    [
      [
        'default',
        undefined,
        '198.51.100.10',
        ...['16', '17', '18', '19', '40', '41'].map((last) => `198.51.100.${last}`),
        '2001:db8::',
        '2001:db8::1',
      ],
      ['nat', undefined, '203.0.113.7 at 10.0.0.7', '203.0.113.8'],
      ['edge.b', 'edge.example.com', '127.0.0.1'],
    ],
  )
  t.match(parseAddressPools(['192.0.2.1']).pools, [{ name: 'default', addresses: [{ family: 'IPv4' }] }])
  const behindNat = parseAddressPools([
    { ip: '192.0.2.1', listen: '*' },
    { ip: '2001:db8::1', listen: '::' },
  ])
  t.strictSame([behindNat.faults, behindNat.pools[0]?.addresses.map(({ listen }) => listen)], [[], ['*', '::']])
})

t.test('faults of pools', async (t) => {
  const such = 'must be such as 198.51.100.10, 198.51.100.16/30, 198.51.100.40-198.51.100.45 or { ip, listen }'
  const listen = 'must be an address of the same family, or "*" (IPv4) or "::" (IPv6) for all'
  const rows: [unknown, ...string[]][] = [
    [undefined, ': must be a list of addresses, or such lists by the names of pools'],
    ['192.0.2.1', ': must be a list of addresses, or such lists by the names of pools'],
    [{}, ': must have at least one pool'],
    [[], ': must be a list of at least one address'],
    [{ a: [] }, '.a: must be a list of at least one address'],
    [{ a: {} }, '.a.addresses: must be a list of at least one address'],
    [{ a: 1 }, '.a: must be a list of addresses, or addresses with a hostname'],
    [{ a: { addresses: ['::1'], hostnames: 'a' } }, '.a.hostnames: no such setting; known are: addresses, hostname'],
    [{ a: { addresses: ['::1'], hostname: '192.0.2.1' } }, '.a.hostname: must be a DNS name in lower case'],
    [{ a: { addresses: ['::1'], hostname: 'a.' } }, '.a.hostname: must be a DNS name in lower case'],
    [{ 'a b': ['::1'] }, '.a b: a name must be of letters, digits, dashes, dots and underscores'],
    [[7], `[0]: ${such}`],
    [['lb.example.com'], `[0]: ${such}`],
    [['192.0.2.1', '192.0.2.'], `[1]: ${such}`],
    [['192.0.2.1/33'], `[0]: ${such}`],
    [['192.0.2.1-192.0.2.2-192.0.2.3'], `[0]: ${such}`],
    [['192.0.2.1-::1'], `[0]: ${such}`],
    [['192.0.2.9-192.0.2.1'], '[0]: must begin with the lower address'],
    [['10.0.0.0/8'], '[0]: must not be more than 4096 addresses'],
    [['2001:db8::/32'], '[0]: must not be more than 4096 addresses'],
    [['10.0.0.0/20', '10.1.0.0'], '[1]: must not make more than 4096 addresses'],
    [['0.0.0.0'], '[0]: is an address that nothing can be reached at'],
    [['224.0.0.1'], '[0]: is an address that nothing can be reached at'],
    [['ff02::1'], '[0]: is an address that nothing can be reached at'],
    [[{ ip: '192.0.2.0/24' }], '[0].ip: must be one IP address'],
    [[{ listen: '192.0.2.1' }], '[0].ip: must be one IP address'],
    [[{ ip: '::' }], '[0].ip: must be one IP address'],
    [[{ ip: '192.0.2.1', bind: '*' }], '[0].bind: no such setting; known are: ip, listen'],
    [[{ ip: '192.0.2.1', listen: '::1' }], `[0].listen: ${listen}`],
    [[{ ip: '192.0.2.1', listen: '::' }], `[0].listen: ${listen}`],
    [[{ ip: '2001:db8::1', listen: '*' }], `[0].listen: ${listen}`],
    [[{ ip: '192.0.2.1', listen: '0.0.0.0' }], `[0].listen: ${listen}`],
    [['192.0.2.1', '192.0.2.0/30'], '[1]: 192.0.2.1 is in "[0]" already'],
    [{ a: ['192.0.2.1'], b: { addresses: ['192.0.2.1'] } }, '.b.addresses[0]: 192.0.2.1 is in ".a[0]" already'],
    [['2001:db8::1', '2001:db8:0::1'], '[1]: 2001:db8::1 is in "[0]" already'],
    [['10.0.0.7', { ip: '192.0.2.1', listen: '10.0.0.7' }], '[1]: 10.0.0.7 is in "[0]" already'],
    [
      [{ ip: '192.0.2.1', listen: '*' }, '192.0.2.2'],
      ': 192.0.2.1 listens on "*", which leaves no room for another IPv4 address',
    ],
  ]
  for (const [setting, ...expected] of rows) {
    const { faults } = parseAddressPools(setting)
    t.strictSame(
      faults.map(({ field, message }) => `${field}: ${message}`),
      expected,
      JSON.stringify(setting),
    )
  }
  const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`p${index}`, [`10.0.0.${index}`]]))
  t.match(parseAddressPools(many).faults, [{ message: 'must not have more than 64 pools' }])
})

const POOLS: AddressPool[] = parseAddressPools({
  default: ['198.51.100.1', '198.51.100.2', '2001:db8::1'],
  one: { hostname: 'one.example.com', addresses: ['192.0.2.1'] },
}).pools

const wish = (claims: string[], more: Partial<AddressWish> = {}): AddressWish => ({
  pool: 'one',
  ips: [],
  ...more,
  claims: claims.map(claim),
})
/** `80`, `80 a.com`, `80 ` */
function claim(text: string): AddressClaim {
  const [port, host] = text.split(' ')
  return { port: Number(port), ...(host === undefined ? {} : { host }) }
}
const assigned = (ips: string[], claims: string[] = [], pool = 'one'): AssignedAddresses => ({
  pool,
  addresses: POOLS.flatMap(({ addresses }) => addresses).filter(({ ip }) => ips.includes(ip)),
  claims: claims.map(claim),
})
const holder = (name: string, ips: string[], claims: string[]): AddressHolder => ({
  name,
  assigned: assigned(ips, claims),
})
const outcome = (asked: AddressWish, held?: AssignedAddresses, others: AddressHolder[] = []) => {
  const result = assignAddresses(asked, POOLS, held, others)
  return result.kind === 'conflict' ? result.message : result.assigned.addresses.map(({ ip }) => ip).join(' ')
}

t.test('addresses of an object', async (t) => {
  const [A1, A2, ONE, SIX] = ['198.51.100.1', '198.51.100.2', '192.0.2.1', '2001:db8::1']
  const all = { pool: 'default' }
  const rows: [string, string, AddressWish, (AssignedAddresses | undefined)?, AddressHolder[]?][] = [
    ['one of each family', `${A1} ${SIX}`, wish(['80'], all)],
    ['of the families that are named', SIX, wish(['80'], { ...all, families: ['IPv6'] })],
    ['a static one, and any of the other family', `${A2} ${SIX}`, wish(['80'], { ...all, ips: [A2] })],
    ['in another text form', SIX, wish(['80'], { ...all, ips: ['2001:DB8:0::1'], families: ['IPv6'] })],
    ['ports side by side', ONE, wish(['80']), undefined, [holder('a', [ONE], ['81', '443 a.com'])]],
    ['hosts side by side', ONE, wish(['80 a.com']), undefined, [holder('a', [ONE], ['80 b.com', '80 '])]],
    ['paths of one host', ONE, wish(['80 a.com']), undefined, [holder('a', [ONE], ['80 a.com'])]],
    [
      'the next one where a port is taken',
      A2,
      wish(['80'], { ...all, families: ['IPv4'] }),
      undefined,
      [holder('a', [A1], ['80'])],
    ],
    [
      'where its host is served already',
      A2,
      wish(['80 a.com'], { ...all, families: ['IPv4'] }),
      undefined,
      [holder('a', [A1], ['80 b.com']), holder('b', [A2], ['80 a.com'])],
    ],
    ['it stays where it is', A2, wish(['80'], { ...all, families: ['IPv4'] }), assigned([A2], ['80'])],
    ['with more claims too', A2, wish(['80', '81'], { ...all, families: ['IPv4'] }), assigned([A2], ['80'])],
    [
      'and moves when they do not fit',
      A1,
      wish(['80', '81'], { ...all, families: ['IPv4'] }),
      assigned([A2], ['80']),
      [holder('a', [A2], ['81'])],
    ],
    [
      'or when another is asked for',
      A1,
      wish(['80'], { ...all, families: ['IPv4'], ips: [A1] }),
      assigned([A2], ['80']),
    ],
    ['or when the pool is another', ONE, wish(['80']), assigned([A2], ['80'], 'default')],
    ['a claim that two have stands', ONE, wish(['80']), assigned([ONE], ['80']), [holder('a', [ONE], ['80'])]],
    ['nothing claimed: still an address', ONE, wish([]), undefined, [holder('a', [ONE], ['80'])]],

    ['a port that is taken', `port 80 of ${ONE} is used by a`, wish(['80']), undefined, [holder('a', [ONE], ['80'])]],
    [
      'a port with hosts',
      `port 80 of ${ONE} is used by a`,
      wish(['80']),
      undefined,
      [holder('a', [ONE], ['80 b.com'])],
    ],
    [
      'a host on a whole port',
      `port 80 of ${ONE} is used by a`,
      wish(['80 b.com']),
      undefined,
      [holder('a', [ONE], ['80'])],
    ],
    [
      'rules for any host',
      `requests for any host on port 80 of ${ONE} go to a: name hosts, and no default backend`,
      wish(['80 ', '80 a.com']),
      undefined,
      [holder('a', [ONE], ['80 '])],
    ],
    [
      'what it has does not help',
      `port 81 of ${ONE} is used by a`,
      wish(['80', '81']),
      assigned([ONE], ['80']),
      [holder('a', [ONE], ['81'])],
    ],
    [
      'an exhausted pool',
      `all 2 IPv4 addresses of address pool default are taken; port 80 of ${A1} is used by a`,
      wish(['80'], all),
      undefined,
      [holder('a', [A1], ['80']), holder('b', [A2], ['80'])],
    ],
    [
      'a static one that is taken',
      `port 80 of ${A1} is used by a`,
      wish(['80'], { ...all, ips: [A1] }),
      undefined,
      [holder('a', [A1], ['80'])],
    ],
    ['no such pool', 'there is no address pool two; known are: default, one', wish(['80'], { pool: 'two' })],
    ['no such address', '192.0.2.9 is not in address pool one', wish(['80'], { ips: ['192.0.2.9'] })],
    ['no such family', 'address pool one has no IPv6 address', wish(['80'], { families: ['IPv4', 'IPv6'] })],
  ]
  for (const [title, expected, asked, held, others] of rows) t.equal(outcome(asked, held, others), expected, title)
  t.match(assignAddresses(wish(['80']), [], undefined, []), {
    message: 'there is no address pool one; known are: none',
  })
  const [own, pool] = [wish(['80'], { hostname: 'a.com' }), wish(['80'])].map((asked) =>
    assignAddresses(asked, POOLS, undefined, []),
  )
  t.match(
    [own, pool],
    [{ assigned: { hostname: 'a.com' } }, { assigned: { hostname: 'one.example.com', claims: [{ port: 80 }] } }],
  )
})

const CLAIMS = fc.uniqueArray(fc.constantFrom('80', '81', '80 ', '80 a.com', '80 b.com', '81 a.com'), { maxLength: 3 })
const WISH: fc.Arbitrary<AddressWish> = fc.record({
  pool: fc.constantFrom('default', 'one'),
  ips: fc.constantFrom([], [], [], ['198.51.100.2'], ['192.0.2.1'], ['2001:db8::1']),
  claims: CLAIMS.map((texts) => texts.map(claim)),
})
const ACTION = fc.record({ who: fc.constantFrom('a', 'b', 'c', 'd'), wish: fc.option(WISH) })

const excludes = (one: AddressClaim, other: AddressClaim) =>
  one.port === other.port &&
  (one.host === undefined || other.host === undefined || (one.host === '' && other.host === ''))

t.test('whoever asks, and in whichever order: nobody has what another has, and nobody is moved', async () => {
  fc.assert(
    fc.property(fc.array(ACTION, { maxLength: 20 }), (actions) => {
      const record = new Map<string, { assigned: AssignedAddresses; wish: AddressWish }>()
      const ask = (who: string, asked: AddressWish) => {
        const others = [...record].filter(([name]) => name !== who).map(([name, { assigned }]) => ({ name, assigned }))
        return assignAddresses(asked, POOLS, record.get(who)?.assigned, others)
      }
      for (const { who, wish: asked } of actions) {
        if (asked === null) record.delete(who)
        else {
          const result = ask(who, asked)
          if (result.kind === 'assigned') record.set(who, { assigned: result.assigned, wish: asked })
        }
        const all = [...record.values()]
        for (const [index, one] of all.entries()) {
          for (const other of all.slice(index + 1)) {
            const shared = one.assigned.addresses.some(({ ip }) =>
              other.assigned.addresses.some((own) => own.ip === ip),
            )
            if (shared && one.assigned.claims.some((a) => other.assigned.claims.some((b) => excludes(a, b))))
              return false
          }
        }
        for (const [name, { assigned, wish }] of record) {
          const again = ask(name, wish)
          if (again.kind !== 'assigned' || JSON.stringify(again.assigned) !== JSON.stringify(assigned)) return false
        }
      }
      return true
    }),
    { numRuns: 500 },
  )
})

t.test('what is claimed, asked and published', async (t) => {
  const route = (host: string, tls: boolean) => ({ host, match: 'Prefix' as const, path: '/', tls })
  const plan = { routes: [route('b.com', true), route('a.com', false), route('b.com', true)], upstreams: [] }
  const { options } = routeSettings({})
  const text = (claims: AddressClaim[]) =>
    claims.map(({ port, host }) => (host === undefined ? `${port}` : `${port} ${host}`))
  t.strictSame(text(routeClaims({ ...plan, certificates: [], options })), ['80 a.com', '80 b.com', '443 b.com'])
  const certificates = [{ hosts: [], secretName: 'a', certificate: 'c', key: 'k' }]
  t.strictSame(text(routeClaims({ routes: [], upstreams: [], defaultUpstream: 'web:80', certificates, options })), [
    '80 ',
    '443 ',
  ])
  const listeners = [80, 443].map((port) => ({ port, name: '', state: 'empty' as const, servers: [] }))
  t.strictSame(text(listenerClaims({ listeners, options: listenerSettings({}).options })), ['80', '443'])

  t.strictSame(addressWish({}, [{ port: 80 }]), { pool: 'default', ips: [], claims: [{ port: 80 }] })
  t.strictSame(addressWish({ addressPool: 'edge', staticIps: ['::1'], hostname: 'a.com', ipFamilies: ['IPv6'] }, []), {
    pool: 'edge',
    ips: ['::1'],
    hostname: 'a.com',
    families: ['IPv6'],
    claims: [],
  })
  const both = assigned(['198.51.100.1', '2001:db8::1'])
  t.strictSame(publishedStatus(both), { ingress: [{ ip: '198.51.100.1' }, { ip: '2001:db8::1' }] })
  t.strictSame(publishedStatus({ ...both, hostname: 'a.com' }), { ingress: [{ hostname: 'a.com' }] })
})
