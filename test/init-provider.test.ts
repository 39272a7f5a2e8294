import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { openDoors } from '../src/config/caller-faults.ts'
import { parseConfig } from '../src/config/parse-config.ts'
import { wcp } from './support/command-line.ts'

const ROOT = join(import.meta.dirname, '..')
const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'init-'))
t.teardown(() => rmSync(folder, { recursive: true }))

/** As `npm install` with this package beside it. */
function install(directory: string): void {
  mkdirSync(join(directory, 'node_modules/@types'), { recursive: true })
  symlinkSync(ROOT, join(directory, 'node_modules/webhook-cloud-provider'))
  symlinkSync(join(ROOT, 'node_modules/@types/node'), join(directory, 'node_modules/@types/node'))
}

for (const { kind, name, prefix } of [
  { kind: 'multicluster', name: 'my-cloud', prefix: 'myCloud' },
  { kind: 'cloud', name: 'zeta', prefix: 'zeta' },
])
  t.test(`a ${kind} provider is begun, type-checks and keeps its contract`, async (t) => {
    const directory = join(folder, name)
    const { code, out, err } = await wcp(['init', 'provider', name, '--kind', kind, '--directory', directory])
    t.match({ code, err }, { code: 0, err: '' })
    t.match(out, `${name}/src/${name}-provider.ts`)
    t.match(out, /&& npm install && npm test$/)
    const files = readdirSync(directory, { recursive: true }).map(String)
    const texts = files.filter((file) => /\.\w+$/.test(file)).map((file) => readFileSync(join(directory, file), 'utf8'))
    t.notMatch(`${files}${texts}`, /acme/i, 'nothing is left of the model')
    t.match(texts.join('\n'), `${prefix}ProviderFactory`)
    const { config, faults } = parseConfig(readFileSync(join(directory, 'config.yaml'), 'utf8'), {})
    t.strictSame(faults, [])
    t.strictSame(config && openDoors(config.callers, config.server), [], 'the function starts with its configuration')

    install(directory)
    await t.resolves(
      run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', directory]),
      'type-checks',
    )
    const tests = readdirSync(join(directory, 'test')).filter((file) => file.endsWith('.test.ts'))
    const { stdout } = await run(process.execPath, ['--test', ...tests.map((file) => join('test', file))], {
      cwd: directory,
    })
    t.match(stdout, /pass 1\b/)
    t.match(stdout, /fail 0\b/)
  })

t.test('the model names this version, and the tools that this package is built with', async (t) => {
  const read = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'))
  const own = read('package.json')
  for (const kind of ['multicluster', 'cloud']) {
    const { dependencies, devDependencies, engines } = read(`scaffold/${kind}/package.json`)
    t.strictSame(
      { dependencies, engines },
      { dependencies: { 'webhook-cloud-provider': own.version }, engines: own.engines },
    )
    for (const [name, version] of Object.entries(devDependencies)) t.equal(version, own.devDependencies[name], name)
  }
})

t.test('what is wrong on the command line', async (t) => {
  mkdirSync(join(folder, 'taken/src'), { recursive: true })
  for (const { args, says } of [
    { args: [], says: /^init: say `init provider NAME`$/ },
    { args: ['provider'], says: /^init: say/ },
    { args: ['cluster', 'x'], says: /^init: say/ },
    { args: ['provider', '../x'], says: /^init: "\.\.\/x" is no name/ },
    { args: ['provider', 'Acme'], says: /is no name/ },
    { args: ['provider', 'x', '--kind', 'both'], says: /^--kind: "both" is not multicluster or cloud$/ },
    { args: ['provider', 'x', '--directory', join(folder, 'taken')], says: /is not empty/ },
  ])
    t.match(await wcp(['init', ...args]), { code: 2, out: '', err: says })
})
