import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createPinoLogger } from '../adapters/logging/pino-logger.ts'
import { createSystemClock } from '../adapters/system/system-clock.ts'
import { createReplayWorld, type ReplayWorld } from '../compose/replay-world.ts'
import { type Answer, checkAnswer } from './check-answer.ts'
import type { Command, Console } from './console.ts'
import { type Fixture, FixtureInvalid, readFixture } from './fixture.ts'
import { createFunctionClient, type FunctionAddress, textHeaders } from './function-client.ts'
import { UsageError } from './usage-error.ts'

/** Sends recorded requests and shows the answers and what followed. Exit code 1 when an answer is not the expected one. */
export const replayCommand: Command = async (args, console) => {
  const { files, address } = parseReplayArgs(args)
  let faults = 0
  for (const file of files) {
    const fixture = await readNamed(file)
    console.out(`${fixture.request.method} ${fixture.request.path}   ${fixture.description}`)
    const answer =
      address === undefined ? await replayHere(fixture, console) : await replayThere(fixture, address, console)
    faults += showVerdict(fixture, answer, console)
  }
  return faults === 0 ? 0 : 1
}

function parseReplayArgs(args: string[]) {
  const text = { type: 'string' } as const
  const options = { url: text, ca: text, 'token-file': text }
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  if (positionals.length === 0)
    throw new UsageError('replay: name at least one fixture, e.g. test/fixtures/admission/notify-create.json')
  const { url, ca, 'token-file': tokenFile } = values
  return { files: positionals, address: url === undefined ? undefined : { url, ca, tokenFile } }
}

async function readNamed(file: string): Promise<Fixture> {
  try {
    return await readFixture(file)
  } catch (error) {
    if (error instanceof FixtureInvalid) throw new UsageError(error.message)
    const code = error instanceof Error && 'code' in error ? error.code : error
    throw new UsageError(`replay: ${file} cannot be read (${code})`)
  }
}

/** In this process: after a review that allowed it, the change is stored as the API server would, and worked on. */
async function replayHere(fixture: Fixture, console: Console): Promise<Answer> {
  const clock = createSystemClock()
  const logger = createPinoLogger({ level: 'warn', destination: { write: (line) => console.err(line.trimEnd()) } })
  const world = createReplayWorld({ clock, logger })
  const { method, path, headers, body } = fixture.request
  const response = await world.runtime.app.inject({ method: method as 'POST', url: path, headers, payload: body })
  const answer = { status: response.statusCode, headers: textHeaders(response.headers), body: response.body }
  showAnswer(answer, console)
  if (path.startsWith('/admission/') && isAllowed(answer)) {
    const stored = await world.commit(JSON.parse(body.toString()), JSON.parse(patchOf(answer.body) ?? '[]'))
    if (stored !== undefined) console.out(`  then    ${stored}`)
  }
  await settle(world)
  showWorld(world, console)
  await world.runtime.app.close()
  return answer
}

async function replayThere(fixture: Fixture, address: FunctionAddress, console: Console): Promise<Answer> {
  const client = createFunctionClient(address)
  const metrics = async () => counters((await client.send({ method: 'GET', path: '/metrics' })).body)
  try {
    const before = await metrics()
    const { body, ...rest } = fixture.request
    const answer = await client.send(rest.method === 'GET' ? rest : { ...rest, body })
    showAnswer(answer, console)
    await sleep(FOLLOWED_FOR_MS)
    showCounters(before, await metrics(), console)
    return answer
  } finally {
    await client.close()
  }
}

const FOLLOWED_FOR_MS = 1_000
const STEP_MS = 20

/** Until the queue is empty, or for a second: a change that was announced and never stored is waited for longer. */
async function settle({ runtime }: ReplayWorld): Promise<void> {
  for (let waited = 0; runtime.queue.size() > 0 && waited < FOLLOWED_FOR_MS; waited += STEP_MS) await sleep(STEP_MS)
}

function isAllowed({ status, body }: Answer): boolean {
  return status === 200 && (JSON.parse(body) as { response?: { allowed?: boolean } }).response?.allowed === true
}

function showAnswer({ status, headers, body }: Answer, { out }: Console): void {
  out(`  answer  ${status} ${headers['content-type'] ?? ''}`)
  if (body !== '') out(`          ${body.slice(0, 1_000)}`)
  const patch = patchOf(body)
  if (patch !== undefined) out(`  patch   ${patch}`)
}

function patchOf(body: string): string | undefined {
  const [, encoded] = /"patch":"([^"]*)"/.exec(body) ?? []
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString()
}

function showWorld({ runtime, core, provider }: ReplayWorld, { out }: Console): void {
  out(`  queue   ${runtime.queue.size()} keys waiting`)
  out(
    `  cloud   ${
      provider.cloud
        .calls()
        .map(({ method }) => method)
        .join(', ') || 'not called'
    }`,
  )
  for (const plural of ['multiclusteringresses', 'multiclusterservices']) {
    for (const { metadata, ['status']: status } of core.list({
      group: 'networking.karmada.io',
      version: 'v1alpha1',
      plural,
    }).items) {
      const finalizers = metadata.finalizers?.join(',') ?? 'none'
      out(
        `  object  ${plural}/${metadata.namespace}/${metadata.name} finalizers=${finalizers} status=${JSON.stringify(status ?? {})}`,
      )
    }
  }
}

function counters(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line.includes('_total') && !line.startsWith('#'))
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )
}

function showCounters(before: Map<string, number>, after: Map<string, number>, { out }: Console): void {
  for (const [name, value] of after) {
    const grown = value - (before.get(name) ?? 0)
    if (grown > 0 && !name.startsWith('http_requests_total{door="/metrics"')) out(`  counted +${grown} ${name}`)
  }
}

function showVerdict(fixture: Fixture, answer: Answer, { out }: Console): number {
  const faults = checkAnswer(fixture, answer)
  if (faults.length === 0) out('  as expected')
  for (const fault of faults) out(`  NOT AS EXPECTED  ${fault}`)
  return faults.length
}
