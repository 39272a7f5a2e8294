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
import { MEMBERS, type Member, type Networks, openNetworks } from './networks.ts'
import { type Pods, startPods } from './pods.ts'
import { openShop, type Shop } from './shop.ts'

/** Everything that there is between a client and a pod, and whoever keeps it right. */
export interface World {
  log(line: string): void
  admin: ApiClient
  networks: Networks
  /** Three each. */
  pods: Record<Member, Pods>
  shop: Shop
  /** Of the certificates that balancers show. */
  authority: CertificateAuthority
  caddy: Caddy
  functions: { caddy: FunctionProcess }
  /** `kubectl apply` of objects in the shop. */
  apply(...objects: object[]): Promise<void>
  kubectl(parameters: readonly string[], input?: string): Promise<string>
  /** Tells what was logged when the story fails. */
  during(story: () => Promise<void>): Promise<void>
  close(how: { failed: boolean }): Promise<void>
}

export const PODS = [1, 2, 3]

export async function openWorld(binaries: Binaries, log: (line: string) => void): Promise<World> {
  const closers: ((how: { failed: boolean }) => unknown)[] = []
  const close = async (how: { failed: boolean }) => {
    for (const closer of closers.toReversed()) await closer(how)
  }
  try {
    return await open(binaries, log, closers, close)
  } catch (error) {
    await close({ failed: true })
    throw error
  }
}

async function open(
  binaries: Binaries,
  log: (line: string) => void,
  closers: ((how: { failed: boolean }) => unknown)[],
  close: World['close'],
): Promise<World> {
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
  const pods = { east: await startPods(networks, 'east', PODS), west: await startPods(networks, 'west', PODS) }
  for (const member of MEMBERS) closers.push(() => pods[member].kill())

  const directory = join(server.directory, 'balancers')
  await mkdir(directory)
  const caddy = await startCaddy(networks, directory)
  closers.push(() => caddy.stop())
  const authority = await createCertificateAuthority(Date.now(), 'balancers')
  const install = async (className: string, provider: { name: string; options: object }) => {
    const installed = await installFunction({ server, admin, authority, directory, className, provider })
    closers.push(() => installed.unregister())
    closers.push(() => installed.kill())
    await installed.start()
    return installed
  }
  const functions = { caddy: await install('caddy', { name: 'caddy', options: { admin: caddy.adminUrl } }) }
  log(`kube-apiserver ${server.version}, caddy and haproxy behind ${networks.machine}`)

  return {
    log: (line) => log(`    ${line}`),
    admin,
    networks,
    pods,
    shop,
    authority,
    caddy,
    functions,
    async apply(...objects) {
      await kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }))
    },
    async kubectl(parameters, input) {
      return (await kubectl(parameters, input)).stdout
    },
    async during(story) {
      try {
        await story()
      } catch (error) {
        for (const { className, logged } of Object.values(functions))
          for (const line of logged().slice(-10)) log(`    ${className}: ${JSON.stringify(line)}`)
        throw error
      }
    },
    close,
  }
}
