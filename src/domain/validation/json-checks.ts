import type { Finding } from '../finding.ts'

/**
 * Readers for objects whose shape nobody has vouched for. They follow the decoder of the API server: an absent field
 * and null are the zero value. A value of another type is passed to no rule: the schema check reports it, and a rule
 * that saw it as empty would add a misleading finding.
 */
export type Fields = Readonly<Record<string, unknown>>

export function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}

export function checkFields(value: unknown, rule: (fields: Fields) => Finding[]): Finding[] {
  if (!isPresent(value)) return rule({})
  return isFields(value) ? rule(value) : []
}

export function checkText(value: unknown, rule: (text: string) => Finding[]): Finding[] {
  const text = value ?? ''
  return typeof text === 'string' ? rule(text) : []
}

export function checkInteger(value: unknown, rule: (integer: number) => Finding[]): Finding[] {
  const integer = value ?? 0
  return typeof integer === 'number' && Number.isInteger(integer) ? rule(integer) : []
}

/** The rule is asked per item. */
export function checkEach(value: unknown, rule: (item: unknown, index: number) => Finding[]): Finding[] {
  return Array.isArray(value) ? value.flatMap(rule) : []
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
