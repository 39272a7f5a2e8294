import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { BUNDLES } from '../../functions/bundle-functions.ts'
import { ASKED } from '../bounds.ts'
import type { Figure } from '../figure.ts'
import { type Asked, counted } from '../row.ts'

const KB = 1024

const BOUNDS: Readonly<Record<string, Asked>> = { 'kn-func/notify': ASKED.bundleKb.notify, node: ASKED.bundleKb.full }

/** The code of a leaf, in the files that its folder brings; what V8 compiled of it is in a row of its own. */
export const bundleSize: Figure = {
  name: 'bundle-size',
  async run(bench) {
    const bundles = await bench.bundles()
    return Object.keys(BUNDLES).flatMap((leaf) => {
      const sizes = sizesIn(join(bundles, leaf))
      return [
        counted({ name: `bundle: ${leaf}`, unit: 'KB', ours: [sizes.code] }, BOUNDS[leaf]),
        counted({ name: `code cache: ${leaf}`, unit: 'KB', ours: [sizes.cache] }),
      ]
    })
  },
}

function sizesIn(folder: string): { code: number; cache: number } {
  const files = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile())
  const sum = (pattern: RegExp) =>
    files
      .filter(({ name }) => pattern.test(name))
      .reduce((size, { parentPath, name }) => size + statSync(join(parentPath, name)).size, 0) / KB
  return { code: sum(/\.[cm]?js$/), cache: sum(/\.cache$/) }
}
