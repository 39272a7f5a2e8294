import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { createCertificateAuthority } from '../../src/adapters/certificates/certificate-authority.ts'
import { LAMBDA_FRONTS, type LambdaFront, type Returned } from '../support/lambda-events.ts'
import { startLambdaRuntimeApi } from '../support/lambda-runtime-api.ts'
import { EVERYTHING } from './capabilities.ts'
import type { Leaf, LeafContext, OpenLeaf } from './leaf.ts'
import { startLeafProcess } from './leaf-process.ts'
import { openServer } from './open-server.ts'

const MIB = 1024 * 1024

const AT_THE_INGRESS = 'no: TLS ends at the ingress'
const KNATIVE = {
  afterTheAnswer: 'while the instance lives: `min-scale: 1`',
  clientCertificates: AT_THE_INGRESS,
  delivery: '`cloudevents` to a Broker, whose Trigger calls `/events`',
}

export const LEAVES: readonly Leaf[] = [
  {
    name: 'node',
    can: EVERYTHING,
    facts: {
      runtime: 'Node, HTTPS',
      largestRequest: '7 MiB',
      afterTheAnswer: 'yes',
      clientCertificates: 'yes: TLS ends here',
      delivery: '`memory` for one instance, `jetstream` for more',
    },
    open: openNode,
  },
  {
    name: 'knative',
    can: EVERYTHING,
    facts: { ...KNATIVE, runtime: 'Node, HTTP on `$PORT`', largestRequest: '7 MiB' },
    open: openKnative,
  },
  {
    name: 'kn-func',
    can: {
      ...EVERYTHING,
      paths: 'root',
      // As its func.yaml sets it.
      requestLimit: 7 * MIB,
      options: false,
      bytes: false,
      unreadEvents: false,
      malformed: false,
    },
    facts: {
      ...KNATIVE,
      runtime: 'faas-js-runtime 4.0.1',
      largestRequest: '1 MiB; 7 MiB with `FUNC_BODY_LIMIT`, as our func.yaml sets it',
      delivery: '`cloudevents` to a Broker, whose Trigger calls the function `work`',
    },
    open: openKnFunc,
  },
  {
    name: 'google',
    can: { ...EVERYTHING, requestLimit: 32 * MIB, malformed: false },
    facts: {
      runtime: '@google-cloud/functions-framework 5.0.5',
      largestRequest: '7 MiB (the service takes 32 MiB)',
      afterTheAnswer: 'only with CPU always allocated; else nearly none',
      clientCertificates: 'no: TLS ends at Google',
      delivery: '`cloudevents` to a durable sink that calls `/events`',
    },
    open: openGoogle,
  },
  ...Object.entries(LAMBDA_FRONTS).map(([name, front]) => lambdaLeaf(name, front)),
]

function lambdaLeaf(name: string, front: LambdaFront): Leaf {
  const isBalancer = name.startsWith('load balancer')
  return {
    name: `aws-lambda, ${name}`,
    can: {
      ...EVERYTHING,
      requestLimit: isBalancer ? MIB : 6 * MIB,
      bytes: 'in base64',
      repeatedParameters: name !== 'load balancer',
    },
    facts: {
      runtime: 'aws-lambda-ric 4.0.2',
      largestRequest: isBalancer ? '1 MB' : '6 MB for the whole event; base64 takes a third more',
      afterTheAnswer: 'no: the process is frozen',
      clientCertificates: /API/.test(name)
        ? 'no; the gateway can ask for them on a domain of yours'
        : 'no: TLS ends at AWS',
      delivery: '`cloudevents` to a durable sink that calls `/events`, or `jetstream` with a `node` that works on it',
    },
    sizeOf: (request) => (isBalancer ? request.body.length : Buffer.byteLength(JSON.stringify(front.event(request)))),
    open: (context) => openLambda(front, context),
  }
}

/** The doors over TLS of our own, as the API server calls them. */
async function openNode({ bundles, bench, settings }: LeafContext): Promise<OpenLeaf> {
  const folder = mkdtempSync(join(tmpdir(), 'leaf-'))
  const file = (name: string, content: string) => {
    const path = join(folder, name)
    writeFileSync(path, content, { mode: 0o600 })
    return path
  }
  const authority = await createCertificateAuthority(Date.now())
  const { certPem, keyPem } = await authority.issueServingCertificate(['127.0.0.1'])
  const tls = { certFile: file('tls.crt', certPem), keyFile: file('tls.key', keyPem) }
  const { WCP_CONFIG_YAML = '', ...rest } = bench.environment({ server: { host: '127.0.0.1', tls }, ...settings })
  const env = { ...rest, WCP_CONFIG: file('config.yaml', WCP_CONFIG_YAML) }
  const command = (PORT: string) => ({
    args: ['index.cjs'],
    folder: join(bundles, 'node'),
    env: { ...env, PORT },
  })
  const leaf = await openServer(command, { scheme: 'https', ca: file('ca.crt', authority.caPem) })
  return {
    ...leaf,
    async close() {
      const code = await leaf.close()
      rmSync(folder, { recursive: true })
      return code
    },
  }
}

function openKnative({ bundles, bench, settings }: LeafContext): Promise<OpenLeaf> {
  return openServer((PORT) => ({
    args: ['index.cjs'],
    folder: join(bundles, 'knative'),
    env: { ...bench.environment(settings), PORT, K_SERVICE: 'function' },
  }))
}

const { resolve } = createRequire(import.meta.url)

function openGoogle({ bundles, bench, settings }: LeafContext): Promise<OpenLeaf> {
  return openServer((PORT) => ({
    args: [join(resolve('@google-cloud/functions-framework'), '../main.js')],
    folder: join(bundles, 'google'),
    env: {
      ...bench.environment(settings),
      PORT,
      FUNCTION_TARGET: 'webhookCloudProvider',
      K_SERVICE: 'function',
      NODE_ENV: 'production',
    },
  }))
}

/** Four functions, each at its own `/`, as the platform routes to them; other paths go to one of them as they are. */
async function openKnFunc({ bundles, bench, settings }: LeafContext): Promise<OpenLeaf> {
  const runtime = join(resolve('faas-js-runtime'), '../bin/cli.js')
  const open = async (door: string) => {
    const folder = join(bundles, 'kn-func', door)
    const env = { ...bench.environment(settings), ...variablesOf(join(folder, 'func.yaml')), K_SERVICE: door }
    return openServer((FUNC_PORT) => ({ args: [runtime, 'index.cjs'], folder, env: { ...env, FUNC_PORT } }))
  }
  const opening = [open('mutate'), open('validate'), open('notify'), open('work')] as const
  const [mutate, validate, notify, work] = await Promise.all(opening).catch(async (error) => {
    // One that cannot start must not leave the others behind.
    for (const each of await Promise.allSettled(opening)) if (each.status === 'fulfilled') await each.value.close()
    throw error
  })
  const functions: Record<string, OpenLeaf> = {
    '/admission/mutate': mutate,
    '/admission/validate': validate,
    '/admission/notify': notify,
    '/events': work,
  }
  return {
    send(request) {
      const [path = '', query] = request.path.split('?')
      const found = functions[path]
      if (found === undefined) return notify.send(request)
      return found.send({ ...request, path: query === undefined ? '/' : `/?${query}` })
    },
    async close() {
      const codes = await Promise.all(Object.values(functions).map((each) => each.close()))
      return codes.find((code) => code !== 0) ?? 0
    },
  }
}

/** What `func` sets in the container. */
function variablesOf(file: string): Record<string, string> {
  const { run } = parse(readFileSync(file, 'utf8')) as { run: { envs: { name: string; value: string }[] } }
  return Object.fromEntries(run.envs.map(({ name, value }) => [name, value]))
}

/** Where `npm ci --prefix tools/lambda-runtime` puts the runtime of AWS, which is compiled on installing. */
const LAMBDA_RUNTIME = join(import.meta.dirname, '../../tools/lambda-runtime/node_modules/aws-lambda-ric')

/** Whether AWS's own runtime runs the handler, or, where that is not built, a loop of ours over the same API. */
export const hasLambdaRuntime = existsSync(join(LAMBDA_RUNTIME, 'rapid-client.node'))

async function openLambda(
  { event, answer }: LambdaFront,
  { bundles, bench, settings }: LeafContext,
): Promise<OpenLeaf> {
  const folder = join(bundles, 'aws-lambda')
  const api = await startLambdaRuntimeApi()
  const loop = join(import.meta.dirname, '../support/lambda-loop.ts')
  const runtime = startLeafProcess({
    args: hasLambdaRuntime ? [join(LAMBDA_RUNTIME, 'index.mjs')] : [loop, join(folder, 'index.cjs')],
    folder,
    env: {
      ...bench.environment(settings),
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
  return {
    send: async (request) => answer((await Promise.race([api.invoke(event(request)), runtime.failed])) as Returned),
    async close() {
      const code = await runtime.stop()
      await api.close()
      return code
    },
  }
}
