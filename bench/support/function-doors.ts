import { Agent, request } from 'undici'
import type { MultiClusterIngress } from '../../src/domain/multi-cluster-ingress.ts'
import type { SweepReport } from '../../src/domain/sweep-report.ts'
import { buildReview } from '../../test/support/build-review.ts'

/** The doors of a function on this machine, on ten kept connections. */
export interface FunctionDoors {
  /** Reviews of these ingresses, as when they were created. */
  notify(ingresses: readonly MultiClusterIngress[]): Promise<void>
  /** A whole sweep, however many calls it takes. */
  sweep(): Promise<SweepReport['outcomes']>
  close(): Promise<void>
}

const CONNECTIONS = 10

export function openDoors(port: number, caPem: string): FunctionDoors {
  const dispatcher = new Agent({ connect: { ca: caPem }, connections: CONNECTIONS, headersTimeout: 120_000 })
  const post = async (path: string, body?: string) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await request(`https://127.0.0.1:${port}${path}`, {
      dispatcher,
      method: 'POST',
      headers,
      body: body ?? null,
    })
    const text = await answer.body.text()
    if (answer.statusCode !== 200 && answer.statusCode !== 503) throw new Error(`${path}: ${answer.statusCode} ${text}`)
    return JSON.parse(text)
  }
  return {
    async notify(ingresses) {
      const reviews = ingresses.map((ingress) => JSON.stringify(buildReview('CREATE', ingress)))
      await Promise.all(reviews.map((review) => post('/admission/notify', review)))
    },
    async sweep() {
      const total = { settled: 0, gone: 0, ignored: 0, later: 0, failed: 0 }
      let token: string | undefined
      do {
        const query = token === undefined ? '' : `?continue=${encodeURIComponent(token)}`
        const report: SweepReport = await post(`/sweep${query}`)
        for (const outcome of ['settled', 'gone', 'ignored', 'later', 'failed'] as const)
          total[outcome] += report.outcomes[outcome]
        token = report.continue
      } while (token !== undefined)
      return total
    },
    close: () => dispatcher.close(),
  }
}
