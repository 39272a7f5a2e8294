import assert from 'node:assert/strict'

/** The one element there must be. */
export function only<T>(elements: readonly T[]): T {
  assert.equal(elements.length, 1, `expected one, got ${elements.length}`)
  const [element] = elements
  assert.ok(element !== undefined)
  return element
}
