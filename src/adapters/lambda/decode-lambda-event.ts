import type { PlatformRequest } from '../../ports/platform-request.ts'
import type { LambdaEvent, PayloadV1, PayloadV2 } from './lambda-event.ts'

/** Throws a TypeError for events that are no HTTP request. */
export function decodeLambdaEvent(event: LambdaEvent): PlatformRequest {
  if ('rawPath' in event) return fromV2(event)
  if ('httpMethod' in event) return fromV1(event)
  throw new TypeError('the event is no HTTP request: call by function URL, API Gateway or Application Load Balancer')
}

function fromV2(event: PayloadV2): PlatformRequest {
  const { rawPath, rawQueryString, headers = {}, cookies, requestContext } = event
  return {
    method: requestContext.http.method,
    url: withQuery(withoutStage(rawPath, requestContext.stage), rawQueryString ?? ''),
    headers: cookies === undefined ? headers : { ...headers, cookie: cookies.join('; ') },
    body: bodyOf(event),
    ...sentBy(requestContext.http.sourceIp),
  }
}

function fromV1(event: PayloadV1): PlatformRequest {
  const { httpMethod, path, headers, multiValueHeaders, requestContext } = event
  const isBalancer = requestContext.elb !== undefined
  // A REST API names its stage too, but not in the path.
  const stage = event.version === undefined ? undefined : requestContext.stage
  const sent = multiValueHeaders ?? headers ?? {}
  return {
    method: httpMethod,
    url: withQuery(withoutStage(path, stage), isBalancer ? balancerQuery(event) : gatewayQuery(event)),
    headers: sent,
    body: bodyOf(event),
    ...sentBy(isBalancer ? lastHop(sent) : requestContext.identity?.sourceIp),
  }
}

function withoutStage(path: string, stage: string | undefined): string {
  if (stage === undefined || stage === '$default') return path
  return path.startsWith(`/${stage}/`) ? path.slice(stage.length + 1) : path
}

/** Some gateways decode the path. What could not have stood in a request line is encoded again, and nothing else. */
function withQuery(path: string, query: string): string {
  const url = path.toWellFormed().replace(/[^!$%&'()*+,./0-9:;=@A-Z_a-z~-]/gu, encodeURIComponent)
  return query === '' ? url : `${url}?${query}`
}

type Parameters = Pick<PayloadV1, 'queryStringParameters' | 'multiValueQueryStringParameters'>

/** A load balancer leaves names and values as they were sent. */
function balancerQuery(event: Parameters): string {
  return pairsOf(event)
    .map((pair) => pair.join('='))
    .join('&')
}

/** A gateway decodes them. */
function gatewayQuery(event: Parameters): string {
  return new URLSearchParams(pairsOf(event)).toString()
}

function pairsOf({ queryStringParameters, multiValueQueryStringParameters }: Parameters): [string, string][] {
  const values = Object.entries(multiValueQueryStringParameters ?? queryStringParameters ?? {})
  return values.flatMap(([name, value]) => [value].flat().map((each): [string, string] => [name, each]))
}

function bodyOf({ body, isBase64Encoded }: Pick<LambdaEvent, 'body' | 'isBase64Encoded'>): Buffer {
  return Buffer.from(body ?? '', isBase64Encoded === true ? 'base64' : 'utf8')
}

function sentBy(address: string | undefined): { remoteAddress?: string } {
  return address === undefined ? {} : { remoteAddress: address }
}

/** The load balancer appends whom it saw; what stands before is the caller's word. */
function lastHop(headers: Record<string, string | string[]>): string | undefined {
  const name = Object.keys(headers).find((header) => header.toLowerCase() === 'x-forwarded-for')
  const hops = name === undefined ? [] : [headers[name] ?? []].flat().join(',').split(',')
  return hops.at(-1)?.trim() || undefined
}
