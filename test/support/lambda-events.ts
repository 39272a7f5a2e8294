import type { Answer } from '../../src/cli/check-answer.ts'
import type { FixtureRequest } from '../../src/cli/fixture.ts'

/** One of the fronts of AWS Lambda: how it puts a request into an event, and reads the answer. */
export interface LambdaFront {
  event(request: FixtureRequest): object
  answer(returned: Returned): Answer
}

export interface Returned {
  statusCode: number
  statusDescription?: string
  headers?: Record<string, string>
  multiValueHeaders?: Record<string, string[]>
  body: string
  isBase64Encoded: boolean
}

const CALLER = '203.0.113.7'

export const LAMBDA_FRONTS: Readonly<Record<string, LambdaFront>> = {
  'function URL': { event: (request) => payloadV2(request, '$default'), answer: readPlain },
  'HTTP API': { event: (request) => payloadV2(request, 'prod'), answer: readPlain },
  'HTTP API, payload 1.0': {
    event: (request) => ({ version: '1.0', ...payloadV1(request, { path: `/prod${request.path}`, stage: 'prod' }) }),
    answer: readMultiValue,
  },
  'REST API': {
    event: (request) => payloadV1(request, { path: request.path, stage: 'admission' }),
    answer: readMultiValue,
  },
  'load balancer': {
    event(request) {
      const { multiValueHeaders, multiValueQueryStringParameters, ...event } = balancer(request)
      return {
        ...event,
        headers: firstOf(multiValueHeaders),
        queryStringParameters: firstOf(multiValueQueryStringParameters),
      }
    },
    answer(returned) {
      requireDescription(returned)
      return readPlain(returned)
    },
  },
  'load balancer, multi-value headers': {
    event: balancer,
    answer(returned) {
      requireDescription(returned)
      return readMultiValue(returned)
    },
  },
}

function payloadV2({ method, path, headers, body }: FixtureRequest, stage: string) {
  const [rawPath, rawQueryString] = split(path)
  const staged = stage === '$default' ? rawPath : `/${stage}${rawPath}`
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: staged,
    rawQueryString,
    headers: { ...headers, 'x-forwarded-for': CALLER, 'x-forwarded-proto': 'https' },
    requestContext: { stage, http: { method, path: staged, protocol: 'HTTP/1.1', sourceIp: CALLER } },
    ...payload(headers, body),
  }
}

function payloadV1(
  { method, headers, body, path: sent }: FixtureRequest,
  { path, stage }: { path: string; stage: string },
) {
  const named = Object.entries(headers).map(([name, value]) => [capitals(name), value])
  const decoded = listed([...new URLSearchParams(split(sent)[1])])
  return {
    httpMethod: method,
    path: split(path)[0],
    headers: Object.fromEntries(named),
    multiValueHeaders: Object.fromEntries(named.map(([name, value]) => [name, [value]])),
    queryStringParameters: firstOf(decoded),
    multiValueQueryStringParameters: decoded,
    requestContext: { stage, identity: { sourceIp: CALLER } },
    ...payload(headers, body),
  }
}

function balancer({ method, path, headers, body }: FixtureRequest) {
  const [plain, query] = split(path)
  const pairs = query === '' ? [] : query.split('&').map((pair): [string, string] => pairOf(pair))
  return {
    requestContext: { elb: { targetGroupArn: 'arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/f/1' } },
    httpMethod: method,
    path: plain,
    multiValueHeaders: listed([...Object.entries(headers), ['x-forwarded-for', `198.51.100.1, ${CALLER}`]]),
    multiValueQueryStringParameters: listed(pairs),
    ...payload(headers, body),
  }
}

/** What else there is, or is compressed, is sent in base64. */
export function isSentAsText(headers: Record<string, string>): boolean {
  const type = headers['content-type'] ?? ''
  return headers['content-encoding'] === undefined && /^(text\/|application\/(json|javascript|xml))/i.test(type)
}

function payload(headers: Record<string, string>, body: Buffer): { body?: string; isBase64Encoded: boolean } {
  if (body.length === 0) return { isBase64Encoded: false }
  const isText = isSentAsText(headers)
  return { body: body.toString(isText ? 'utf8' : 'base64'), isBase64Encoded: !isText }
}

function split(path: string): [string, string] {
  const at = path.indexOf('?')
  return at < 0 ? [path, ''] : [path.slice(0, at), path.slice(at + 1)]
}

function pairOf(pair: string): [string, string] {
  const at = pair.indexOf('=')
  return at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)]
}

function capitals(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase())
}

function listed(pairs: [string, string][]): Record<string, string[]> {
  return Object.fromEntries(
    pairs.map(([name]) => [name, pairs.filter(([other]) => other === name).map(([, value]) => value)]),
  )
}

/** Of several values a plain map keeps the last. */
function firstOf(lists: Record<string, string[]>): Record<string, string> {
  return Object.fromEntries(Object.entries(lists).map(([name, values]) => [name, values.at(-1) ?? '']))
}

function readPlain({ statusCode, headers, body, isBase64Encoded }: Returned): Answer {
  if (headers === undefined) throw new TypeError('this front reads headers, and there are none')
  return { status: statusCode, headers, body: decoded(body, isBase64Encoded) }
}

function readMultiValue({ statusCode, multiValueHeaders, body, isBase64Encoded }: Returned): Answer {
  if (multiValueHeaders === undefined) throw new TypeError('this front reads multiValueHeaders, and there are none')
  const headers = Object.entries(multiValueHeaders).map(([name, values]) => [name, values.join(', ')])
  return { status: statusCode, headers: Object.fromEntries(headers), body: decoded(body, isBase64Encoded) }
}

function decoded(body: string, isBase64Encoded: boolean): string {
  return isBase64Encoded ? Buffer.from(body, 'base64').toString() : body
}

function requireDescription({ statusCode, statusDescription = '' }: Returned): void {
  if (!statusDescription.startsWith(`${statusCode} `))
    throw new TypeError(`statusDescription is "${statusDescription}"`)
}
