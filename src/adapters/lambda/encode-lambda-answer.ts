import { isUtf8 } from 'node:buffer'
import { STATUS_CODES } from 'node:http'
import type { PlatformAnswer } from '../../ports/platform-request.ts'
import type { LambdaAnswer, LambdaEvent } from './lambda-event.ts'

/** The answer in the form that whoever sent the event reads: each ignores the fields of the others. */
export function encodeLambdaAnswer(event: LambdaEvent, { status, headers, body }: PlatformAnswer): LambdaAnswer {
  const isText = isUtf8(body)
  const answer = { statusCode: status, body: body.toString(isText ? 'utf8' : 'base64'), isBase64Encoded: !isText }
  if ('rawPath' in event) return { ...answer, headers: joined(headers) }
  if (event.requestContext.elb === undefined) return { ...answer, multiValueHeaders: listed(headers) }
  const described = { ...answer, statusDescription: `${status} ${STATUS_CODES[status] ?? ''}`.trim() }
  // A target group is set to one of the two and refuses the other.
  return event.multiValueHeaders
    ? { ...described, multiValueHeaders: listed(headers) }
    : { ...described, headers: joined(headers) }
}

function joined(headers: PlatformAnswer['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]))
}

function listed(headers: PlatformAnswer['headers']): Record<string, string[]> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat()]))
}
