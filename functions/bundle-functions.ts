import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { Script } from 'node:vm'
import { build, type Plugin } from 'esbuild'
import { openapiDocument } from '../src/compose/openapi-document.ts'

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
} as const

/**
 * Writes for every leaf `<folder>/<leaf>/function.cjs` with everything in it, the code that V8 compiles of it, `index.cjs`
 * that loads both, and the files that its platform wants beside them.
 */
export async function bundleFunctions(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  await build({
    entryPoints: Object.entries(BUNDLES).map(([leaf, file]) => ({
      in: join(ROOT, 'functions', file),
      out: join(leaf, 'function'),
    })),
    outdir: folder,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    target: 'node22',
    format: 'cjs',
    // Identifiers stay, so that stack traces and class names are those of the source.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    logLevel: 'warning',
    define: { 'import.meta.url': 'bundleUrl', 'import.meta.dirname': '__dirname' },
    // A function, to be called as `require` calls a module.
    banner: {
      js: "(function (exports, require, module, __filename, __dirname, codeCache) { const bundleUrl = require('node:url').pathToFileURL(__filename).href;",
    },
    footer: { js: '})' },
    plugins: [documentInside],
  })
  for (const leaf of Object.keys(BUNDLES)) {
    writeLoader(join(folder, leaf))
    if (leaf.startsWith('kn-func/')) writeFunc(join(folder, leaf), leaf.replace('kn-func/', ''))
  }
  writePackage(join(folder, 'google'), { main: 'index.cjs' })
}

/** A function has no files beside it to read the OpenAPI document from. */
const documentInside: Plugin = {
  name: 'openapi-document-inside',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]compose[\\/]openapi-document\.ts$/ }, () => ({
      contents: `export const openapiDocument = () => ${JSON.stringify(openapiDocument())}`,
    }))
  },
}

/** V8 takes the code only when it is the same version, of the same text. */
function writeLoader(folder: string): void {
  copyFileSync(join(ROOT, 'functions/load-bundle.cjs'), join(folder, 'index.cjs'))
  const script = new Script(readFileSync(join(folder, 'function.cjs'), 'utf8'))
  writeFileSync(join(folder, 'function.cache'), script.createCachedData())
}

function writeFunc(folder: string, door: string): void {
  const template = readFileSync(join(ROOT, 'functions/kn-func/func.yaml'), 'utf8')
  writeFileSync(join(folder, 'func.yaml'), template.replace(/^#.*\n/, '').replace('DOOR', door))
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
