import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Command } from './console.ts'
import { UsageError } from './usage-error.ts'

/** Beside `src` and `dist`: the packages that are copied. They are tested as they are, under the name of Acme. */
const SCAFFOLDS = fileURLToPath(new URL('../../scaffold', import.meta.url))
const KINDS = ['multicluster', 'cloud']
const NAME = /^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$/

/** Writes a package with a provider that keeps its contract on a cloud that stands in. */
export const initCommand: Command = async (args, console) => {
  const { name, kind, directory } = parseInitArgs(args)
  if (existsSync(directory) && readdirSync(directory).length > 0)
    throw new UsageError(`init: ${directory} is not empty; give another one with --directory`)
  for (const path of filesOf(join(SCAFFOLDS, kind))) {
    const target = join(directory, renamed(path, name))
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, renamed(readFileSync(join(SCAFFOLDS, kind, path), 'utf8'), name))
    console.out(target)
  }
  console.out(`\ncd ${directory} && npm install && npm test`)
  return 0
}

function parseInitArgs(args: string[]) {
  const text = { type: 'string' } as const
  const options = { directory: text, kind: { ...text, default: 'multicluster' } }
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const [what, name, ...more] = positionals
  if (what !== 'provider' || name === undefined || more.length > 0)
    throw new UsageError('init: say `init provider NAME`')
  if (!NAME.test(name))
    throw new UsageError(`init: "${name}" is no name for a provider: lower case letters, digits and -, at most 40`)
  if (!KINDS.includes(values.kind)) throw new UsageError(`--kind: "${values.kind}" is not ${KINDS.join(' or ')}`)
  return { name, kind: values.kind, directory: values.directory ?? `${name}-cloud-provider` }
}

function filesOf(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort()
}

/** In paths and in texts: `acme-api` → `my-cloud-api`, `acmeProvider` → `myCloudProvider`, `AcmeApi` → `MyCloudApi`. */
function renamed(text: string, name: string): string {
  const pascal = name
    .split('-')
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('')
  const camel = pascal.charAt(0).toLowerCase() + pascal.slice(1)
  return text
    .replaceAll('Acme', pascal)
    .replaceAll(/acme(?=[A-Z])/g, camel)
    .replaceAll('acme', name)
}
