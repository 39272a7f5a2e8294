import secureJson from 'secure-json-parse'
import { OPERATIONS, type Operation, type RequestOf } from '../../provider/protocol/operations.ts'
import { problem } from '../../provider/protocol/problem.ts'
import type { ProtocolValidator } from '../../provider/protocol/protocol-validator.ts'
import { ProblemError } from './problem-error.ts'

/** The request of an operation, of the form of its schema and about the kind that the operation is for. */
export function decodeRequest<O extends Operation>(
  operation: O,
  body: unknown,
  validate: ProtocolValidator,
): RequestOf<O> {
  const value = parse(body)
  const { of, request } = OPERATIONS[operation]
  const fault = validate(request, value)
  if (fault !== undefined) throw badRequest(fault)
  const { object, context }: Partial<Record<'object' | 'context', Partial<Record<string, unknown>> | null>> =
    Object(value)
  if (object && object['kind'] !== of) throw badRequest(`object.kind: must be ${of}`)
  const { identity } = context ?? {}
  if (identity !== undefined && Object(identity).kind !== of) throw badRequest(`context.identity.kind: must be ${of}`)
  return value as RequestOf<O>
}

function parse(body: unknown): unknown {
  if (!(body instanceof Uint8Array)) throw badRequest('body: is missing')
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body)
    return secureJson.parse(text, { protoAction: 'error', constructorAction: 'error' })
  } catch {
    // The parser's message quotes the body.
    throw badRequest('body: must be JSON in UTF-8, without keys that reach into a prototype')
  }
}

function badRequest(detail: string): ProblemError {
  return new ProblemError(problem('BadRequest', detail))
}
