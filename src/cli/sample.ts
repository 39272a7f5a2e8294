import { readFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'
import type { ApiObject } from '../local/core/api-object.ts'

/** The objects of `manifests/samples`, as a user would apply them. */
export function sampleObjects(): ApiObject[] {
  return SAMPLES.flatMap((name) => {
    const text = readFileSync(new URL(`../../manifests/samples/${name}`, import.meta.url), 'utf8')
    return parseAllDocuments(text).map((document) => document.toJS() as ApiObject)
  })
}

const SAMPLES = ['multi-cluster-ingress.yaml', 'multi-cluster-service.yaml']
