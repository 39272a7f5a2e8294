import type { World } from './support/world.ts'

/** Something that must work with real proxies. The file below scenarios/ exports `scenario` or `scenarios`. */
export interface Scenario {
  name: string
  run(world: World): Promise<void>
}
