import t from 'tap'
import { sha256 } from '../../src/adapters/system/sha256.ts'
import type { ListenerPlan } from '../../src/domain/listening/listener-plan.ts'
import type { PlannedServer } from '../../src/domain/routing/route-plan.ts'
import type { BalancerIdentity } from '../../src/provider/multicluster.ts'
import { readHaproxyOptions } from '../../src/providers/haproxy/haproxy-options.ts'
import { decideService } from '../../src/providers/haproxy/haproxy-service-balancer.ts'
import { proxyName } from '../../src/providers/haproxy/proxy-name.ts'
import { renderConfiguration } from '../../src/providers/haproxy/render-configuration.ts'
import type { RenderedBackend } from '../../src/providers/haproxy/rendered-configuration.ts'
import type { RunningServer } from '../../src/providers/haproxy/running-server.ts'
import { removalCommands, serverCommands } from '../../src/providers/haproxy/runtime-commands.ts'
import type { ServedRecord, ServedService } from '../../src/providers/haproxy/served-record.ts'
import { SERVICE_PORT, serviceCall, type WantedService } from '../support/haproxy-calls.ts'

const OPTIONS = readHaproxyOptions({
  options: { addresses: ['198.51.100.7', '2001:db8::7'] },
  fault: (field, message) => {
    throw new Error(`${field}: ${message}`)
  },
})

function recordOf(wanted: WantedService, own?: ServedRecord, others: readonly ServedRecord[] = []): ServedService {
  const [service, context] = serviceCall(wanted)
  return decideService(service, context, OPTIONS, own, others)
}

/** The lines of the only frontend or backend. */
function linesOf(kind: 'frontend' | 'backend', record: ServedRecord): string[] {
  const { text } = renderConfiguration([record], OPTIONS, sha256)
  const section = text.split('\n\n').find((part) => part.startsWith(`${kind} `)) ?? ''
  const [, ...lines] = section.split('\n')
  return lines.map((line) => line.trim())
}

const TWO = { member1: ['10.1.0.1:8080', '10.1.0.2:8080'], member2: ['10.2.0.1:8080'] }

interface Scenario {
  asked: WantedService
  /** Whole lines. */
  frontend?: string[]
  backend?: string[]
  /** What every server has. */
  servers?: RegExp
}

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'a plain service listens on both families, and balances': {
    asked: { pools: TWO },
    frontend: [`bind 198.51.100.7:${SERVICE_PORT}`, `bind [2001:db8::7]:${SERVICE_PORT} v6only`],
    backend: [
      'balance roundrobin',
      'timeout connect 5s',
      'timeout server 3600s',
      'server member1_10.1.0.1_8080 10.1.0.1:8080 weight 1',
      'server member2_10.2.0.1_8080 10.2.0.1:8080 weight 1',
    ],
  },
  'pods of IPv6': {
    asked: { pools: { member1: ['fd00::7:8080'] } },
    backend: ['server member1_fd00::7_8080 [fd00::7]:8080 weight 1'],
  },
  'a pod that drains takes nothing new': {
    asked: { pools: { member1: ['10.1.0.1:80', '10.1.0.2:80!'] } },
    backend: ['server member1_10.1.0.2_80 10.1.0.2:80 weight 0'],
  },
  'source ranges': {
    asked: { annotations: { 'source-ranges': '192.0.2.0/24,2001:db8:1::/48' } },
    frontend: ['acl allowed src 192.0.2.0/24 2001:db8:1::/48', 'tcp-request connection reject unless allowed'],
  },
  'source ranges behind a PROXY header are about the client that it names': {
    asked: { annotations: { 'source-ranges': '192.0.2.0/24', 'accept-proxy-protocol': 'true' } },
    frontend: [`bind 198.51.100.7:${SERVICE_PORT} accept-proxy`, 'tcp-request session reject unless allowed'],
  },
  'PROXY headers for pods, in checks too': {
    asked: { pools: TWO, annotations: { 'proxy-protocol': 'v2', 'health-check-protocol': 'tcp' } },
    servers: /weight 1 send-proxy-v2 check-send-proxy check inter 5s/,
  },
  'the first version of PROXY': {
    asked: { pools: TWO, annotations: { 'proxy-protocol': 'v1' } },
    servers: /weight 1 send-proxy$/,
  },
  'an HTTP health check': {
    asked: {
      pools: TWO,
      annotations: { 'health-check-path': '/ok?a=b', 'health-check-port': '9090', 'health-check-interval': '2' },
    },
    backend: ['option httpchk', "http-check send meth GET uri '/ok?a=b' ver HTTP/1.1 hdr Host localhost"],
    servers: / check inter 2s .*port 9090 on-marked-down shutdown-sessions$/,
  },
  'an HTTPS health check': {
    asked: { pools: TWO, annotations: { 'health-check-protocol': 'https' } },
    servers: / check-ssl verify none /,
  },
  'the source as a hash, such that servers can come and go': {
    asked: { annotations: { algorithm: 'source-ip' } },
    backend: ['balance source', 'hash-type consistent'],
  },
  'least connections': { asked: { annotations: { algorithm: 'least-connections' } }, backend: ['balance leastconn'] },
  affinity: {
    asked: { annotations: { affinity: 'source-ip', 'affinity-seconds': '60' } },
    backend: ['stick-table type ipv6 size 200k expire 60s peers wcp', 'stick on src'],
  },
  timeouts: {
    asked: { annotations: { 'idle-timeout': '60', 'connect-timeout': '2' } },
    frontend: ['timeout client 60s'],
    backend: ['timeout connect 2s', 'timeout server 60s'],
  },
}

t.test('what is asked for, as lines of the configuration', async (t) => {
  for (const [name, { asked, frontend = [], backend = [], servers }] of Object.entries(SCENARIOS)) {
    const record = recordOf(asked)
    const front = linesOf('frontend', record)
    const back = linesOf('backend', record)
    for (const line of frontend) t.ok(front.includes(line), `${name}: ${line}`)
    for (const line of backend) t.ok(back.includes(line), `${name}: ${line}`)
    if (servers === undefined) continue
    const own = back.filter((line) => line.startsWith('server '))
    t.ok(own.length > 0 && own.every((line) => servers.test(line)), `${name}: ${own.join('\n')}`)
  }
})

t.test('weights of clusters are shared by their pods', async (t) => {
  const { plan } = recordOf({ pools: TWO, annotations: { 'cluster-weights': 'member1=3,member2=1' } })
  const weights = Map.groupBy(onlyListener(plan).servers, ({ cluster }) => cluster)
  const sum = (cluster: string) => (weights.get(cluster) ?? []).reduce((all, { weight }) => all + weight, 0)
  t.equal(sum('member1') / sum('member2'), 3)
})

t.test('many source ranges fit lines of 64 words', async (t) => {
  const ranges = Array.from({ length: 45 }, (_, index) => `10.0.${index}.0/24`)
  const lines = linesOf('frontend', recordOf({ annotations: { 'source-ranges': ranges.join() } }))
  const lists = lines.filter((line) => line.startsWith('acl allowed src '))
  t.ok(lists.every((line) => line.split(' ').length < 64))
  t.same(lists.flatMap((line) => line.split(' ').slice(3)).toSorted(), ranges.toSorted())
})

t.test('held without servers keeps what was served; emptied, it has none', async (t) => {
  const before = recordOf({ pools: TWO })
  const held = recordOf({ port: { state: 'held' } }, before)
  t.same(linesOf('backend', held), linesOf('backend', before))
  t.same(onlyListener(recordOf({ port: { state: 'empty' } }, held).plan).servers, [])
  t.same(onlyListener(recordOf({ port: { state: 'held' } }).plan).servers, [], 'nothing was served')
})

t.test('servers are no part of the generation, all else is', async (t) => {
  const generationOf = (wanted: WantedService) =>
    renderConfiguration([recordOf({ pools: TWO, ...wanted })], OPTIONS, sha256).generation
  const plain = generationOf({})
  for (const same of [
    { pools: { member1: ['10.9.0.1:80'] } },
    { annotations: { 'cluster-weights': 'member1=9,member2=1' } },
    { fingerprint: 'another', fence: '9' },
  ])
    t.equal(generationOf(same), plain, JSON.stringify(same))
  for (const other of [
    { port: { port: 81 } },
    { annotations: { algorithm: 'least-connections' } },
    { annotations: { 'health-check-protocol': 'tcp' } },
    { annotations: { 'proxy-protocol': 'v1' } },
    { annotations: { 'source-ranges': '192.0.2.0/24' } },
    { annotations: { 'idle-timeout': '7' } },
    { uid: 'another' },
  ])
    t.not(generationOf(other), plain, JSON.stringify(other))
})

t.test('what is done at run time', async (t) => {
  const rendered = (weights: Record<string, number>, more: Partial<RenderedBackend> = {}): RenderedBackend => ({
    header: 'backend b',
    name: 'b',
    lines: [],
    servers: Object.entries(weights).map(([name, weight]) => ({ name, address: '10.1.0.1', port: 80, weight })),
    serverArguments: [],
    remembersClients: false,
    namesServersInCookie: false,
    ...more,
  })
  const runs = (weight: number, administered: RunningServer['administered'] = 'ready'): RunningServer[] => [
    { backend: 'b', id: 7, name: 'x', address: '10.1.0.1', port: 80, weight, administered },
  ]
  const checked = { serverArguments: ['check', 'inter 5s'] }
  const remembering = { remembersClients: true }
  t.same(serverCommands(rendered({ x: 1 }), runs(1)), [], 'nothing where nothing differs')
  t.same(serverCommands(rendered({ x: 1, y: 2 }), runs(1)), [
    'add server b/y 10.1.0.1:80 weight 2',
    'enable server b/y',
  ])
  t.same(serverCommands(rendered({ x: 1 }, checked), []), [
    'add server b/x 10.1.0.1:80 weight 1 check inter 5s',
    'enable health b/x',
    'enable server b/x',
  ])
  t.same(serverCommands(rendered({ x: 3 }), runs(1)), ['set server b/x weight 3'])
  t.same(serverCommands(rendered({}), runs(1)), ['set server b/x state drain'])
  t.same(serverCommands(rendered({}), runs(1, 'drain')), [], 'on its way out')
  t.same(serverCommands(rendered({ x: 1 }), runs(1, 'drain')), ['set server b/x state ready'], 'wanted again')
  t.same(
    serverCommands(rendered({}, { namesServersInCookie: true }), runs(1)),
    ['set server b/x state maint'],
    'a cookie would lead to a server that drains',
  )
  const forgotten = 'clear table b data.server_id eq 7'
  t.same(serverCommands(rendered({}, remembering), runs(1)), ['set server b/x state drain', forgotten])
  t.same(serverCommands(rendered({ x: 0 }, remembering), runs(1)), ['set server b/x weight 0', forgotten])
  const removed = (connections: number) =>
    removalCommands(rendered({}), runs(1, 'drain'), new Map([['b/x', connections]]))
  t.same(removed(2), [], 'connections may finish')
  t.same(removed(0), ['set server b/x state maint', 'del server b/x'])
})

t.test('nothing that comes with an object becomes configuration or a command', async (t) => {
  const hostile = `x\n  server evil 192.0.2.66:80 weight 1\nfrontend evil\n;del server a/b 'q" \${HOME} # \u0000`
  const identity: BalancerIdentity = {
    clusterId: hostile,
    kind: 'MultiClusterService',
    namespace: hostile,
    name: hostile,
    uid: hostile,
  }
  t.match(proxyName(identity, sha256), /^mcs_[a-z0-9.-]{1,40}_[a-z0-9.-]{1,40}_[0-9a-f]{12}$/)
  const record: ServedService = { ...recordOf({ pools: { [hostile]: ['10.1.0.1:80'] } }), identity }
  const { text, backends } = renderConfiguration([record], OPTIONS, sha256)
  const sections = text.split('\n').filter((line) => line !== '' && !line.startsWith(' '))
  t.ok(sections.every((line) => /^(#.*|global|defaults wcp-tcp|(frontend|backend) mcs_\S+ from wcp-tcp)$/.test(line)))
  t.same(text.match(/^ {2}server .*$/gm)?.length, 1)
  const commands = backends.flatMap((backend) => serverCommands(backend, []))
  t.same(commands.length, 2)
  for (const command of commands) t.match(command, /^[A-Za-z0-9 ._:/-]+$/)
})

t.test('a plan that could not be configured is refused whole', async (t) => {
  const record = recordOf({ pools: TWO })
  const { plan } = record
  const withServer = (changes: Partial<PlannedServer>): ListenerPlan => {
    const server = { address: '10.1.0.1', port: 80, cluster: 'member1', weight: 1, ...changes }
    return { ...plan, listeners: [{ ...onlyListener(plan), servers: [server] }] }
  }
  const withOptions = (changes: Partial<ListenerPlan['options']>): ListenerPlan => ({
    ...plan,
    options: { ...plan.options, ...changes },
  })
  const check = { protocol: 'http', intervalSeconds: 1, timeoutSeconds: 1, healthyThreshold: 1, unhealthyThreshold: 1 }
  const plans: Record<string, ListenerPlan> = {
    address: withServer({ address: '10.1.0.1:80 backup' }),
    name: withServer({ address: 'localhost' }),
    port: withServer({ port: Number.NaN }),
    weight: withServer({ weight: 257 }),
    range: withOptions({ sourceRanges: ['10.0.0.0/8 or TRUE'] }),
    path: withOptions({ healthCheck: { ...check, protocol: 'http', path: '/\n  server evil 192.0.2.66:80' } }),
  }
  for (const [place, plan] of Object.entries(plans)) {
    t.throws(() => renderConfiguration([{ ...record, plan }], OPTIONS, sha256), TypeError, place)
  }
})

function onlyListener<T>({ listeners: [listener] }: { listeners: T[] }): T {
  if (listener === undefined) throw new Error('no listener')
  return listener
}

t.test('UDP is refused, and what annotations say wrong', async (t) => {
  t.throws(() => recordOf({ port: { protocol: 'UDP' } }), { message: /UDP cannot be balanced/ })
  t.throws(() => recordOf({ annotations: { 'source-ranges': 'everybody' } }), { message: /source-ranges.*network/ })
})

t.test('a port that another has is refused by a sentence that names it', async (t) => {
  const first = recordOf({ name: 'first' })
  t.throws(() => recordOf({ name: 'second' }, undefined, [first]), {
    message: `port ${SERVICE_PORT} of 198.51.100.7 is used by MultiClusterService shop/first`,
  })
  t.ok(recordOf({ name: 'second', port: { port: 81 } }, undefined, [first]), 'another port of the same address')
})

t.test('connections: as many as its limit of files allows, unless told', async (t) => {
  t.match(renderConfiguration([], { ...OPTIONS, maxConnections: 77 }, sha256).text, /^ {2}maxconn 77$/m)
  const { text } = renderConfiguration([], OPTIONS, sha256)
  t.notMatch(text, /maxconn/)
  t.match(text, /^ {2}fd-hard-limit 100000$/m, 'no table for a thousand million files')
})

t.test('every fault of the options is told', async (t) => {
  const faults: string[] = []
  const fault = (field: string) => void faults.push(field)
  readHaproxyOptions({ options: { stateDirectory: 'here', maxConnections: 'x', surprise: 1 }, fault })
  t.same(faults.toSorted(), ['addresses', 'maxConnections', 'stateDirectory', 'surprise'])
  faults.length = 0
  readHaproxyOptions({ options: { addresses: ['nowhere'] }, fault })
  t.same(faults, ['addresses[0]'])
})
