import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build, type Metafile, transform } from 'esbuild'
import { documentInside } from './document-inside.ts'
import { onlyWhatIsUsed } from './only-what-is-used.ts'
import { schemasCompiled } from './schemas-compiled.ts'
import { shorterNames } from './shorter-names.ts'

/** The entry of a bundle: what the platform's loader gets. */
export const ENTRY = 'function.cjs'

/** One file of a bundle. */
export interface BundlePart {
  name: string
  bytes: number
  /** Parts that are loaded with it. */
  needs: string[]
  /** Which modules it is made of, and how many bytes each has of it before they were made a script. */
  modules: Record<string, number>
}

// esbuild splits modules of ECMAScript only, and V8 keeps compiled code of scripts only. So it splits first, and makes
// a function of each part then, to be called as `require` calls a module.
const BEFORE =
  "(function (exports, require, module, __filename, __dirname, codeCache) { const bundleUrl = require('node:url').pathToFileURL(__filename).href;"
const AFTER = '})'

/**
 * Writes the parts of one leaf into the folder: `function.cjs`, which is loaded at the start, and what is loaded when it is
 * first needed. The same source gives the same text.
 */
export async function bundleLeaf(main: string, folder: string): Promise<BundlePart[]> {
  const { outputFiles, metafile } = await build({
    entryPoints: { function: main },
    outdir: folder,
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    platform: 'node',
    target: 'node22',
    format: 'esm',
    // Identifiers stay, so that stack traces and class names are those of the source.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    logLevel: 'warning',
    chunkNames: 'part-[hash]',
    define: { 'import.meta.url': 'bundleUrl', 'import.meta.dirname': '__dirname' },
    plugins: [documentInside, schemasCompiled, onlyWhatIsUsed, shorterNames],
  })
  mkdirSync(folder, { recursive: true })
  const parts: BundlePart[] = []
  for (const { path, text } of outputFiles) {
    const { code } = await transform(text, {
      format: 'cjs',
      platform: 'node',
      target: 'node22',
      supported: { 'dynamic-import': false },
      minifyWhitespace: true,
      minifySyntax: true,
      legalComments: 'none',
    })
    const script = `${BEFORE}${code.replaceAll(/require\("\.\/([\w-]+)\.js"\)/g, 'require("./$1.cjs")')}${AFTER}`
    const name = nameOf(path)
    writeFileSync(join(folder, name), script)
    parts.push({ name, bytes: script.length, ...contentOf(name, metafile) })
  }
  return parts
}

function nameOf(path: string): string {
  return basename(path).replace(/\.js$/, '.cjs')
}

function contentOf(name: string, { outputs }: Metafile): Pick<BundlePart, 'needs' | 'modules'> {
  const [, output] = Object.entries(outputs).find(([path]) => nameOf(path) === name) ?? []
  const imports = output?.imports.filter(({ kind, external }) => kind === 'import-statement' && !external) ?? []
  const modules = Object.fromEntries(
    Object.entries(output?.inputs ?? {}).map(([path, { bytesInOutput }]) => [path, bytesInOutput]),
  )
  return { needs: imports.map(({ path }) => nameOf(path)), modules }
}

/** What is loaded when this part is. */
export function loadedWith(name: string, parts: readonly BundlePart[]): BundlePart[] {
  const loaded = new Map<string, BundlePart>()
  const visit = (asked: string) => {
    const part = parts.find((each) => each.name === asked)
    if (part === undefined || loaded.has(asked)) return
    loaded.set(asked, part)
    part.needs.forEach(visit)
  }
  visit(name)
  return [...loaded.values()]
}
