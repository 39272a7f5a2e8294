import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Every file of a folder, in the order of their names. Each exports `scenario` or `scenarios`. */
export async function loadScenarios<S>(folder: string): Promise<S[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.ts')).sort()
  const found: S[] = []
  for (const file of files) {
    const exported = (await import(pathToFileURL(join(folder, file)).href)) as Exported<S>
    const scenarios = [exported.scenario ?? [], exported.scenarios ?? []].flat() as S[]
    if (scenarios.length === 0) throw new Error(`${file} exports neither scenario nor scenarios`)
    found.push(...scenarios)
  }
  return found
}

interface Exported<S> {
  scenario?: S | S[]
  scenarios?: S[]
}
