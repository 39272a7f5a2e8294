import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type ManifestFile, parseManifests } from '../../src/compose/manifest-file.ts'

export const MANIFESTS = join(import.meta.dirname, '../../manifests')

const run = promisify(execFile)

/** A kustomization, rendered by kubectl; its own leading comment is the header. */
export async function renderKustomization(kubectl: string, folder: string): Promise<ManifestFile> {
  const { stdout } = await run(kubectl, ['kustomize', folder], { maxBuffer: 1e8 })
  const { header } = parseManifests(await readFile(join(folder, 'kustomization.yaml'), 'utf8'))
  return { header, objects: parseManifests(stdout).objects }
}
