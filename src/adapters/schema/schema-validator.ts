import type { ErrorObject, ValidateFunction } from 'ajv'
import type { Finding } from '../../domain/finding.ts'
import { compileSchema, type SCHEMAS } from './compile-schema.ts'
import { findingOfAjvError } from './finding-of-ajv-error.ts'

/** What the API server would find wrong by the kind's definition, before it asks any validating webhook. */
export type SchemaValidator = (kind: keyof typeof SCHEMAS, object: unknown) => Finding[]

/**
 * Each schema is compiled when it is first used, so a function that never validates does not pay for it at its cold
 * start. Unknown fields are no finding: the server prunes them.
 */
export function createSchemaValidator(): SchemaValidator {
  const compiled = new Map<string, ValidateFunction>()
  return (kind, object) => {
    const validate = compiled.get(kind) ?? compileSchema(kind)
    compiled.set(kind, validate)
    validate(object)
    return findingsOf(validate.errors ?? [])
  }
}

/** The server stops at the first of these faults of one value: what is no integer is not called no int32 too. */
const SAID_ALREADY: Readonly<Record<string, readonly string[]>> = {
  format: ['type'],
  pattern: ['minLength', 'maxLength'],
}

function findingsOf(errors: readonly ErrorObject[]): Finding[] {
  const found = new Set(errors.map(({ keyword, instancePath }) => `${keyword} ${instancePath}`))
  return errors
    .filter(
      ({ keyword, instancePath }) => !SAID_ALREADY[keyword]?.some((other) => found.has(`${other} ${instancePath}`)),
    )
    .map(findingOfAjvError)
}
