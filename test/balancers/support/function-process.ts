import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import type { CertificateAuthority } from '../../../src/adapters/certificates/certificate-authority.ts'
import { webhookConfigurations } from '../../../src/compose/webhook-configurations.ts'
import type { SweepReport } from '../../../src/domain/sweep-report.ts'
import type { ApiServer } from '../../apiserver/start-api-server.ts'
import { IDENTITY, tokenOf } from '../../apiserver/support/installation.ts'
import type { ApiClient } from '../../contracts/kubernetes-api/api-client.ts'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import { type Child, startChild } from './child.ts'

/**
 * The function as it is deployed: `wcp serve` with a token of its ServiceAccount, its webhooks registered, and `wcp watch`
 * beside it, which tells of Clusters and Secrets.
 */
export interface FunctionProcess {
  /** The class of its ingresses. */
  className: string
  finalizer: string
  start(): Promise<void>
  /** Both processes, without a word; reviews find nobody. */
  kill(): Promise<void>
  sweep(): Promise<SweepReport>
  /** Log lines as objects, of all runs. */
  logged(): Record<string, unknown>[]
  unregister(): Promise<void>
}

export interface FunctionOptions {
  server: ApiServer
  admin: ApiClient
  authority: CertificateAuthority
  directory: string
  provider: { name: string; options: object }
  /** Of its IngressClass. */
  className: string
}

export const WCP = join(import.meta.dirname, '../../../src/cli/main.js')
const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1'
/** Short, so that what is held is emptied while somebody looks. */
const GRACE_MS = 2_000

export async function installFunction(options: FunctionOptions): Promise<FunctionProcess> {
  const { server, admin, authority, provider, className } = options
  const directory = join(options.directory, `function-${className}`)
  const file = (name: string) => join(directory, name)
  const finalizer = `webhook-cloud-provider.dev/${className}`
  await mkdir(directory)
  const { certPem, keyPem } = await authority.issueServingCertificate(['127.0.0.1'])
  const kubeconfig = server.kubeconfig(await tokenOf(admin, 'webhook-cloud-provider'))
  const watchKubeconfig = server.kubeconfig(await tokenOf(admin, 'webhook-cloud-provider-watch'))
  await write({ 'tls.crt': certPem, 'tls.key': keyPem, 'ca.crt': authority.caPem })
  await write({ kubeconfig, 'watch-kubeconfig': watchKubeconfig })
  await createClass()
  const dispatcher = new Agent({ connect: { ca: authority.caPem }, headersTimeout: 0 })
  const runs: Child[] = []
  let port = 0

  async function write(files: Record<string, string>): Promise<void> {
    for (const [name, text] of Object.entries(files)) await writeFile(file(name), text, { mode: 0o600 })
  }

  function configFor(kubeconfigFile: string): string {
    return JSON.stringify({
      clusterId: 'balancers',
      provider,
      finalizer,
      callers: { anyone: true },
      identity: IDENTITY,
      ingressClass: { controller: finalizer, names: [className] },
      backends: { graceMs: GRACE_MS },
      kubernetes: { kubeconfig: file(kubeconfigFile) },
      server: { host: '127.0.0.1', port, tls: { certFile: file('tls.crt'), keyFile: file('tls.key') } },
      shutdown: { drainMs: 2_000 },
      // Nothing but what scenarios ask for.
      sweep: { intervalMs: 3_600_000 },
    })
  }

  async function createClass(): Promise<void> {
    await mustBe(
      201,
      admin.post('/apis/networking.k8s.io/v1/ingressclasses', {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'IngressClass',
        metadata: { name: className },
        spec: { controller: finalizer },
      }),
    )
  }

  async function register(): Promise<void> {
    const url = `https://127.0.0.1:${port}`
    const registration = { url, caPem: authority.caPem, finalizer, identity: IDENTITY }
    for (const configuration of webhookConfigurations(registration)) {
      const metadata = { name: `webhook-cloud-provider-${className}` }
      await mustBe(201, admin.post(collectionOf(configuration.kind), { ...configuration, metadata }))
    }
  }

  const run = (...parameters: string[]) => {
    const child = startChild([process.execPath, WCP, ...parameters], { cwd: directory })
    runs.push(child)
    return child
  }

  const functionProcess: FunctionProcess = {
    className,
    finalizer,
    async start() {
      const isFirst = port === 0
      await write({ 'config.json': configFor('kubeconfig') })
      const served = run('serve', '--config', file('config.json'))
      port = await eventually(() => {
        const serving = linesOf(served.output()).find(({ msg }) => msg === 'serving')
        if (serving === undefined) throw new Error(`the function does not serve:\n${served.output()}`)
        return Number(serving['port'])
      }, 20_000)
      if (isFirst) await register()
      await write({ 'watch.json': configFor('watch-kubeconfig') })
      const sink = `https://127.0.0.1:${port}/events`
      run('watch', '--config', file('watch.json'), '--sink', sink, '--ca', file('ca.crt'))
    },
    async kill() {
      await Promise.all(runs.map((child) => child.end('SIGKILL')))
    },
    async sweep() {
      const answer = await request(`https://127.0.0.1:${port}/sweep?scope=all`, { method: 'POST', dispatcher })
      const text = await answer.body.text()
      assert.equal(answer.statusCode, 200, `the sweep answers: ${text}`)
      return JSON.parse(text) as SweepReport
    },
    logged: () => runs.flatMap((child) => linesOf(child.output())),
    async unregister() {
      for (const kind of ['mutating', 'validating'])
        await admin.delete(`${CONFIGURATIONS}/${kind}webhookconfigurations/webhook-cloud-provider-${className}`)
      await dispatcher.destroy()
    },
  }
  return functionProcess
}

function collectionOf(kind: string): string {
  return `${CONFIGURATIONS}/${kind.toLowerCase()}s`
}

function linesOf(output: string): Record<string, unknown>[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}
