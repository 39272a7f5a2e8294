import { parseArgs } from 'node:util'
import type { SweepReport } from '../domain/sweep-report.ts'
import { CommandFailed } from './command-failed.ts'
import type { Command } from './console.ts'
import { createFunctionClient, type FunctionClient } from './function-client.ts'
import { UsageError } from './usage-error.ts'

/** Calls the sweep door until the sweep is through; for cron jobs. Exit code 1 when an object failed. */
export const sweepCommand: Command = async (args, console) => {
  const { scope, ...address } = parseSweepArgs(args)
  const client = createFunctionClient(address)
  let failed = 0
  let token: string | undefined
  try {
    do {
      const report = await sweepOnce(client, scope, token)
      failed += report.outcomes.failed
      console.out(JSON.stringify(report))
      if (report.continue !== undefined && report.continue === token) {
        throw new CommandFailed('the sweep does not get on: it was sent back to where it began')
      }
      token = report.continue
    } while (token !== undefined)
  } finally {
    await client.close()
  }
  return failed === 0 ? 0 : 1
}

function parseSweepArgs(args: string[]) {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args,
    options: { url: text, scope: { ...text, default: 'all' }, ca: text, 'token-file': text },
  })
  if (values.url === undefined) throw new UsageError('sweep: --url must be the URL of the function')
  return { url: values.url, scope: values.scope, ca: values.ca, tokenFile: values['token-file'] }
}

async function sweepOnce(client: FunctionClient, scope: string, token: string | undefined): Promise<SweepReport> {
  const query = new URLSearchParams({ scope, ...(token === undefined ? {} : { continue: token }) })
  const { status, body } = await client.send({ method: 'POST', path: `/sweep?${query}` })
  const report = status === 200 || status === 503 ? parseReport(body) : undefined
  if (report !== undefined) return report
  const message = `the sweep was answered ${status}: ${body.slice(0, 300)}`
  if (status === 401) throw new CommandFailed(`${message}; give the token of the sweep door with --token-file`)
  throw status === 400 ? new UsageError(message) : new CommandFailed(message)
}

/** A 503 without a report comes from a proxy, or from a function that is shutting down. */
function parseReport(text: string): SweepReport | undefined {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null && 'outcomes' in body ? (body as SweepReport) : undefined
  } catch {
    return undefined
  }
}
