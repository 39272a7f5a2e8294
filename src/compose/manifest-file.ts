import { parseAllDocuments, stringify } from 'yaml'
import type { Manifest } from './finish-manifests.ts'

/** A file of `manifests/`: a comment that says what to do with it, and objects in the order to apply them. */
export interface ManifestFile {
  header: string
  objects: Manifest[]
}

/** Throws where the text is no YAML. */
export function parseManifests(text: string): ManifestFile {
  const objects = parseAllDocuments(text).map((document) => {
    if ('errors' in document && document.errors[0] !== undefined) throw document.errors[0]
    return document.toJS() as Manifest | null
  })
  return { header: leadingComment(text), objects: objects.filter((object) => object !== null) }
}

/** Equal objects are printed equally, in whatever order their fields came. */
export function printManifests({ header, objects }: ManifestFile): string {
  const documents = objects.map((object) => stringify(inUsualOrder(object), PRINTED))
  return `${header}${documents.join('---\n')}`
}

const PRINTED = { lineWidth: 120, aliasDuplicateObjects: false }
const FIRST = ['apiVersion', 'kind', 'metadata', 'name', 'namespace']

/** What names a thing, then the rest by alphabet. */
function inUsualOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inUsualOrder)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1))
  return Object.fromEntries(fields.map(([name, field]) => [name, inUsualOrder(field)]))
}

function rank(field: string): number {
  const index = FIRST.indexOf(field)
  return index < 0 ? FIRST.length : index
}

function leadingComment(text: string): string {
  const lines = text.split('\n')
  const end = lines.findIndex((line) => !line.startsWith('#'))
  return lines
    .slice(0, end)
    .map((line) => `${line}\n`)
    .join('')
}
