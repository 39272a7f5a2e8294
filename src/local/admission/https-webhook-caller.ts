import { Agent } from 'undici'
import type { CallWebhook } from './call-webhook.ts'

export interface HttpsWebhookCaller {
  callWebhook: CallWebhook
  close(): Promise<void>
}

const KEEP_ALIVE_MS = 90_000
const MOST_AGENTS = 200

/** HTTP/1.1 with kept-alive connections, as the API server calls (protocols §1.1): one pool for each caBundle. */
export function createHttpsWebhookCaller(): HttpsWebhookCaller {
  const agents = new Map<string, Agent>()

  return {
    async callWebhook(url, caBundle, review, timeoutMs) {
      const target = new URL(url)
      const response = await agentFor(caBundle).request({
        origin: target.origin,
        path: `${target.pathname}${target.search}`,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, */*',
          'user-agent': 'kube-apiserver-admission',
        },
        body: JSON.stringify(review),
        signal: AbortSignal.timeout(Math.max(1, timeoutMs)),
      })
      const headers = Object.entries(response.headers).map(([name, value]) => [name, String(value)])
      return {
        status: response.statusCode,
        headers: Object.fromEntries(headers) as Record<string, string>,
        body: await response.body.text(),
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
