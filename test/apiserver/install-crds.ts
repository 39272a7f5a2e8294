import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { karmadaCrds } from '../../src/local/crds/karmada-crds.ts'
import type { ApiClient } from '../contracts/kubernetes-api/api-client.ts'
import { eventually } from '../contracts/kubernetes-api/eventually.ts'

// Karmada's own, as data to test against; they lie beside the checkout and are no part of the project.
const BESIDE_THE_CHECKOUT = join(import.meta.dirname, '../../../shared/crds')

interface Definition {
  metadata: { name: string }
  spec: { group: string; names: { plural: string }; versions: { name: string; served: boolean }[] }
}

/**
 * Karmada's CRDs where they are at hand, the project's own for the rest. Returns once they are served, and says how
 * many of which.
 */
export async function installCrds(admin: ApiClient): Promise<string> {
  const karmadas = await definitionsIn(BESIDE_THE_CHECKOUT)
  const names = new Set(karmadas.map(({ metadata }) => metadata.name))
  const own = (karmadaCrds as unknown as Definition[]).filter(({ metadata }) => !names.has(metadata.name))
  const definitions = [...karmadas, ...own]
  for (const definition of definitions) {
    const answer = await admin.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)
    if (answer.code !== 201) throw new Error(`CRD ${definition.metadata.name}: ${answer.text}`)
  }
  for (const { spec } of definitions)
    for (const { name } of spec.versions.filter(({ served }) => served))
      await eventually(() => isServed(admin, `/apis/${spec.group}/${name}/${spec.names.plural}?limit=1`), 30_000)
  return `${karmadas.length} CRDs of Karmada and ${own.length} of the project's own`
}

async function definitionsIn(folder: string): Promise<Definition[]> {
  const files = await readdir(folder).catch(() => [])
  const texts = await Promise.all(
    files.filter((file) => file.endsWith('.yaml')).map((file) => readFile(join(folder, file), 'utf8')),
  )
  return texts.map((text) => parse(text) as Definition)
}

async function isServed(admin: ApiClient, path: string): Promise<void> {
  const { code, text } = await admin.get(path)
  if (code !== 200) throw new Error(`${path}: ${text}`)
}
