import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Scenario } from './scenario.ts'

const FOLDER = join(import.meta.dirname, 'scenarios')

/** Every file of scenarios/, in the order of their names. */
export async function loadScenarios(): Promise<Scenario[]> {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.ts')).sort()
  const found: Scenario[] = []
  for (const file of files) {
    const exported = (await import(pathToFileURL(join(FOLDER, file)).href)) as Exported
    const scenarios = [exported.scenario ?? [], exported.scenarios ?? []].flat()
    if (scenarios.length === 0) throw new Error(`scenarios/${file} exports neither scenario nor scenarios`)
    found.push(...scenarios)
  }
  return found
}

interface Exported {
  scenario?: Scenario | Scenario[]
  scenarios?: Scenario[]
}
