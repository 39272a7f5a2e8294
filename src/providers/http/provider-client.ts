import type { Clock } from '../../ports/clock.ts'
import { isProviderError } from '../../provider/errors.ts'
import {
  type AnswerOf,
  DESCRIPTION_PATH,
  type Description,
  MEDIA_TYPE,
  OPERATIONS,
  type Operation,
  operationPath,
  PROBLEM_MEDIA_TYPE,
  type RequestOf,
} from '../../provider/protocol/operations.ts'
import { cleanDetail, type Problem, providerErrorOf } from '../../provider/protocol/problem.ts'
import type { ProtocolValidator } from '../../provider/protocol/protocol-validator.ts'
import { compareDescription } from './compare-description.ts'
import { type Connection, createConnections } from './http-connection.ts'
import type { HttpOptions } from './http-options.ts'

/** Calls a provider over HTTP. Every answer is checked before it is believed: what is malformed is a failure. */
export interface ProviderClient {
  call<O extends Operation>(operation: O, request: Untimed<RequestOf<O>>, signal: AbortSignal): Promise<AnswerOf<O>>
  describe(signal: AbortSignal): Promise<Description>
  close(): Promise<void>
}

/** The deadline is the client's. */
export type Untimed<R> = R extends { context: infer C }
  ? Omit<R, 'context'> & { context: Omit<C, 'deadlineMs'> }
  : never

export function createProviderClient(options: HttpOptions, validate: ProtocolValidator, clock: Clock): ProviderClient {
  const connections = createConnections(options, clock)
  const { origin } = new URL(options.url)
  const provider = `the provider at ${origin}`
  let isCompared = false

  async function call<O extends Operation>(
    operation: O,
    request: Untimed<RequestOf<O>>,
    signal: AbortSignal,
  ): Promise<AnswerOf<O>> {
    if (!isCompared) await compare(signal)
    const context = { ...request.context, deadlineMs: options.timeoutMs }
    const body = Buffer.from(JSON.stringify({ ...request, context }))
    if (body.length > options.requestBytes) {
      throw new Error(
        `the request to ${provider} would have ${body.length} bytes, and provider.options.requestBytes is ${options.requestBytes}: split the object, or raise it here and at the provider`,
      )
    }
    return (await exchange('POST', operationPath(operation), body, OPERATIONS[operation].answer, signal)) as AnswerOf<O>
  }

  async function compare(signal: AbortSignal): Promise<void> {
    const faults = compareDescription(options, await describe(signal))
    if (faults.length > 0) {
      const list = faults.map((fault) => `provider.options.${fault}`).join('; ')
      throw new Error(`${provider} is not what the configuration says: ${list}`)
    }
    isCompared = true
  }

  async function describe(signal: AbortSignal): Promise<Description> {
    return (await exchange('GET', DESCRIPTION_PATH, undefined, 'Description', signal)) as Description
  }

  async function exchange(
    method: 'GET' | 'POST',
    path: string,
    body: Buffer | undefined,
    schema: string,
    caller: AbortSignal,
  ): Promise<unknown> {
    caller.throwIfAborted()
    const connection = await connections.current()
    const late = new AbortController()
    const cancel = clock.after(options.timeoutMs, () => late.abort())
    const signal = AbortSignal.any([caller, late.signal])
    try {
      const ask = () => send(method, path, body, connection, signal)
      const received = await ask().catch((error: unknown) => {
        // Every call is idempotent, and may overlap with one that is still under way.
        if (isCut(error) && !signal.aborted) return ask()
        throw error
      })
      return read({ ...received, path, schema })
    } catch (error) {
      if (caller.aborted) throw caller.reason
      if (late.signal.aborted) throw new Error(`${provider} has not answered within ${options.timeoutMs} ms`)
      throw withoutToken(inOurWords(error), connection.token)
    } finally {
      cancel()
    }
  }

  async function send(
    method: 'GET' | 'POST',
    path: string,
    body: Buffer | undefined,
    { agent, token }: Connection,
    signal: AbortSignal,
  ): Promise<Omit<Received, 'path' | 'schema'>> {
    const { request } = await import('undici')
    const response = await request(`${options.url}${path}`, {
      method,
      dispatcher: agent,
      signal,
      headers: {
        accept: `${MEDIA_TYPE}, ${PROBLEM_MEDIA_TYPE}`,
        ...(body && { 'content-type': MEDIA_TYPE }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      ...(body && { body }),
    })
    return {
      status: response.statusCode,
      type: essenceOf(response.headers['content-type']),
      bytes: new Uint8Array(await response.body.arrayBuffer()),
    }
  }

  function read({ status, type, bytes, path, schema }: Received): unknown {
    if (status === 200) {
      if (type !== MEDIA_TYPE)
        throw new Answered(`${provider} answers ${path} with ${shownType(type)}, not ${MEDIA_TYPE}`)
      const value = parse(bytes)
      if (value === undefined) throw new Answered(`${provider} answers ${path} with what is no JSON`)
      const fault = validate(schema, value)
      if (fault !== undefined)
        throw new Answered(`${provider} answers ${path} with what the protocol does not know: ${fault}`)
      return value
    }
    const problem = type === PROBLEM_MEDIA_TYPE ? withShownDetail(parse(bytes)) : undefined
    if (!isProblem(problem, status))
      throw new Answered(`${provider} answers ${status} to ${path}: ${hintAt(status, problem)}`)
    throw errorOf(problem)
  }

  function isProblem(value: unknown, status: number): value is Problem {
    if (validate('Problem', value) !== undefined) return false
    const problem = value as Problem
    const saysWhen = problem.retryAfterMs !== undefined || !['RetryAfter', 'Draining'].includes(problem.kind)
    return problem.status === status && saysWhen
  }

  function errorOf(problem: Problem): Error {
    // It may be another one by now.
    if (problem.kind === 'NotImplemented' || problem.kind === 'NotFound') isCompared = false
    const told = providerErrorOf(problem)
    if (told !== undefined) return told.constructor === Error ? new Answered(told.message) : told
    if (problem.kind === 'UnsupportedMediaType') {
      const spoken = (problem.spoken ?? []).map((each) => cleanDetail(each)).join(', ')
      const versions = `it speaks ${spoken || 'nothing that it names'}, and this function speaks ${MEDIA_TYPE}`
      return new Answered(`${provider} is of another version: ${versions}; run versions that fit`)
    }
    return new Answered(`${provider} answers ${problem.kind}: ${problem.detail} (${hintAt(problem.status)})`)
  }

  /** Of what ended without an answer. */
  function inOurWords(error: unknown): unknown {
    if (!(error instanceof Error) || error instanceof Answered || isProviderError(error)) return error
    const code = codeOf(error)
    if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') {
      return new Error(
        `${provider} answers more than ${options.answerBytes} bytes, which is provider.options.answerBytes`,
        { cause: error },
      )
    }
    const tls = /CERT|SELF_SIGNED|ALTNAME|UNABLE_TO/.test(code)
      ? '; check provider.options.caFile and provider.options.url'
      : ''
    return new Error(`${provider} cannot be reached, or closed the connection (${code})${tls}`, { cause: error })
  }

  return { call, describe, close: () => connections.close() }
}

interface Received {
  status: number
  type: string
  bytes: Uint8Array
  path: string
  schema: string
}

/** The provider answered; the message is ours and whole. */
class Answered extends Error {}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}

/** No message shows the token, even where the other side echoes it. */
function withoutToken(error: unknown, token: string | undefined): unknown {
  if (token !== undefined && error instanceof Error) error.message = error.message.replaceAll(token, '[redacted]')
  return error
}

/** A detail that is too long is no reason not to know of what kind the problem is. */
function withShownDetail(problem: unknown): unknown {
  const { detail } = Object(problem)
  return typeof detail === 'string' ? { ...Object(problem), detail: cleanDetail(detail) } : problem
}

/**
 * The connection ended before the answer did: kept ones are closed by the other side, or by what is between, at any
 * moment.
 */
function isCut(error: unknown): boolean {
  return error instanceof Error && ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(codeOf(error))
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : error.name
}

function essenceOf(type: unknown): string {
  return typeof type === 'string' ? (type.split(';', 1)[0] ?? '').trim().toLowerCase() : ''
}

function shownType(type: string): string {
  return type === '' ? 'no media type' : JSON.stringify(cleanDetail(type).slice(0, 100))
}

/** A newer provider may say more than we know; so may what stands in between. */
function hintAt(status: number, problem?: unknown): string {
  const { kind, detail } = Object(problem)
  const known = typeof kind === 'string' ? `${cleanDetail(kind).slice(0, 60)}: ` : ''
  if (typeof detail === 'string' && detail !== '') return `${known}${detail}`
  if (status === 401 || status === 403) {
    return 'it does not know us: provider.options.tokenFile must hold a token of the provider'
  }
  if (status === 413) return 'the object is larger than the provider takes'
  if (status >= 300 && status < 500) return 'is provider.options.url the URL of a provider?'
  return 'look into its log'
}
