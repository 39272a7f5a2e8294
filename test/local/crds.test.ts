import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { karmadaCrds } from '../../src/local/crds/karmada-crds.ts'
import { testCore } from './support.ts'

const reference = join(import.meta.dirname, '../../../shared/crds')

/** Everything but the words; `required` has no order. */
function structure(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(structure)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([key, item]) => !(key === 'description' && typeof item === 'string'))
  return Object.fromEntries(
    entries.map(([key, item]) => [key, key === 'required' && Array.isArray(item) ? [...item].sort() : structure(item)]),
  )
}

const skip = existsSync(reference) ? false : `the CRDs to compare with are not there: ${reference}`

t.test('every path, type, required and subresource is as in the original', { skip }, async (t) => {
  for (const file of readdirSync(reference)) {
    const { metadata, spec } = parse(readFileSync(join(reference, file), 'utf8'))
    const ours = karmadaCrds.find((crd) => crd.metadata.name === metadata.name)
    spec.names.listKind ??= `${spec.names.kind}List`
    t.strictSame(structure(ours?.['spec']), structure(spec), metadata.name)
  }
})

t.test('every field says in its own words what it is', async (t) => {
  for (const crd of karmadaCrds) {
    const words = JSON.stringify(crd).match(/"description":"[^"]+"/g) ?? []
    t.ok(words.length > 2, `${crd.metadata.name}: ${words.length}`)
  }
})

t.test('all of them are served', async (t) => {
  const served = testCore()
    .resources()
    .map(({ plural, group }) => `${plural}.${group}`)
  for (const { metadata } of karmadaCrds) t.ok(served.includes(metadata.name), metadata.name)
})
