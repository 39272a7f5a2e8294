import { readFile } from 'node:fs/promises'

/** One recorded request and what it has to be answered. `null` stands for "absent" in what is expected. */
export interface Fixture {
  /** The path it was read from. */
  file: string
  description: string
  request: FixtureRequest
  expect: FixtureExpectation
}

export interface FixtureRequest {
  method: string
  path: string
  headers: Record<string, string>
  body: Buffer
}

export interface FixtureExpectation {
  status: number
  /** These headers, exactly; others may be there. */
  headers?: Record<string, string>
  /** Text, or JSON of which every part named here must be in the answer. */
  body?: unknown
  /** The JSON Patch in the answer, decoded; an empty list means no patch. */
  patch?: unknown[]
  /** What must be in the queue afterwards, no more and no less. */
  queued?: ExpectedWork[]
}

export interface ExpectedWork {
  key: string
  hints: ExpectedHint[]
}

export interface ExpectedHint {
  object: string
  operation: string
  uid?: string
  oldResourceVersion?: string
  /** Whether the change is waited for. */
  waits: boolean
}

/** The file is no fixture. The message lists every fault. */
export class FixtureInvalid extends Error {
  override readonly name = 'FixtureInvalid'

  constructor(file: string, faults: string[]) {
    super(`${file} is no fixture:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`)
  }
}

export async function readFixture(file: string): Promise<Fixture> {
  return parseFixture(file, await readFile(file, 'utf8'))
}

/**
 * The body of a request is given in one of four ways: `body` (JSON), `bodyText`, `bodyBase64`, or `generate` (JSON with
 * text of a given length put in). None of them is an empty body. Throws `FixtureInvalid`.
 */
export function parseFixture(file: string, text: string): Fixture {
  const root = parse(file, text)
  const faults: string[] = []
  const request = asObject(root['request'], 'request', faults)
  const expect = asObject(root['expect'], 'expect', faults)
  const fixture: Fixture = {
    file,
    description: asText(root['description'], 'description', faults),
    request: {
      method: asText(request['method'], 'request.method', faults).toUpperCase(),
      path: asText(request['path'], 'request.path', faults),
      headers: asHeaders(request['headers'] ?? {}, 'request.headers', faults),
      body: bodyOf(request, faults),
    },
    expect: expectationOf(expect, faults),
  }
  refuseUnknown(root, ['description', 'request', 'expect'], '', faults)
  refuseUnknown(request, ['method', 'path', 'headers', ...BODIES], 'request.', faults)
  refuseUnknown(expect, ['status', 'headers', 'body', 'patch', 'queued'], 'expect.', faults)
  if (!fixture.request.path.startsWith('/')) faults.push('request.path: must begin with "/"')
  if (faults.length > 0) throw new FixtureInvalid(file, faults)
  return fixture
}

type Json = Record<string, unknown>

const BODIES = ['body', 'bodyText', 'bodyBase64', 'generate']

function parse(file: string, text: string): Json {
  try {
    const faults: string[] = []
    const root = asObject(JSON.parse(text), 'the file', faults)
    if (faults.length === 0) return root
    throw new FixtureInvalid(file, faults)
  } catch (error) {
    if (error instanceof FixtureInvalid) throw error
    throw new FixtureInvalid(file, [`not JSON: ${error instanceof Error ? error.message : error}`])
  }
}

function bodyOf(request: Json, faults: string[]): Buffer {
  const given = BODIES.filter((way) => way in request)
  if (given.length > 1) faults.push(`request: has ${given.join(' and ')}; give one`)
  switch (given[0]) {
    case 'body':
      return Buffer.from(JSON.stringify(request['body']))
    case 'bodyText':
      return Buffer.from(asText(request['bodyText'], 'request.bodyText', faults, { mayBeEmpty: true }))
    case 'bodyBase64':
      return Buffer.from(asText(request['bodyBase64'], 'request.bodyBase64', faults), 'base64')
    case 'generate':
      return generate(asObject(request['generate'], 'request.generate', faults), faults)
    default:
      return Buffer.alloc(0)
  }
}

/** `{"json": {…}, "pad": [{"at": ["request", "object", "data"], "bytes": 3145728}]}`: bodies too large for a file. */
function generate(recipe: Json, faults: string[]): Buffer {
  const json = structuredClone(recipe['json'])
  const pads: unknown[] = Array.isArray(recipe['pad']) ? recipe['pad'] : []
  if (pads.length === 0) faults.push('request.generate.pad: must list where to put how many bytes')
  for (const [index, entry] of pads.entries()) {
    const name = `request.generate.pad[${index}]`
    const { at, bytes } = asObject(entry, name, faults)
    if (!isTexts(at) || typeof bytes !== 'number') {
      faults.push(`${name}: must have at (a list of names) and bytes (a number)`)
      continue
    }
    const last = at.at(-1) ?? ''
    const parent = at.slice(0, -1).reduce<unknown>((node, step) => (isObject(node) ? node[step] : undefined), json)
    if (isObject(parent)) parent[last] = 'x'.repeat(bytes)
    else faults.push(`${name}.at: ${at.join('.')} does not lead into json`)
  }
  return Buffer.from(JSON.stringify(json ?? null))
}

function expectationOf(expect: Json, faults: string[]): FixtureExpectation {
  const { status, body, headers, patch, queued } = expect
  if (!Number.isInteger(status)) faults.push('expect.status: must be a status code')
  if (patch !== undefined && !Array.isArray(patch)) faults.push('expect.patch: must be a list')
  return {
    status: Number(status),
    ...(headers === undefined ? {} : { headers: asHeaders(headers, 'expect.headers', faults) }),
    ...('body' in expect ? { body } : {}),
    ...(Array.isArray(patch) ? { patch } : {}),
    ...(queued === undefined ? {} : { queued: asList(queued, 'expect.queued', faults).map(asWork(faults)) }),
  }
}

function asWork(faults: string[]): (value: unknown, index: number) => ExpectedWork {
  return (value, index) => {
    const name = `expect.queued[${index}]`
    const work = asObject(value, name, faults)
    const hints = asList(work['hints'] ?? [], `${name}.hints`, faults)
    return {
      key: asText(work['key'], `${name}.key`, faults),
      hints: hints.map((hint, at) => asHint(hint, `${name}.hints[${at}]`, faults)),
    }
  }
}

function asHint(value: unknown, name: string, faults: string[]): ExpectedHint {
  const hint = asObject(value, name, faults)
  const { uid, oldResourceVersion, waits } = hint
  if (typeof waits !== 'boolean') faults.push(`${name}.waits: must be true or false`)
  return {
    object: asText(hint['object'], `${name}.object`, faults),
    operation: asText(hint['operation'], `${name}.operation`, faults),
    waits: waits === true,
    ...(typeof uid === 'string' ? { uid } : {}),
    ...(typeof oldResourceVersion === 'string' ? { oldResourceVersion } : {}),
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function asObject(value: unknown, name: string, faults: string[]): Json {
  if (isObject(value)) return value
  faults.push(`${name}: must be an object`)
  return {}
}

function asList(value: unknown, name: string, faults: string[]): unknown[] {
  if (Array.isArray(value)) return value
  faults.push(`${name}: must be a list`)
  return []
}

function asText(value: unknown, name: string, faults: string[], options = { mayBeEmpty: false }): string {
  if (typeof value === 'string' && (value !== '' || options.mayBeEmpty)) return value
  faults.push(`${name}: must be a string${options.mayBeEmpty ? '' : ' that is not empty'}`)
  return ''
}

function asHeaders(value: unknown, name: string, faults: string[]): Record<string, string> {
  const entries = Object.entries(asObject(value, name, faults))
  return Object.fromEntries(
    entries.map(([header, content]) => [
      header.toLowerCase(),
      asText(content, `${name}.${header}`, faults, { mayBeEmpty: true }),
    ]),
  )
}

function refuseUnknown(value: Json, known: string[], path: string, faults: string[]): void {
  const strange = Object.keys(value).filter((name) => !known.includes(name))
  for (const name of strange) faults.push(`${path}${name}: unknown; known are ${known.join(', ')}`)
}
