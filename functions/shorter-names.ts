import { readFileSync } from 'node:fs'
import { type Plugin, transform } from 'esbuild'

/**
 * Names inside of functions of packages are made short. What a stack trace shows stays: our own names, and those of
 * functions, classes and methods of packages.
 */
export const shorterNames: Plugin = {
  name: 'shorter-names',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]node_modules[\\/].*\.c?js$/ }, async ({ path }) => ({ contents: await shortened(path) }))
  },
}

const done = new Map<string, Promise<string>>()

function shortened(path: string): Promise<string> {
  const known = done.get(path) ?? transform(readFileSync(path, 'utf8'), SHORTER).then(({ code }) => code)
  done.set(path, known)
  return known
}

const SHORTER = { minifyIdentifiers: true, platform: 'node', target: 'node22' } as const
