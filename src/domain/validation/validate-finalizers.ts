import type { Finding } from '../finding.ts'
import { forbidden } from './field-errors.ts'
import { goQuote } from './go-quote.ts'
import { checkFields, isPresent } from './json-checks.ts'

/**
 * No finalizer may be added to an object that is being deleted. Of the rules on updates of metadata it is the one
 * that concerns what we write ourselves. What an update may not change at all (name, uid, timestamps, …) is left to
 * the API server, which compares it before it asks a webhook.
 */
export function validateFinalizers(metadata: unknown, previousMetadata: unknown): Finding[] {
  return checkFields(metadata, ({ finalizers }) =>
    checkFields(previousMetadata, ({ deletionTimestamp, finalizers: known }) =>
      isPresent(deletionTimestamp) ? forbidAll(addedTo(textsOf(known), textsOf(finalizers))) : [],
    ),
  )
}

function addedTo(known: readonly string[], finalizers: readonly string[]): string[] {
  return [...new Set(finalizers)].filter((finalizer) => !known.includes(finalizer)).sort()
}

function forbidAll(added: readonly string[]): Finding[] {
  if (added.length === 0) return []
  const list = `[]string{${added.map(goQuote).join(', ')}}`
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`
  return [forbidden('metadata.finalizers', detail)]
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}
