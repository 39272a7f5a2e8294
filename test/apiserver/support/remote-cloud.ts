import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { RetryAfter } from '../../../src/provider/errors.ts'
import type { MultiClusterProvider, ProviderContext } from '../../../src/provider/multicluster.ts'
import type { FakeCloud } from '../../../src/providers/fake/fake-cloud.ts'

const METHODS = ['get', 'ensure', 'update', 'ensureDeleted'] as const
type Method = (typeof METHODS)[number]

/** So that a process is killed in the middle of calls too. */
const LATENCY_MS = 5

/** - `throttle`: 429, nothing done. - `late`: 500, and done a moment after. */
export type Mood = 'throttle' | 'late' | undefined

/** What is done late is done within this time. */
const LATE_MS = 400

/** The fake cloud behind HTTP, for functions in processes of their own: it outlives them. */
export async function serveCloud(
  cloud: FakeCloud,
  moodFor: (method: Method) => Mood = () => undefined,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const method = METHODS.find((known) => incoming.url === `/${known}`)
    const context = JSON.parse(Buffer.concat(chunks).toString('utf8')) as ProviderContext
    if (method === undefined) return void response.writeHead(404).end()
    const act = () => cloud[method]({ ...context, signal: AbortSignal.timeout(10_000) })
    const mood = method === 'get' ? undefined : moodFor(method)
    if (mood === 'throttle') return void response.writeHead(429).end()
    if (mood === 'late') {
      setTimeout(() => void act(), LATE_MS)
      return void response.writeHead(500).end()
    }
    const result = await act()
    await pause(LATENCY_MS)
    response.end(JSON.stringify(result ?? null))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The fake provider, as far as its cloud can be reached over HTTP. */
export function remoteFakeProvider(url: string): MultiClusterProvider {
  const dispatcher = new Agent()
  const call = async (method: Method, { identity, fence, fingerprint, signal }: ProviderContext) => {
    const body = JSON.stringify({ identity, fence, fingerprint })
    const answer = await request(`${url}/${method}`, { method: 'POST', body, dispatcher, signal })
    if (answer.statusCode === 429) throw new RetryAfter(200, 'the cloud is busy')
    if (answer.statusCode !== 200) throw new Error(`the cloud answered ${answer.statusCode}`)
    return (await answer.body.json()) as never
  }
  const found = async (context: ProviderContext) => ((await call('get', context)) as unknown) ?? undefined
  const ensure = async (context: ProviderContext) => ({ status: await call('ensure', context), changed: true })
  return {
    name: 'fake',
    consistencyWindowMs: 2 * LATE_MS,
    loadBalancer: {
      getLoadBalancer: async (_ingress, context) => (await found(context)) as never,
      ensureLoadBalancer: (_ingress, context) => ensure(context),
      updateLoadBalancer: (_ingress, context) => call('update', context),
      ensureLoadBalancerDeleted: async (_ingress, context) => void (await call('ensureDeleted', context)),
    },
    mcsLoadBalancer: {
      getMCSLoadBalancer: async (_service, context) => (await found(context)) as never,
      ensureMCSLoadBalancer: (_service, context) => ensure(context),
      updateMCSLoadBalancer: (_service, context) => call('update', context),
      ensureMCSLoadBalancerDeleted: async (_service, context) => void (await call('ensureDeleted', context)),
    },
  }
}
