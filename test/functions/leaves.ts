import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { Answer } from '../../src/cli/check-answer.ts'
import type { FixtureRequest } from '../../src/cli/fixture.ts'
import { createFunctionClient } from '../../src/cli/function-client.ts'
import { createCertificateAuthority } from '../../src/local/create-certificate-authority.ts'
import { LAMBDA_FRONTS, type Returned } from '../support/lambda-events.ts'
import { startLambdaRuntimeApi } from '../support/lambda-runtime-api.ts'
import type { Capabilities } from './capabilities.ts'
import type { LeafBench } from './leaf-bench.ts'

const MIB = 1024 * 1024

/** A platform and its runtime, as npm brings it, with the bundle of its leaf in it. */
export interface Leaf {
  name: string
  can: Capabilities
  /** Bytes of a request as the platform counts them; of the body unless given. */
  sizeOf?(request: FixtureRequest): number
  open(context: LeafContext): Promise<OpenLeaf>
}

export interface LeafContext {
  /** Where the bundles are. */
  bundles: string
  bench: LeafBench
}

export interface OpenLeaf {
  send(request: FixtureRequest): Promise<Answer>
  close(): Promise<void>
}

const EVERYTHING: Capabilities = {
  paths: 'any',
  requestLimit: Number.POSITIVE_INFINITY,
  options: true,
  bytes: true,
  repeatedParameters: true,
  unreadEvents: true,
  malformed: true,
}

/** A body of text goes into the event as text, and its event has to fit as a whole. */
const IN_EVENTS: Capabilities = { ...EVERYTHING, requestLimit: 6 * MIB, bytes: false }

export const LEAVES: readonly Leaf[] = [
  { name: 'node', can: EVERYTHING, open: openNode },
  { name: 'knative', can: EVERYTHING, open: openKnative },
  {
    name: 'kn-func',
    can: {
      ...EVERYTHING,
      paths: 'root',
      // As its func.yaml sets it; 1 MiB by default.
      requestLimit: 7 * MIB,
      options: false,
      bytes: false,
      unreadEvents: false,
      malformed: false,
    },
    open: openKnFunc,
  },
  { name: 'google', can: { ...EVERYTHING, requestLimit: 32 * MIB, malformed: false }, open: openGoogle },
  ...Object.entries(LAMBDA_FRONTS).map(([front, { event }]): Leaf => {
    const isBalancer = front.startsWith('load balancer')
    return {
      name: `aws-lambda, ${front}`,
      can: {
        ...IN_EVENTS,
        ...(isBalancer && { requestLimit: MIB }),
        repeatedParameters: front !== 'load balancer',
      },
      sizeOf: (request) => (isBalancer ? request.body.length : Buffer.byteLength(JSON.stringify(event(request)))),
      open: (context) => openLambda(front, context),
    }
  }),
]

/** The doors over TLS of our own, as the API server calls them. */
async function openNode(context: LeafContext): Promise<OpenLeaf> {
  const folder = mkdtempSync(join(tmpdir(), 'leaf-'))
  const file = (name: string, content: string) => {
    const path = join(folder, name)
    writeFileSync(path, content, { mode: 0o600 })
    return path
  }
  const authority = createCertificateAuthority(Date.now())
  const { certPem, keyPem } = authority.issueServingCertificate(['127.0.0.1'])
  const tls = { certFile: file('tls.crt', certPem), keyFile: file('tls.key', keyPem) }
  const { WCP_CONFIG_YAML = '', ...environment } = context.bench.environment
  const config = JSON.parse(WCP_CONFIG_YAML)
  const WCP_CONFIG = file('config.yaml', JSON.stringify({ ...config, server: { ...config.server, tls } }))
  const leaf = await openServer(
    (port) => ({
      args: ['index.cjs'],
      folder: join(context.bundles, 'node'),
      env: { ...environment, WCP_CONFIG, PORT: port },
    }),
    { scheme: 'https', ca: file('ca.crt', authority.caPem) },
  )
  return {
    ...leaf,
    async close() {
      await leaf.close()
      rmSync(folder, { recursive: true })
    },
  }
}

function openKnative({ bundles, bench }: LeafContext): Promise<OpenLeaf> {
  return openServer((PORT) => ({
    args: ['index.cjs'],
    folder: join(bundles, 'knative'),
    env: { ...bench.environment, PORT, K_SERVICE: 'function' },
  }))
}

function openGoogle({ bundles, bench }: LeafContext): Promise<OpenLeaf> {
  const framework = createRequire(import.meta.url).resolve('@google-cloud/functions-framework')
  return openServer((PORT) => ({
    args: [join(framework, '../main.js')],
    folder: join(bundles, 'google'),
    env: { ...bench.environment, PORT, FUNCTION_TARGET: 'webhookCloudProvider', K_SERVICE: 'function' },
  }))
}

const KN_DOORS = ['mutate', 'validate', 'notify'] as const

/** Three functions, each at its own `/`, as the platform routes to them. */
async function openKnFunc({ bundles, bench }: LeafContext): Promise<OpenLeaf> {
  const runtime = join(createRequire(import.meta.url).resolve('faas-js-runtime'), '../bin/cli.js')
  const open = await Promise.all(
    KN_DOORS.map(async (door) => {
      const folder = join(bundles, 'kn-func', door)
      const env = { ...bench.environment, ...variablesOf(join(folder, 'func.yaml')), K_SERVICE: door }
      const leaf = await openServer((port) => ({
        args: [runtime, 'index.cjs'],
        folder,
        env: { ...env, FUNC_PORT: port },
      }))
      return [door, leaf] as const
    }),
  )
  const leaves = new Map<string, OpenLeaf>(open)
  return {
    send({ path, ...request }) {
      const url = new URL(path, 'http://function')
      const door = url.pathname === '/events' ? 'notify' : (url.pathname.split('/').at(-1) ?? '')
      const leaf = leaves.get(door)
      if (leaf === undefined) throw new TypeError(`no function stands for ${path}`)
      return leaf.send({ ...request, path: `/${url.search}` })
    },
    async close() {
      for (const leaf of leaves.values()) await leaf.close()
    },
  }
}

/** What `func` sets in the container. */
function variablesOf(file: string): Record<string, string> {
  const { run } = parse(readFileSync(file, 'utf8')) as { run: { envs: { name: string; value: string }[] } }
  return Object.fromEntries(run.envs.map(({ name, value }) => [name, value]))
}

/** Where `npm ci --prefix test/functions/lambda-runtime` puts the runtime of AWS, which is compiled on installing. */
const LAMBDA_RUNTIME = join(import.meta.dirname, 'lambda-runtime/node_modules/aws-lambda-ric')

/** Whether the handler is run by AWS's own runtime, or, where that is not built, by our loop over the same API. */
export const lambdaRuntime = existsSync(join(LAMBDA_RUNTIME, 'rapid-client.node')) ? 'aws-lambda-ric' : 'a loop of ours'

async function openLambda(front: string, { bundles, bench }: LeafContext): Promise<OpenLeaf> {
  const folder = join(bundles, 'aws-lambda')
  const api = await startLambdaRuntimeApi()
  const args =
    lambdaRuntime === 'aws-lambda-ric'
      ? [join(LAMBDA_RUNTIME, 'index.mjs')]
      : [join(import.meta.dirname, '../support/lambda-loop.ts'), join(folder, 'index.cjs')]
  const child = start({
    args,
    folder,
    env: {
      ...bench.environment,
      _HANDLER: 'index.handler',
      AWS_LAMBDA_RUNTIME_API: api.address,
      AWS_LAMBDA_FUNCTION_NAME: 'webhook-cloud-provider',
      AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '256',
      AWS_LAMBDA_LOG_GROUP_NAME: '/aws/lambda/webhook-cloud-provider',
      AWS_LAMBDA_LOG_STREAM_NAME: 'test',
      AWS_REGION: 'eu-west-1',
      LAMBDA_TASK_ROOT: folder,
    },
  })
  const { event, answer } = LAMBDA_FRONTS[front] ?? unknownFront(front)
  return {
    send: async (request) => answer((await Promise.race([api.invoke(event(request)), child.failed])) as Returned),
    async close() {
      await child.stop()
      await api.close()
    },
  }
}

function unknownFront(front: string): never {
  throw new TypeError(`no front of AWS Lambda is called ${front}`)
}

interface Command {
  args: string[]
  folder: string
  env: Record<string, string>
}

interface Started {
  /** Rejects when the process ends before it is stopped, with what it said. */
  failed: Promise<never>
  stop(): Promise<void>
}

function start({ args, folder, env }: Command): Started {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-4_000)
    })
  }
  const ended = new Promise<void>((resolve) => void child.once('close', () => resolve()))
  const failed = ended.then((): never => {
    throw new Error(`the leaf ended (${child.exitCode ?? child.signalCode}): ${said}`)
  })
  failed.catch(() => {})
  return { failed, stop: () => stop(child, ended) }
}

const PATIENCE_MS = 10_000

async function stop(child: ChildProcess, ended: Promise<void>): Promise<void> {
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
  await ended
  clearTimeout(timer)
}

/** A leaf that listens: started on a free port, and ready when it answers at all. */
async function openServer(
  command: (port: string) => Command,
  { scheme, ca }: { scheme: 'http' | 'https'; ca?: string } = { scheme: 'http' },
): Promise<OpenLeaf> {
  const port = String(await freePort())
  const child = start(command(port))
  const client = createFunctionClient({ url: `${scheme}://127.0.0.1:${port}`, ca })
  const answers = async () => {
    for (;;) {
      if (
        await client.send({ method: 'GET', path: '/' }).then(
          () => true,
          () => false,
        )
      )
        return
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  await Promise.race([answers(), child.failed])
  return {
    send: ({ body, ...request }) =>
      client.send(request.method === 'GET' || request.method === 'OPTIONS' ? request : { ...request, body }),
    async close() {
      await client.close()
      await child.stop()
    },
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
