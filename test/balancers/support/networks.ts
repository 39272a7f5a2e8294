import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { type Cidr, parseCidr } from '../../../src/domain/cidr.ts'
import { parseIpAddress } from '../../../src/domain/ip-address.ts'

export const MEMBERS = ['east', 'west'] as const
export type Member = (typeof MEMBERS)[number]
type Namespace = 'front' | Member

/**
 * Network namespaces for the machine of the balancers (`front`) and for two member clusters, each joined to it by a pair of
 * veth. The test itself stays outside, as the clients and the function do.
 *
 * | network | who |
 * |---|---|
 * | `10.B.0.0/24`, `fd31:B:0::/64` | `.1` to `.9` the test, `.10` the machine of the balancers, `.11` and up its balancers |
 * | `10.B.1.0/24`, `fd31:B:1::/64` | `.1` the machine, `.11` and up pods of `east` |
 * | `10.B.2.0/24`, `fd31:B:2::/64` | the same of `west` |
 */
export interface Networks {
  /** Of the clients: `number` from 1 to 9. */
  client(number: number): string
  /** Of the machine of the balancers itself. */
  machine: string
  /** Of balancers: `number` from 1 to 200. */
  balancer(number: number, family?: 'IPv4' | 'IPv6'): string
  /** `number` from 1 to 20. */
  pod(member: Member, number: number, family?: 'IPv4' | 'IPv6'): string
  /** In whose namespace the command runs: to be put before it. */
  inside(namespace: Namespace): string[]
  /** The member is lost without a word, and found again: what is sent to it vanishes, nothing is refused. */
  setUplink(member: Member, state: 'up' | 'down'): void
  /** Ends whatever runs in them, and removes them. */
  remove(): void
}

/** Namespaces may not be made here; the message says what is missing. */
export class NetworksForbidden extends Error {
  override readonly name = 'NetworksForbidden'
}

const PREFIX = 'wcp-balancers'
const CLIENTS = 9
const FIRST = 10
const BALANCERS = 200
const PODS = 20

export function openNetworks(): Networks {
  removeLeftovers()
  const block = freeBlock()
  const own = `${PREFIX}-${process.pid}`
  const nameOf = (namespace: Namespace) => `${own}-${namespace}`
  const v4 = (net: number, host: number) => `10.${block}.${net}.${host}`
  // As it is published: a group of zeros beside others is left out with them.
  const v6 = (net: number, host: number) => (net === 0 ? `fd31:${block}::${host}` : `fd31:${block}:${net}::${host}`)
  const address = (net: number, number: number, family: 'IPv4' | 'IPv6') =>
    family === 'IPv4' ? v4(net, FIRST + number) : v6(net, FIRST + number)

  try {
    ip([`netns add ${nameOf('front')}`, ...MEMBERS.map((member) => `netns add ${nameOf(member)}`)])
  } catch (error) {
    removeNamespacesOf(own)
    throw new NetworksForbidden(
      `network namespaces cannot be made here: ${textOf(error)}. ` +
        'The two member clusters are namespaces: run this as root, in a container with CAP_SYS_ADMIN and CAP_NET_ADMIN.',
    )
  }
  const remove = () => removeNamespacesOf(own)
  process.once('exit', remove)
  joinClients()
  for (const [index, member] of MEMBERS.entries()) joinMember(member, index + 1)

  function joinClients(): void {
    const [outside, inside] = [`wcp${process.pid}c`, 'clients']
    ip([
      `link add ${outside} type veth peer name ${inside} netns ${nameOf('front')}`,
      `link set ${outside} up`,
      ...addresses(outside, 0, 1, CLIENTS),
    ])
    ip(['link set lo up', `link set ${inside} up`, ...addresses(inside, 0, FIRST, FIRST + BALANCERS)], nameOf('front'))
  }

  function joinMember(member: Member, net: number): void {
    ip(
      [
        'link set lo up',
        `link add uplink type veth peer name ${member} netns ${nameOf('front')}`,
        'link set uplink up',
        ...addresses('uplink', net, FIRST + 1, FIRST + PODS),
        `route add default via ${v4(net, 1)}`,
      ],
      nameOf(member),
    )
    ip([`link set ${member} up`, ...addresses(member, net, 1, 1)], nameOf('front'))
  }

  /** Of IPv4 its addresses stay. */
  function lostWithTheLink(net: number): string[] {
    const ofIpv6 = addresses('uplink', net, FIRST + 1, FIRST + PODS).filter((command) => command.endsWith('nodad'))
    return [...ofIpv6, `route add default via ${v4(net, 1)}`]
  }

  // Without duplicate address detection: its second would be waited for at every start.
  function addresses(device: string, net: number, from: number, to: number): string[] {
    return Array.from({ length: to - from + 1 }, (_, index) => from + index).flatMap((host) => [
      `address add ${v4(net, host)}/24 dev ${device}`,
      `address add ${v6(net, host)}/64 dev ${device} nodad`,
    ])
  }

  return {
    client: (number) => v4(0, number),
    machine: v4(0, FIRST),
    balancer: (number, family = 'IPv4') => address(0, number, family),
    pod: (member, number, family = 'IPv4') => address(MEMBERS.indexOf(member) + 1, number, family),
    inside: (namespace) => ['ip', 'netns', 'exec', nameOf(namespace)],
    setUplink(member, state) {
      const net = MEMBERS.indexOf(member) + 1
      if (state === 'down') ip(['link set uplink down'], nameOf(member))
      else ip(['link set uplink up', ...lostWithTheLink(net)], nameOf(member))
    },
    remove() {
      process.off('exit', remove)
      remove()
    },
  }
}

/** One process for all of them: each start of `ip` costs more than what it does. */
function ip(commands: readonly string[], namespace?: string): void {
  const within = namespace === undefined ? [] : ['-n', namespace]
  execFileSync('ip', [...within, '-batch', '-'], {
    input: commands.join('\n'),
    stdio: ['pipe', 'ignore', 'pipe'],
  })
}

function namespaces(): string[] {
  try {
    return readdirSync('/run/netns').filter((name) => name.startsWith(`${PREFIX}-`))
  } catch {
    return []
  }
}

/** Of runs that were killed. A run that is under way keeps its own. */
function removeLeftovers(): void {
  const owners = new Set(namespaces().map((name) => name.slice(0, name.lastIndexOf('-'))))
  for (const owner of owners) if (!isRunning(Number(owner.slice(PREFIX.length + 1)))) removeNamespacesOf(owner)
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

function removeNamespacesOf(owner: string): void {
  for (const name of namespaces().filter((found) => found.startsWith(`${owner}-`))) {
    const { stdout } = spawnSync('ip', ['netns', 'pids', name], { encoding: 'utf8' })
    for (const pid of stdout.split('\n').filter((line) => line !== '')) kill(Number(pid))
    spawnSync('ip', ['netns', 'delete', name])
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}

/** The second byte of networks that nothing on this machine has anything to do with. */
function freeBlock(): number {
  const taken = [...usedNetworks()].flatMap((text) => parseCidr(text.includes('/') ? text : `${text}/32`) ?? [])
  const isFree = (block: number) => {
    const own = parseCidr(`10.${block}.0.0/16`)
    return own !== undefined && !taken.some((other) => overlap(own, other))
  }
  for (let block = 231; block > 200; block -= 1) if (isFree(block)) return block
  throw new NetworksForbidden('networks 10.201.0.0/16 to 10.231.0.0/16 are all in use on this machine; one is needed')
}

function overlap(a: Cidr, b: Cidr): boolean {
  return contains(a, b) || contains(b, a)
}

function contains(outer: Cidr, inner: Cidr): boolean {
  const isLarger = outer.family === inner.family && outer.hostBits >= inner.hostBits
  return isLarger && (inner.prefix << inner.hostBits) >> outer.hostBits === outer.prefix
}

function* usedNetworks(): Iterable<string> {
  const text = execFileSync('ip', ['-j', '-4', 'route', 'show', 'table', 'all'], { encoding: 'utf8' })
  for (const { dst } of JSON.parse(text) as { dst: string }[]) {
    const [address = ''] = dst.split('/')
    if (parseIpAddress(address) !== undefined && address !== '0.0.0.0') yield dst
  }
}

function textOf(error: unknown): string {
  const { stderr, message } = error as { stderr?: Buffer; message: string }
  return (stderr?.toString().trim() || message).split('\n')[0] ?? ''
}
