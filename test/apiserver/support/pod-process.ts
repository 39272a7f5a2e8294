import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ApiClient } from '../../contracts/kubernetes-api/api-client.ts'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import { WCP } from './reader-terminal.ts'

const NAME = 'webhook-cloud-provider'

/** What a kubelet would run. */
export interface PodProcess {
  output(): string
  /** As the kubelet stops a pod: it must end well. */
  stop(): Promise<void>
}

export interface PodOptions {
  /** Of a Deployment or a Knative Service that was applied. */
  workload: string
  /** Into which the folder of the pod is put. */
  directory: string
  /** What the platform sets beside the variables of the container. */
  environment: Record<string, string>
  /** What cannot be here as it is in a pod. */
  inConfiguration?: (text: string) => string
  /** Beside those of its volumes, in the directory in which it runs. */
  files?: Record<string, string>
}

/** The container of a workload as a process: with its arguments and variables, and its volumes as files. */
export async function startPod(admin: ApiClient, options: PodOptions): Promise<PodProcess> {
  const { workload, directory, environment, inConfiguration = (text) => text, files = {} } = options
  const { spec } = await mustBe(200, admin.get(workload))
  const { containers, volumes } = (spec as unknown as Workload).template.spec
  const container = containers[0] ?? assert.fail(`${workload} has no container`)
  const folder = await mkdtemp(join(directory, 'pod-'))
  const paths: [mounted: string, here: string][] = []
  for (const { name, mountPath, subPath } of container.volumeMounts) {
    const here = join(folder, name)
    const volume = volumes.find((each) => each.name === name) ?? assert.fail(`no volume ${name}`)
    await mkdir(here)
    for (const [file, bytes] of await filesOf(admin, volume)) await writeFile(join(here, file), bytes, { mode: 0o600 })
    paths.push([mountPath, subPath === undefined ? here : join(here, subPath)])
  }
  // The longest first: one may be within another.
  paths.sort(([a], [b]) => b.length - a.length)
  const asHere = (text: string) => paths.reduce((result, [mounted, here]) => result.replaceAll(mounted, here), text)
  const config = join(folder, 'config', 'config.yaml')
  const { data } = await mustBe(200, admin.get(`/api/v1/namespaces/${NAME}/configmaps/${NAME}`))
  const text = (data as Record<string, string>)['config.yaml'] ?? ''
  await writeFile(config, inConfiguration(asHere(text)))
  for (const [file, content] of Object.entries(files)) await writeFile(join(folder, file), content, { mode: 0o600 })
  const variables = (container.env ?? []).map(({ name, value }) => [name, asHere(value)])
  const args = container.args.map(asHere)
  const pod = startProcess(folder, args, { ...Object.fromEntries(variables), ...environment })
  await eventually(() => assert.match(pod.output(), /"msg":"serving"/), 20_000)
  return pod
}

interface Workload {
  template: {
    spec: {
      containers: {
        args: string[]
        env?: { name: string; value: string }[]
        volumeMounts: { name: string; mountPath: string; subPath?: string }[]
      }[]
      volumes: Volume[]
    }
  }
}

interface Volume {
  name: string
  configMap?: { name: string }
  secret?: { secretName: string; optional?: boolean }
}

async function filesOf(admin: ApiClient, { configMap, secret }: Volume): Promise<[string, Buffer][]> {
  const core = `/api/v1/namespaces/${NAME}`
  if (configMap !== undefined) {
    const { data } = await mustBe(200, admin.get(`${core}/configmaps/${configMap.name}`))
    return Object.entries(data as Record<string, string>).map(([file, text]) => [file, Buffer.from(text)])
  }
  const path = `${core}/secrets/${secret?.secretName}`
  if (secret?.optional === true && (await admin.get(path)).code === 404) return []
  const { data } = await mustBe(200, admin.get(path))
  return Object.entries(data as Record<string, string>).map(([file, text]) => [file, Buffer.from(text, 'base64')])
}

function startProcess(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [WCP, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env, cwd })
  const chunks: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => void chunks.push(String(chunk)))
  const dieWithUs = () => void child.kill('SIGKILL')
  process.once('exit', dieWithUs)
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return {
    output: () => chunks.join(''),
    async stop() {
      process.off('exit', dieWithUs)
      child.kill('SIGTERM')
      assert.equal(await ended, 0, `the function ended:\n${chunks.join('').slice(-2_000)}`)
    },
  }
}
