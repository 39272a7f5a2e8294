import type { Finding } from '../finding.ts'
import { goQuote } from './go-quote.ts'

// Findings in the form of k8s.io/apimachinery/pkg/util/validation/field: the kind of fault, the value, what is wrong.

export function invalid(field: string, value: string | number, detail: string): Finding {
  return invalidLiteral(field, typeof value === 'string' ? goQuote(value) : `${value}`, detail)
}

/** For values the API server prints as source text, and for none of our quoting. */
export function invalidLiteral(field: string, literal: string, detail: string): Finding {
  return { field, reason: 'FieldValueInvalid', message: `Invalid value: ${literal}: ${detail}` }
}

/** One finding per fault of the same value. */
export function invalidEach(field: string, value: string | number, faults: readonly string[]): Finding[] {
  return faults.map((fault) => invalid(field, value, fault))
}

export function required(field: string, detail?: string): Finding {
  const message = detail === undefined ? 'Required value' : `Required value: ${detail}`
  return { field, reason: 'FieldValueRequired', message }
}

export function notSupported(field: string, literal: string, supported: readonly string[]): Finding {
  const values = supported.map(goQuote).join(', ')
  return {
    field,
    reason: 'FieldValueNotSupported',
    message: `Unsupported value: ${literal}: supported values: ${values}`,
  }
}

export function duplicate(field: string, value: string): Finding {
  return { field, reason: 'FieldValueDuplicate', message: `Duplicate value: ${goQuote(value)}` }
}

export function forbidden(field: string, detail: string): Finding {
  return { field, reason: 'FieldValueForbidden', message: `Forbidden: ${detail}` }
}
