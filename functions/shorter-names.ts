import { readFileSync } from 'node:fs'
import { type Plugin, transform } from 'esbuild'

/**
 * Names inside of packages are made short, those of methods and properties excepted. Our own stay, and the path of each
 * module: a stack trace still says where it was.
 */
export const shorterNames: Plugin = {
  name: 'shorter-names',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]node_modules[\\/].*\.[cm]?js$/ }, async ({ path }) => ({ contents: await shortened(path) }))
  },
}

const done = new Map<string, Promise<string>>()

function shortened(path: string): Promise<string> {
  const known = done.get(path) ?? shorten(readFileSync(path, 'utf8'))
  done.set(path, known)
  return known
}

async function shorten(text: string): Promise<string> {
  const isCommonJs = !/^(import|export)\b/m.test(text)
  const { code } = await transform(text, {
    minifyIdentifiers: true,
    platform: 'node',
    target: 'node22',
    // What stands outside of functions is the module's own there.
    ...(isCommonJs && { format: 'cjs' }),
  })
  return code
}
