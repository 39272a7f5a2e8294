import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type BundlePart, bundleLeaf } from './bundle-leaf.ts'
import { compileBundles } from './compile-bundles.ts'

const ROOT = join(import.meta.dirname, '..')

/** What each leaf becomes: one file with everything in it, in a folder that its platform takes as it is. */
export const BUNDLES = {
  node: 'node/main.ts',
  knative: 'knative/main.ts',
  container: 'container/main.ts',
  google: 'google/main.ts',
  'aws-lambda': 'aws-lambda/main.ts',
  'kn-func/mutate': 'kn-func/mutate/main.ts',
  'kn-func/validate': 'kn-func/validate/main.ts',
  'kn-func/notify': 'kn-func/notify/main.ts',
  'kn-func/work': 'kn-func/work/main.ts',
} as const

export type Leaf = keyof typeof BUNDLES

/**
 * Writes for every leaf the parts of its bundle, the code that V8 compiles of each, `index.cjs` that loads both, and the
 * files that its platform wants beside them.
 */
export async function bundleFunctions(folder: string): Promise<Record<Leaf, BundlePart[]>> {
  rmSync(folder, { recursive: true, force: true })
  const bundles = await Promise.all(
    Object.entries(BUNDLES).map(async ([leaf, main]) => {
      const parts = await bundleLeaf(join(ROOT, 'functions', main), join(folder, leaf))
      copyFileSync(join(ROOT, 'functions/load-bundle.cjs'), join(folder, leaf, 'index.cjs'))
      if (leaf.startsWith('kn-func/')) writeFunc(join(folder, leaf), leaf.replace('kn-func/', ''))
      return [leaf, parts]
    }),
  )
  await compileBundles(folder, Object.keys(BUNDLES))
  writePackage(join(folder, 'google'), { main: 'index.cjs' })
  return Object.fromEntries(bundles)
}

/** Only what works calls the API server. */
const CREDENTIALS = / *- secret: webhook-cloud-provider-kubeconfig\n *path: .*\n/

function writeFunc(folder: string, door: string): void {
  const template = readFileSync(join(ROOT, 'functions/kn-func/func.yaml'), 'utf8')
  const text = template.replace(/^#.*\n/, '').replace('DOOR', door)
  writeFileSync(join(folder, 'func.yaml'), door === 'work' ? text : text.replace(CREDENTIALS, ''))
  writePackage(folder, {
    scripts: { start: 'faas-js-runtime ./index.cjs' },
    dependencies: { 'faas-js-runtime': installed('faas-js-runtime') },
  })
}

function writePackage(folder: string, content: object): void {
  mkdirSync(folder, { recursive: true })
  const engines = { node: '>=22.19' }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ private: true, engines, ...content }, null, 2)}\n`)
}

function installed(name: string): string {
  const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  return devDependencies[name]
}

if (import.meta.main) {
  const folder = join(ROOT, 'dist/functions')
  await bundleFunctions(folder)
  process.stdout.write(`${Object.keys(BUNDLES).length} bundles in ${relative(process.cwd(), folder)}\n`)
}
