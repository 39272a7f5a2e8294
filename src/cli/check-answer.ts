import { isDeepStrictEqual } from 'node:util'
import type { ExpectedHint, ExpectedWork, Fixture } from './fixture.ts'

export interface Answer {
  status: number
  /** Names in lower case. */
  headers: Readonly<Record<string, string | undefined>>
  body: string
}

/** What was queued, as far as a fixture can name it. */
export interface QueuedWork {
  key: string
  hints: (Omit<ExpectedHint, 'waits'> & { waitUntil?: number })[]
}

/** Where the answer is not what the fixture expects, one line each; none when it is. */
export function checkAnswer({ expect }: Pick<Fixture, 'expect'>, answer: Answer): string[] {
  const faults: string[] = []
  if (answer.status !== expect.status) {
    faults.push(`status: expected ${expect.status}, got ${answer.status} ${answer.body.slice(0, 300)}`)
  }
  for (const [name, value] of Object.entries(expect.headers ?? {})) {
    const got = answer.headers[name]
    if (got !== value) faults.push(`header ${name}: expected ${show(value)}, got ${show(got)}`)
  }
  if ('body' in expect) faults.push(...checkBody(expect.body, answer.body))
  if (expect.patch !== undefined) {
    const patch = patchOf(answer.body)
    if (!isDeepStrictEqual(patch, expect.patch))
      faults.push(`patch: expected ${show(expect.patch)}, got ${show(patch)}`)
  }
  return faults
}

/** The same for the queue: every expected key with its hints, and no other. */
export function checkQueued({ expect }: Pick<Fixture, 'expect'>, queued: readonly QueuedWork[]): string[] {
  if (expect.queued === undefined) return []
  const got = queued.map(({ key, hints }) => ({ key, hints: hints.map(toExpected) }))
  return isDeepStrictEqual(got.map(comparable), expect.queued.map(comparable))
    ? []
    : [`queued: expected ${show(expect.queued)}, got ${show(got)}`]
}

function toExpected({ waitUntil, ...hint }: QueuedWork['hints'][number]): ExpectedHint {
  return { ...hint, waits: waitUntil !== undefined }
}

/** Of the fields of a hint only those count that tell when its change is visible. */
function comparable({ key, hints }: ExpectedWork): unknown {
  return {
    key,
    hints: hints.map(({ object, operation, waits, uid, oldResourceVersion }) => ({
      object,
      operation,
      waits,
      ...(operation === 'DELETE' ? { uid } : {}),
      ...(operation === 'UPDATE' ? { oldResourceVersion } : {}),
    })),
  }
}

function checkBody(expected: unknown, body: string): string[] {
  if (typeof expected === 'string')
    return body === expected ? [] : [`body: expected ${show(expected)}, got ${show(body)}`]
  const got = parse(body)
  return got === undefined ? [`body: expected JSON, got ${show(body)}`] : missing(expected, got, 'body')
}

/** Lists are compared whole, objects by the names that are expected; null means the name is not there. */
function missing(expected: unknown, got: unknown, path: string): string[] {
  if (Array.isArray(expected)) {
    if (!Array.isArray(got) || got.length !== expected.length) {
      return [`${path}: expected ${show(expected)}, got ${show(got)}`]
    }
    return expected.flatMap((item, index) => missing(item, got[index], `${path}[${index}]`))
  }
  if (isObject(expected)) {
    if (!isObject(got)) return [`${path}: expected an object, got ${show(got)}`]
    return Object.entries(expected).flatMap(([name, value]) => missing(value, got[name] ?? null, `${path}.${name}`))
  }
  return expected === got ? [] : [`${path}: expected ${show(expected)}, got ${show(got)}`]
}

function patchOf(body: string): unknown {
  const review = parse(body)
  const response = isObject(review) ? review['response'] : undefined
  const patch = isObject(response) ? response['patch'] : undefined
  return typeof patch === 'string' ? parse(Buffer.from(patch, 'base64').toString()) : []
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function show(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 600)
}
