import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type CertificateAuthority,
  createCertificateAuthority,
} from '../../../src/adapters/certificates/certificate-authority.ts'
import type { Binaries } from '../../apiserver/binaries.ts'
import { installCrds } from '../../apiserver/install-crds.ts'
import { runKubectl } from '../../apiserver/run-kubectl.ts'
import { startApiServer } from '../../apiserver/start-api-server.ts'
import { applyAccountAndRole } from '../../apiserver/support/installation.ts'
import { type ApiClient, createApiClient } from '../../contracts/kubernetes-api/api-client.ts'
import { type Caddy, startCaddy } from './caddy.ts'
import { type FunctionProcess, installFunction } from './function-process.ts'
import { type Haproxy, startHaproxy } from './haproxy.ts'
import type { HttpLane, Lane } from './lane.ts'
import { MEMBERS, type Networks, openNetworks } from './networks.ts'
import { startPods } from './pods.ts'
import { configuredPools, type Pools, poolsFrom } from './pools.ts'
import { installAgent } from './provider-agent.ts'
import { NAMESPACE, openShop, type Shop } from './shop.ts'

/** Everything that there is between a client and a pod, and whoever keeps it right. */
export interface World {
  log(line: string): void
  admin: ApiClient
  networks: Networks
  shop: Shop
  /** Of the certificates that balancers show. */
  authority: CertificateAuthority
  caddy: Caddy
  haproxy: Haproxy
  functions: Record<HttpLane, FunctionProcess>
  functionOf(lane: Lane): FunctionProcess
  pools: Record<Lane, Pools>
  /** Of the proxy, in bytes. */
  memoryOf(lane: Lane): Promise<number>
  /** Functions, watches and the agent: nobody is left who could change a proxy. */
  killEverybody(): Promise<void>
  startEverybody(): Promise<void>
  /** `kubectl apply`. */
  apply(...objects: object[]): Promise<void>
  kubectl(parameters: readonly string[]): Promise<string>
  /** Tells what was logged when the story fails, and removes what it left. */
  during(story: () => Promise<void>): Promise<void>
  close(how: { failed: boolean }): Promise<void>
}

type Closer = (how: { failed: boolean }) => unknown

/** Of each member cluster; scenarios with pods of their own take higher numbers. */
const PODS = [1, 2, 3]

export async function openWorld(binaries: Binaries, log: (line: string) => void): Promise<World> {
  const closers: Closer[] = []
  const close = async (how: { failed: boolean }) => {
    for (const closer of closers.toReversed()) await closer(how)
  }
  try {
    const world = await open(binaries, log, closers)
    return { ...world, close }
  } catch (error) {
    await close({ failed: true })
    throw error
  }
}

async function open(binaries: Binaries, log: (line: string) => void, closers: Closer[]): Promise<Omit<World, 'close'>> {
  const networks = openNetworks()
  closers.push(() => networks.remove())
  const server = await startApiServer({ binaries, log })
  closers.push((how) => server.stop(how))
  const admin = createApiClient({ url: server.url, caPem: server.caPem, token: server.adminToken })
  closers.push(() => admin.close())
  await installCrds(admin)
  const kubectl = (parameters: readonly string[], input?: string) => runKubectl(server, parameters, input)
  await applyAccountAndRole(kubectl)
  const shop = await openShop(admin, networks)
  for (const member of MEMBERS) {
    const pods = await startPods(networks, member, PODS)
    closers.push(() => pods.kill())
  }

  const directory = join(server.directory, 'balancers')
  await mkdir(directory)
  const authority = await createCertificateAuthority(Date.now(), 'balancers')
  const ofHaproxy = poolsFrom(networks, 101)
  const pools = { caddy: poolsFrom(networks, 1), haproxy: ofHaproxy, tcp: ofHaproxy }
  const caddy = await startCaddy(networks, directory)
  closers.push(() => caddy.stop())
  const haproxy = await startHaproxy(networks, directory)
  closers.push(() => haproxy.stop())
  const addresses = configuredPools(ofHaproxy)
  const agent = await installAgent(networks, authority, directory, { ...haproxy.options, addresses })
  closers.push(() => agent.kill())
  await agent.start()

  const install = async (className: HttpLane, provider: { name: string; options: object }) => {
    const installed = await installFunction({ server, admin, authority, directory, className, provider })
    closers.push(() => installed.unregister())
    closers.push(() => installed.kill())
    await installed.start()
    return installed
  }
  const options = { admin: caddy.adminUrl, addresses: configuredPools(pools.caddy) }
  const functions = {
    caddy: await install('caddy', { name: 'caddy', options }),
    haproxy: await install('haproxy', agent.provider),
  }
  log(`kube-apiserver ${server.version}; Caddy and HAProxy at ${networks.machine}, before two member clusters`)

  return {
    log: (line) => log(`    ${line}`),
    admin,
    networks,
    shop,
    authority,
    caddy,
    haproxy,
    functions,
    functionOf: (lane) => (lane === 'caddy' ? functions.caddy : functions.haproxy),
    pools,
    memoryOf: (lane) => (lane === 'caddy' ? caddy.memory() : haproxy.memory()),
    async killEverybody() {
      await Promise.all([functions.caddy.kill(), functions.haproxy.kill(), agent.kill()])
    },
    async startEverybody() {
      await Promise.all([functions.caddy.start(), functions.haproxy.start(), agent.start()])
    },
    async apply(...objects) {
      await kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }))
    },
    kubectl: async (parameters) => (await kubectl(parameters)).stdout,
    async during(story) {
      const begun = Date.now()
      try {
        await story()
      } catch (error) {
        const tell = (whose: string, lines: readonly string[]) => {
          for (const line of lines.filter((each) => each !== '').slice(-6)) log(`    ${whose}: ${line.slice(0, 500)}`)
        }
        for (const { className, logged } of Object.values(functions))
          tell(
            `function of ${className}`,
            logged()
              .filter((line) => isWarning(line) && Number(line['time']) >= begun)
              .map((line) => JSON.stringify(line)),
          )
        tell('haproxy', haproxy.output().split('\n'))
        throw error
      } finally {
        await kubectl(['delete', '-n', NAMESPACE, 'multiclusteringress,multiclusterservice', '--all', '--timeout=60s'])
      }
    },
  }
}

/** That anyone may call is known here. */
function isWarning({ level, doors }: Record<string, unknown>): boolean {
  return Number(level) > 30 && doors === undefined
}
