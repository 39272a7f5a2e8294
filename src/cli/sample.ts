import { readFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'
import type { ApiObject } from '../local/core/api-object.ts'

/** The objects of one file of `manifests/samples`, as a user would apply them. */
export function sampleObjects(file: string): ApiObject[] {
  const text = readFileSync(new URL(`../../manifests/samples/${file}`, import.meta.url), 'utf8')
  return parseAllDocuments(text).map((document) => document.toJS() as ApiObject)
}
