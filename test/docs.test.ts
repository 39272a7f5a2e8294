import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { diagnose } from '../src/domain/doctor/diagnose.ts'
import { INSTANCES_CHECKS } from '../src/testing/instances-checks.ts'
import { LEVEL_ONE } from '../src/testing/level-one.ts'
import { LEVEL_TWO } from '../src/testing/level-two.ts'
import { ROUTES_CHECKS } from '../src/testing/routes-checks.ts'
import { buildFacts } from './support/build-facts.ts'

// What the pages say is there is there.

const ROOT = join(import.meta.dirname, '..')
const PAGES = ['README.md', 'CONTRIBUTING.md', ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`)]
const textOf = (page: string) => readFileSync(join(ROOT, page), 'utf8')

t.test('links lead to files that exist, and anchors to headings', async (t) => {
  for (const page of PAGES) {
    for (const [, text = '', link = ''] of textOf(page).matchAll(/\[([^\]]+)\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(link)) continue
      const [path = '', anchor] = link.split('#')
      const file = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), path)
      t.ok(existsSync(file), `${page}: ${link}`)
      if (anchor !== undefined)
        t.ok(anchorsOf(readFileSync(file, 'utf8')).includes(anchor), `${page}: ${link} (${text})`)
    }
  }
})

function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} -]/gu, '')
      .replaceAll(' ', '-'),
  )
}

t.test('the tests that the guarantees name are there, by their titles', async (t) => {
  for (const page of ['docs/guarantees.md', 'docs/migration.md']) {
    for (const [, title = '', path = ''] of textOf(page).matchAll(/\[([^\]]+)\]\(\.\.\/(test\/[^)]+)\)/g)) {
      if (title.endsWith('.ts')) continue
      t.ok(readFileSync(join(ROOT, path), 'utf8').includes(title), `${path}: ${title}`)
    }
  }
})

t.test('each guarantee names a test', async (t) => {
  const rows = textOf('docs/guarantees.md')
    .split('\n')
    .filter((line) => /^\| (?!-|---|guarantee |what )/.test(line))
  t.ok(rows.length > 20)
  for (const row of rows) t.match(row, /\]\(\.\.\/test\//, row.slice(0, 80))
})

t.test('YAML in the pages is YAML', async (t) => {
  for (const page of PAGES)
    for (const [, text = ''] of textOf(page).matchAll(/^```ya?ml\n(.*?)^```$/gms))
      for (const document of parseAllDocuments(text))
        t.strictSame('errors' in document ? document.errors : [], [], page)
})

t.test('the checks of the conformance kit are in its page', async (t) => {
  const text = textOf('docs/write-a-provider.md')
  const named = (row: string) =>
    [...(text.match(new RegExp(`^\\| ${row} \\| (.+) \\|$`, 'm'))?.[1] ?? '').matchAll(/`([a-z-]+)`/g)].map(
      ([, name]) => name,
    )
  t.strictSame(
    named('balancers, level 1'),
    LEVEL_ONE.map(({ name }) => name),
  )
  t.strictSame(
    named('balancers, level 2'),
    LEVEL_TWO.map(({ name }) => name),
  )
  for (const [row, checks] of [
    ['instances', INSTANCES_CHECKS],
    ['routes', ROUTES_CHECKS],
  ] as const) {
    t.strictSame(
      named(row),
      checks.map(({ name }) => name),
    )
  }
})

t.test('the checks of the doctor that the failure modes name are there', async (t) => {
  const names: readonly string[] = diagnose(buildFacts()).checks.map(({ name }) => name)
  const told = [...textOf('docs/failures.md').matchAll(/doctor: ((?:`[a-z-]+`(?:, )?)+)/g)].flatMap(([, list = '']) =>
    [...list.matchAll(/`([a-z-]+)`/g)].map(([, name = '']) => name),
  )
  t.ok(told.length > 10)
  t.strictSame(
    told.filter((name) => !names.includes(name)),
    [],
  )
})
