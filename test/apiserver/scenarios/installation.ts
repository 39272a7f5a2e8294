import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmod, mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import { scriptsOf } from '../../support/doc-commands.ts'
import { pathWith } from '../../support/walk-through.ts'
import type { Scenario, ScenarioContext } from '../scenario.ts'
import { addressesOf, ingressPath } from '../support/balanced-objects.ts'
import { withNamespaceController } from '../support/namespace-controller.ts'

const ROOT = join(import.meta.dirname, '../../..')
const WCP = join(ROOT, 'src/cli/main.js')
const DOCUMENT = 'docs/install.md'
const NAME = 'webhook-cloud-provider'
const MOUNTED_AT = '/etc/webhook-cloud-provider'
const SCRIPT_MS = 120_000

/**
 * The commands of docs/install.md for Karmada with a plain Deployment, from the certificate to the last deletion. Both
 * API servers are this one; what a kubelet would run from the Deployment is a process here, with the files that its pod
 * would see.
 */
export const scenario: Scenario = {
  name: 'installation, word for word: applied, a sample served, uninstalled, and nothing is left',
  async run(context) {
    const { admin, log } = context
    await withNamespaceController(admin, async () => {
      await removeWhatOthersLeft(context)
      const { run, directory, port } = await openTerminal(context)
      const installation = scriptsOf(DOCUMENT, 'installation')
      const uninstallation = scriptsOf(DOCUMENT, 'uninstallation')
      assert.deepEqual([installation.length, uninstallation.length], [4, 2], 'scripts of the document')
      const [makeCertificate = '', tellKarmada = '', tellHost = '', serveSample = ''] = installation
      for (const script of [makeCertificate, tellKarmada, tellHost]) await run(script)
      const pod = await startPod(context, directory, port)
      try {
        await run(serveSample)
        await sampleIsServed(context)
        const [stopBeingAsked = '', removeTheRest = ''] = uninstallation
        await run(stopBeingAsked)
        await pod.stop()
        await run(removeTheRest)
      } catch (error) {
        for (const line of pod.output().split('\n').slice(-15)) log(line)
        throw error
      } finally {
        await pod.stop()
      }
      await nothingIsLeft(context)
      log(`${installation.length + uninstallation.length} scripts, nothing left`)
    })
  },
}

/** Other scenarios share the names, and an object that was not made by `kubectl apply` draws a warning. */
async function removeWhatOthersLeft({ kubectl }: ScenarioContext): Promise<void> {
  await kubectl(['delete', '--ignore-not-found', 'namespace', NAME, 'shop'])
  await kubectl(['delete', '--ignore-not-found', 'ingressclass', 'fake'])
  await kubectl(['delete', '--ignore-not-found', 'clusterrole,clusterrolebinding', NAME])
}

/** A shell as the document's reader has it, in an empty directory, with what is said at its beginning said for here. */
async function openTerminal({ server }: ScenarioContext) {
  const directory = await mkdtemp(join(server.directory, 'installation-'))
  const programs = join(directory, 'bin')
  await mkdir(programs)
  await writeFile(join(programs, 'wcp'), `#!/bin/sh\nexec '${process.execPath}' '${WCP}' "$@"\n`)
  await chmod(join(programs, 'wcp'), 0o755)
  await symlink(join(ROOT, 'manifests'), join(directory, 'manifests'))
  const port = await freePort()
  const env = {
    PATH: `${programs}:${pathWith(server.kubectl)}`,
    HOME: directory,
    HOST: server.kubeconfigPath,
    KARMADA: server.kubeconfigPath,
    KARMADA_SERVER: server.url,
    IMAGE: 'registry.example.com/webhook-cloud-provider:0.1.0',
    NAMES: 'IP:127.0.0.1',
    URL: `https://127.0.0.1:${port}/a-secret-path`,
  }
  return { directory, port, run: (script: string) => runScript(script, directory, env) }
}

function runScript(script: string, cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: SCRIPT_MS,
    })
    const chunks: string[] = []
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => void chunks.push(String(chunk)))
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve()
      else reject(new Error(`exit ${code}:\n${script}\n\n${chunks.join('')}`))
    })
  })
}

/** What the kubelet does with the Deployment: ConfigMap and Secrets become files, and its arguments a process. */
async function startPod({ admin }: ScenarioContext, directory: string, port: number) {
  const home = join(directory, 'pod')
  await mkdir(join(home, 'tls'), { recursive: true })
  const objectAt = (path: string) => mustBe(200, admin.get(path))
  const core = `/api/v1/namespaces/${NAME}`
  const { data } = await objectAt(`${core}/configmaps/${NAME}`)
  const config = (data as Record<string, string>)['config.yaml'] ?? ''
  await writeFile(join(home, 'config.yaml'), config.replaceAll(MOUNTED_AT, home))
  for (const [secret, folder] of [
    [`${NAME}-karmada`, home],
    [`${NAME}-tls`, join(home, 'tls')],
  ] as const) {
    const stored = (await objectAt(`${core}/secrets/${secret}`))['data'] as Record<string, string>
    for (const [file, text] of Object.entries(stored))
      await writeFile(join(folder, file), Buffer.from(text, 'base64'), { mode: 0o600 })
  }
  const { spec } = await objectAt(`/apis/apps/v1/namespaces/${NAME}/deployments/${NAME}`)
  const [container] = (spec as unknown as Deployment).template.spec.containers
  const args = (container?.args ?? []).map((arg) => arg.replace(MOUNTED_AT, home))
  const pod = startProcess(args, { KUBECONFIG: join(home, 'kubeconfig'), PORT: String(port) })
  await eventually(() => assert.match(pod.output(), /"msg":"serving"/), 20_000)
  return pod
}

interface Deployment {
  template: { spec: { containers: { args: string[] }[] } }
}

function startProcess(args: readonly string[], env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [WCP, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env })
  const chunks: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => void chunks.push(String(chunk)))
  const dieWithUs = () => void child.kill('SIGKILL')
  process.once('exit', dieWithUs)
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return {
    output: () => chunks.join(''),
    /** As the kubelet stops a pod. */
    async stop() {
      process.off('exit', dieWithUs)
      child.kill('SIGTERM')
      assert.equal(await ended, 0, `the function ended:\n${chunks.join('').slice(-2_000)}`)
    },
  }
}

async function sampleIsServed({ admin, kubectl }: ScenarioContext): Promise<void> {
  const served = await mustBe(200, admin.get(ingressPath('shop', 'storefront')))
  assert.equal(addressesOf(served).length, 1)
  assert.deepEqual(served.metadata.finalizers, ['webhook-cloud-provider.dev/fake'])
  const configurations = await kubectl([
    'get',
    'mutatingwebhookconfigurations,validatingwebhookconfigurations',
    '-o',
    'jsonpath={.items[*].webhooks[*].clientConfig.url}',
  ])
  assert.match(configurations.stdout, /a-secret-path\/admission\/mutate/)
  // The reviews came, not only a sweep: none is running here.
  await eventually(async () => {
    const { stdout } = await kubectl(['get', 'events', '-n', 'shop', '-o', 'jsonpath={.items[*].reason}'])
    assert.match(stdout, /EnsuredLoadBalancer/)
  })
}

async function nothingIsLeft({ admin, kubectl }: ScenarioContext): Promise<void> {
  for (const name of [NAME, 'shop'])
    await eventually(() => mustBe(404, admin.get(`/api/v1/namespaces/${name}`)), 20_000)
  const { stdout } = await kubectl(['api-resources', '--verbs=list', '-o', 'name'])
  const kinds = stdout.split('\n').filter(Boolean).join(',')
  const label = `app.kubernetes.io/part-of=${NAME}`
  const left = await kubectl(['get', kinds, '--all-namespaces', '-l', label, '-o', 'name', '--ignore-not-found'])
  assert.equal(left.stdout, '', 'labelled as ours')
  const ours = await kubectl([
    'get',
    'mutatingwebhookconfigurations,validatingwebhookconfigurations,clusterroles,clusterrolebindings,ingressclasses',
    '-o',
    'name',
  ])
  const named = ours.stdout.split('\n').filter((line) => line.endsWith(`/${NAME}`) || line.endsWith('/fake'))
  assert.deepEqual(named, [], 'named as ours')
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
