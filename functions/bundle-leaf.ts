import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build, type Metafile, type Plugin, transform } from 'esbuild'
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
const BEFORE = '(function (exports, require, module, __filename, __dirname, codeCache) {'
const BUNDLE_URL = "const bundleUrl = require('node:url').pathToFileURL(__filename).href;"
const AFTER = '})'

// Identifiers stay, so that stack traces and class names are those of the source.
const FOR_NODE = {
  platform: 'node',
  target: 'node22',
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  logLevel: 'warning',
} as const

const SCRIPT = { ...FOR_NODE, format: 'cjs', supported: { 'dynamic-import': false } } as const

/** One part, as a module of ECMAScript. */
interface Split extends Omit<BundlePart, 'bytes'> {
  text: string
}

/**
 * Writes the parts of one leaf into the folder: `function.cjs`, which is loaded at the start, and what is loaded when it is
 * first needed. The same source gives the same text.
 */
export async function bundleLeaf(main: string, folder: string): Promise<BundlePart[]> {
  const split = await splitLeaf(main, folder)
  const atStart = loadedWith(ENTRY, split)
  const later = split.filter((part) => !atStart.includes(part))
  const isAtStart = (name: string) => atStart.some((part) => part.name === name)
  const scripts = [
    { name: ENTRY, code: await asOneScript(atStart, later), needs: [], modules: modulesOf(atStart) },
    ...(await Promise.all(later.map(async (part) => ({ ...part, code: (await transform(part.text, SCRIPT)).code })))),
  ]
  mkdirSync(folder, { recursive: true })
  return scripts.map(({ name, code, needs, modules }) => {
    const required = code.replaceAll(/require\("\.\/([\w-]+)\.js"\)/g, (_, base) => {
      const part = `${base}.cjs`
      return isAtStart(part) ? `require("./${ENTRY}").${nameInside(part)}` : `require("./${part}")`
    })
    const script = `${BEFORE}${code.includes('bundleUrl') ? BUNDLE_URL : ''}${required}${AFTER}`
    writeFileSync(join(folder, name), script)
    return { name, bytes: script.length, needs: needs.map((need) => (isAtStart(need) ? ENTRY : need)), modules }
  })
}

async function splitLeaf(main: string, folder: string): Promise<Split[]> {
  const { outputFiles, metafile } = await build({
    ...FOR_NODE,
    entryPoints: { function: main },
    outdir: folder,
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    format: 'esm',
    chunkNames: 'part-[hash]',
    define: { 'import.meta.url': 'bundleUrl', 'import.meta.dirname': '__dirname' },
    plugins: [documentInside, schemasCompiled, onlyWhatIsUsed, shorterNames],
  })
  return outputFiles.map(({ path, text }) => ({ name: nameOf(path), text, ...contentOf(nameOf(path), metafile) }))
}

/**
 * What is loaded at the start is one script: each one more is a file to find and to read, and getters between the two. What
 * others need of its parts it exports under their names.
 */
async function asOneScript(parts: readonly Split[], others: readonly Split[]): Promise<string> {
  const texts = new Map(parts.map(({ name, text }) => [moduleOf(name), text]))
  const inside: Plugin = {
    name: 'parts-inside',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\.\// }, ({ path }) =>
        texts.has(path) ? { path, namespace: 'part' } : { path, external: true },
      )
      onLoad({ filter: /.*/, namespace: 'part' }, ({ path }) => ({ contents: texts.get(path) ?? '' }))
    },
  }
  const needed = parts.filter(({ name }) => others.some(({ needs }) => needs.includes(name)))
  const exported = needed.map(({ name }) => `export * as ${nameInside(name)} from '${moduleOf(name)}'`)
  const { outputFiles } = await build({
    ...SCRIPT,
    stdin: { contents: [`export * from '${moduleOf(ENTRY)}'`, ...exported].join('\n') },
    bundle: true,
    write: false,
    plugins: [inside],
  })
  return outputFiles[0]?.text ?? ''
}

/** As another part names it. */
function moduleOf(name: string): string {
  return `./${name.replace(/\.cjs$/, '.js')}`
}

function nameInside(name: string): string {
  return name.replace(/\.cjs$/, '').replaceAll('-', '_')
}

function modulesOf(parts: readonly Split[]): Record<string, number> {
  return Object.assign({}, ...parts.map(({ modules }) => modules))
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
export function loadedWith<Part extends Pick<BundlePart, 'name' | 'needs'>>(
  name: string,
  parts: readonly Part[],
): Part[] {
  const loaded = new Map<string, Part>()
  const visit = (asked: string) => {
    const part = parts.find((each) => each.name === asked)
    if (part === undefined || loaded.has(asked)) return
    loaded.set(asked, part)
    part.needs.forEach(visit)
  }
  visit(name)
  return [...loaded.values()]
}
