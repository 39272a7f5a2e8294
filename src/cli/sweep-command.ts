import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { Agent, request } from 'undici'
import type { SweepReport } from '../domain/sweep-report.ts'
import type { Command } from './console.ts'
import { UsageError } from './usage-error.ts'

/** Calls the sweep door until the sweep is through; for cron jobs. Exit code 1 when an object failed. */
export const sweepCommand: Command = async (args, console) => {
  const { url, scope, ca } = parseSweepArgs(args)
  const dispatcher = new Agent(ca === undefined ? {} : { connect: { ca: readFileSync(ca, 'utf8') } })
  let failed = 0
  let token: string | undefined
  do {
    const report = await sweepOnce(dispatcher, url, scope, token)
    failed += report.outcomes.failed
    console.out(JSON.stringify(report))
    token = report.continue
  } while (token !== undefined)
  await dispatcher.close()
  return failed === 0 ? 0 : 1
}

function parseSweepArgs(args: string[]) {
  const { values } = parseArgs({
    args,
    options: { url: { type: 'string' }, scope: { type: 'string', default: 'all' }, ca: { type: 'string' } },
  })
  if (values.url === undefined || !URL.canParse(values.url))
    throw new UsageError('sweep: --url must be the URL of the function')
  return { url: values.url.replace(/\/$/, ''), scope: values.scope, ca: values.ca }
}

async function sweepOnce(
  dispatcher: Agent,
  url: string,
  scope: string,
  token: string | undefined,
): Promise<SweepReport> {
  const query = new URLSearchParams({ scope, ...(token === undefined ? {} : { continue: token }) })
  const response = await request(`${url}/sweep?${query}`, { method: 'POST', dispatcher })
  const text = await response.body.text()
  const report = response.statusCode === 200 || response.statusCode === 503 ? parseReport(text) : undefined
  if (report === undefined) throw new Error(`the sweep was answered ${response.statusCode}: ${text.slice(0, 300)}`)
  return report
}

/** A 503 without a report comes from a proxy, or from a function that is shutting down. */
function parseReport(text: string): SweepReport | undefined {
  const body: unknown = JSON.parse(text)
  return typeof body === 'object' && body !== null && 'outcomes' in body ? (body as SweepReport) : undefined
}
