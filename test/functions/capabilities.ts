import { isUtf8 } from 'node:buffer'
import { type CloudEvent, HTTP } from 'cloudevents'
import type { FixtureRequest } from '../../src/cli/fixture.ts'
import { isSentAsText } from '../support/lambda-events.ts'

/** What a platform can carry to a function, and what it lets it do. */
export interface Capabilities {
  /** Whether every path reaches the function, or `/` only, so that each door is a function of its own. */
  paths: 'any' | 'root'
  /** Bytes of a request, in the form in which the platform counts them; beyond 7 MiB we refuse it ourselves. */
  requestLimit: number
  /** Whether OPTIONS reaches the function: the handshake of CloudEvents. */
  options: boolean
  /** Whether a body that is no UTF-8 arrives as it was sent; on Lambda only one that is not sent as text does. */
  bytes: boolean | 'in base64'
  /** Whether a parameter that is given twice arrives twice. */
  repeatedParameters: boolean
  /** Whether CloudEvents arrive unread; else the platform refuses those that its own library cannot read. */
  unreadEvents: boolean
  /** Whether the platform lets through what its own parser finds wrong; else it answers that itself, in its own words. */
  malformed: boolean
}

/** Why a platform cannot carry a request; undefined when it can. `sizeOf` counts as the platform does. */
export function cannotCarry(
  { method, path, headers, body }: FixtureRequest,
  can: Capabilities,
  sizeOf: number,
): keyof Capabilities | undefined {
  if (can.paths === 'root' && !hasRootFunction(path)) return 'paths'
  if (!can.options && method === 'OPTIONS') return 'options'
  if (sizeOf > can.requestLimit) return 'requestLimit'
  if (!can.repeatedParameters && hasRepeatedParameter(path)) return 'repeatedParameters'
  if (!isUtf8(body) && (can.bytes === false || (can.bytes === 'in base64' && isSentAsText(headers)))) return 'bytes'
  if (!can.unreadEvents && isUnreadable(headers, body)) return 'unreadEvents'
  return undefined
}

/** Doors that the three root functions are. */
function hasRootFunction(path: string): boolean {
  const doors = ['/admission/mutate', '/admission/validate', '/admission/notify', '/events']
  return doors.includes(path.split('?', 1)[0] ?? '')
}

function hasRepeatedParameter(path: string): boolean {
  const names = [...new URLSearchParams(path.split('?')[1]).keys()]
  return new Set(names).size < names.length
}

/** By the library with which the runtime reads them first. */
function isUnreadable(headers: Record<string, string>, body: Buffer): boolean {
  const message = { headers, body: body.toString() }
  if (!HTTP.isEvent(message)) return false
  try {
    const event = HTTP.toEvent(message) as CloudEvent<unknown> | CloudEvent<unknown>[]
    return Array.isArray(event) || !event.validate()
  } catch {
    return true
  }
}

/** What a server of our own can. */
export const EVERYTHING: Capabilities = {
  paths: 'any',
  requestLimit: Number.POSITIVE_INFINITY,
  options: true,
  bytes: true,
  repeatedParameters: true,
  unreadEvents: true,
  malformed: true,
}
