import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { Agent } from 'undici'
import type { CallWebhook, WebhookAnswer } from './call-webhook.ts'

export interface HttpsWebhookCaller {
  callWebhook: CallWebhook
  close(): Promise<void>
}

const KEEP_ALIVE_MS = 90_000
const MOST_AGENTS = 200
const MOST_REDIRECTS = 10

const unzip = promisify(gunzip)

type Answered = Awaited<ReturnType<Agent['request']>>

/** HTTP/1.1 with kept-alive connections, as the API server calls (protocols §1.1): one pool for each caBundle. */
export function createHttpsWebhookCaller(): HttpsWebhookCaller {
  const agents = new Map<string, Agent>()

  return {
    async callWebhook(url, caBundle, review, timeoutMs) {
      const agent = agentFor(caBundle)
      const signal = AbortSignal.timeout(Math.max(1, timeoutMs))
      let target = new URL(url)
      let body: string | undefined = JSON.stringify(review)
      for (let redirects = 0; ; redirects++) {
        const response = await send(agent, target, body, signal)
        const next = redirectOf(response, target)
        if (next === undefined) return await answerOf(response)
        if (redirects === MOST_REDIRECTS) throw new Error(`stopped after ${MOST_REDIRECTS} redirects`)
        await response.body.dump()
        target = next
        if (!keepsMethod(response)) body = undefined
      }
    },
    async close() {
      const open = [...agents.values()]
      agents.clear()
      await Promise.all(open.map((agent) => agent.destroy()))
    },
  }

  function agentFor(caBundle: string): Agent {
    const known = agents.get(caBundle)
    if (known !== undefined) return known
    if (agents.size >= MOST_AGENTS) forgetOldest()
    const agent = new Agent({
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      allowH2: false,
      connect: { ...(caBundle === '' ? {} : { ca: caBundle }), allowH2: false },
    })
    agents.set(caBundle, agent)
    return agent
  }

  function forgetOldest(): void {
    const [oldest] = agents
    if (oldest === undefined) return
    agents.delete(oldest[0])
    void oldest[1].close()
  }
}

/** A POST of the body, or a GET where a redirect has taken it away. */
function send(agent: Agent, url: URL, body: string | undefined, signal: AbortSignal): Promise<Answered> {
  return agent.request({
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      accept: 'application/json, */*',
      'accept-encoding': 'gzip',
      'user-agent': 'kube-apiserver-admission',
    },
    ...(body === undefined ? {} : { body }),
    signal,
  })
}

/** Go's client follows redirects; 307 and 308 keep method and body, the others make a GET of it. */
function redirectOf({ statusCode, headers }: Answered, from: URL): URL | undefined {
  const { location } = headers
  const isRedirect = [301, 302, 303, 307, 308].includes(statusCode)
  return isRedirect && typeof location === 'string' && location !== '' ? new URL(location, from) : undefined
}

function keepsMethod({ statusCode }: Answered): boolean {
  return statusCode === 307 || statusCode === 308
}

async function answerOf({ statusCode, headers, body }: Answered): Promise<WebhookAnswer> {
  const bytes = Buffer.from(await body.arrayBuffer())
  const isZipped = String(headers['content-encoding']).toLowerCase() === 'gzip' && bytes.length > 0
  const texts = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
  return {
    status: statusCode,
    headers: Object.fromEntries(texts),
    body: (isZipped ? await unzip(bytes) : bytes).toString(),
  }
}
