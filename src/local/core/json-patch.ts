import { applyPatch, type Operation, Pointer } from 'rfc6902'
import { cloneJson, isRecord } from './json.ts'
import { badRequest, patchDoesNotApply, tooLarge } from './status-error.ts'

const MOST_OPERATIONS = 10_000
const OPERATIONS = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test'])

/** RFC 6902. An operation that does not apply, a failing `test` included, is a 422 with the reason Invalid. */
export function jsonPatch<T>(target: T, operations: unknown): T {
  if (!Array.isArray(operations)) throw badRequest('error decoding patch: it is not a list of operations')
  if (operations.length > MOST_OPERATIONS) {
    throw tooLarge(`The allowed maximum operations in a JSON patch is ${MOST_OPERATIONS}, got ${operations.length}`)
  }
  if (!operations.every(isOperation)) throw patchDoesNotApply()
  const result = cloneJson(target)
  for (const operation of cloneJson(operations) as Operation[]) {
    // What is not there counts as null; the library calls it missing.
    if (operation.op === 'test' && operation.value === null && isMissing(result, operation.path)) continue
    const [failure] = applyPatch(result, [replacementAsAddition(result, operation)])
    if (failure !== null) throw patchDoesNotApply()
  }
  return result
}

/** Replacing a field that is not there adds it, if what it belongs to is there; lists have no such indulgence. */
function replacementAsAddition(document: unknown, operation: Operation): Operation {
  if (operation.op !== 'replace') return operation
  const { parent, value } = Pointer.fromJSON(operation.path).evaluate(document)
  return value === undefined && isRecord(parent) ? { ...operation, op: 'add' } : operation
}

function isMissing(document: unknown, path: string): boolean {
  return Pointer.fromJSON(path).get(document) === undefined
}

function isOperation(operation: unknown): boolean {
  return (
    isRecord(operation) &&
    OPERATIONS.has(String(operation['op'])) &&
    typeof operation['path'] === 'string' &&
    (operation['path'] === '' || operation['path'].startsWith('/'))
  )
}
