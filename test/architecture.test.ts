import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '..')

interface Cruise {
  summary: { totalCruised: number; error: number; violations: { rule: { name: string }; from: string }[] }
}

/** The checker as `npm run boundaries` runs it, with a machine-readable answer. */
async function cruise(cwd: string): Promise<Cruise> {
  const args = ['--config', '.dependency-cruiser.cjs', '--output-type', 'json', 'src', 'functions', 'test']
  const depcruise = join(ROOT, 'node_modules/.bin/depcruise')
  return new Promise((resolve, reject) => {
    execFile(depcruise, args, { cwd, maxBuffer: 1e9 }, (error, stdout) => {
      if (stdout === '') reject(error)
      else resolve(JSON.parse(stdout) as Cruise)
    })
  })
}

/** Files planted beside the real ones, each breaking one rule. */
const PLANTED: { folder: string; text: string; rule: string }[] = [
  { folder: 'src/domain', text: "import 'node:fs'", rule: 'inner-rings-need-no-node' },
  {
    folder: 'src/domain',
    text: "import type { Logger } from 'pino'\nexport type L = Logger",
    rule: 'pino-only-in-adapters-logging',
  },
  { folder: 'src/domain', text: "import '../ports/clock.ts'", rule: 'domain-imports-itself' },
  {
    folder: 'src/ports',
    text: "import type { Flow } from '../flow/flow.ts'\nexport type F = Flow",
    rule: 'provider-and-ports-know-domain',
  },
  { folder: 'src/flow', text: "import '../adapters/system/sha256.ts'", rule: 'reconcilers-and-flow-know-contracts' },
  { folder: 'src/reconcilers', text: "import 'undici'", rule: 'inner-rings-need-no-library' },
  { folder: 'src/adapters/memory', text: "import '../system/sha256.ts'", rule: 'no-adapter-to-adapter' },
  { folder: 'src/adapters/memory', text: "import '../../config/config.ts'", rule: 'outer-ring-knows-the-path' },
  { folder: 'src/adapters/memory', text: "import '../../local/kubeconfig.ts'", rule: 'no-outer-part-to-another' },
  {
    folder: 'src/adapters/memory',
    text: "import 'fastify'",
    rule: 'fastify-only-in-adapters-http-and-adapters-provider-server-and-local-and-compose',
  },
  {
    folder: 'src/adapters/http',
    text: "import '@kubernetes/client-node'",
    rule: '-kubernetes-client-node-only-in-adapters-kubernetes',
  },
  {
    folder: 'src/adapters/memory',
    text: "import '@nats-io/jetstream'",
    rule: '-nats-io--only-in-adapters-jetstream',
  },
  { folder: 'src/adapters/http', text: "import 'jose'", rule: 'jose-only-in-adapters-oidc' },
  {
    folder: 'src/compose',
    text: "import 'light-my-request'",
    rule: 'light-my-request-only-in-adapters-http',
  },
  { folder: 'src/testing', text: "import '../flow/sweep/sweep.ts'", rule: 'testing-knows-contracts' },
  { folder: 'src/config', text: "import '../compose/listen.ts'", rule: 'config-knows-adapters' },
  { folder: 'src/compose', text: "import '../cli/console.ts'", rule: 'compose-knows-all-but-cli' },
  { folder: 'src/cli', text: "import '../../functions/node/main.ts'", rule: 'src-knows-no-function-or-test' },
  { folder: 'src/domain', text: "import './planted-nowhere.ts'", rule: 'no-unresolved' },
]

t.test('the rings hold, and the checker sees every file', async (t) => {
  const { summary } = await cruise(ROOT)
  t.same(summary.violations, [])
  const files = await sourceFiles()
  t.ok(summary.totalCruised >= files.length, `${summary.totalCruised} modules seen, ${files.length} files`)
})

t.test('each rule reports a planted violation', async (t) => {
  const copy = await mkdtemp(join(tmpdir(), 'architecture-'))
  t.teardown(() => rm(copy, { recursive: true, force: true }))
  for (const part of ['src', 'functions', 'test', 'package.json', 'tsconfig.json', '.dependency-cruiser.cjs']) {
    await cp(join(ROOT, part), join(copy, part), { recursive: true })
  }
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  const planted = PLANTED.map((plant, index) => ({ ...plant, file: `${plant.folder}/planted-${index}.ts` }))
  for (const { file, text } of planted) await writeFile(join(copy, file), `${text}\n`)
  const { summary } = await cruise(copy)
  for (const { file, rule } of planted) {
    const found = summary.violations.filter(({ from }) => from === file).map((violation) => violation.rule.name)
    t.ok(found.includes(rule), `${rule} (found: ${found.join(', ') || 'nothing'})`)
  }
})

async function sourceFiles(): Promise<string[]> {
  const folders = ['src', 'functions', 'test']
  const found = await Promise.all(
    folders.map((folder) => readdir(join(ROOT, folder), { recursive: true, withFileTypes: true })),
  )
  return found
    .flat()
    .filter((entry) => entry.isFile() && /\.(ts|js)$/.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
}
