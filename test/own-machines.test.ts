import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { parse as parseYaml } from 'yaml'
import { createSystemClock } from '../src/adapters/system/system-clock.ts'
import { builtInProviders } from '../src/cli/providers.ts'
import { loadSettings } from '../src/compose/load-settings.ts'
import { caddyMissing, startCaddy } from './support/caddy.ts'
import { startWcp } from './support/command-line.ts'
import { scriptsOf } from './support/doc-commands.ts'
import { createTestHaproxy, haproxyMissing } from './support/haproxy.ts'
import { silentLogger } from './support/silent-logger.ts'

// What docs/your-own-machines.md tells, done as far as it needs no machine: users, packages and units are left out.

const ROOT = join(import.meta.dirname, '..')
const PAGE = 'docs/your-own-machines.md'
const text = readFileSync(join(ROOT, PAGE), 'utf8')
const haproxyPage = readFileSync(join(ROOT, 'docs/haproxy.md'), 'utf8')
const run = promisify(execFile)

/** The fenced block after this comment. */
function block(name: string): string {
  const found = new RegExp(`<!-- own-machines: ${name} -->\n\`\`\`\\w+\n(.*?)\n\`\`\``, 's').exec(text)?.[1]
  if (found === undefined) throw new Error(`${PAGE} has no block "${name}"`)
  return found
}

/** A directory with `wcp` on its PATH. */
function reader(t: Test, variables: Record<string, string>) {
  const directory = mkdtempSync(join(tmpdir(), 'own-machines-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  const programs = join(directory, 'bin')
  mkdirSync(programs)
  writeFileSync(join(programs, 'wcp'), `#!/bin/sh\nexec '${process.execPath}' '${ROOT}/src/cli/main.js' "$@"\n`)
  chmodSync(join(programs, 'wcp'), 0o755)
  const env = { PATH: `${programs}:${process.env['PATH']}`, HOME: directory }
  return {
    directory,
    script: async (script: string, more: Record<string, string> = {}) =>
      (
        await run('bash', ['-euo', 'pipefail', '-c', script], {
          cwd: directory,
          env: { ...env, ...variables, ...more },
        })
      ).stdout,
  }
}

t.test(
  'certificate, token, agent: the scripts and the unit, word for word',
  { skip: haproxyMissing(process.env) ?? false },
  async (t) => {
    const [prepare = '', ask = '', ...others] = scriptsOf(PAGE, 'own-machines')
    t.same(others, [])
    const { directory, script } = reader(t, { MACHINE: '127.0.0.1' })
    await script(prepare)

    const machine = createTestHaproxy()
    t.teardown(() => machine.close())
    await machine.startEmpty()
    const { baseConfiguration: _, ...documented } = parseYaml(block('haproxy.yaml')) as Record<string, unknown>
    t.same(Object.keys(documented), ['addresses', 'runtimeSocket', 'masterSocket'])
    const options = { ...machine.options, addresses: documented['addresses'] }
    writeFileSync(join(directory, 'haproxy.yaml'), JSON.stringify(options))
    const placed = (command: string) =>
      command
        .replaceAll('/etc/wcp/haproxy.yaml', join(directory, 'haproxy.yaml'))
        .replaceAll('/etc/wcp/', `${join(directory, 'machine')}/`)
        .replace('--listen :9443', '--listen 127.0.0.1:0')
    const started = /^ *ExecStart=\S*\/wcp (.+)$/m.exec(haproxyPage)?.[1] ?? t.fail('the unit has no ExecStart')
    const agent = startWcp(placed(String(started)).split(' '))
    t.teardown(() => agent.child.kill('SIGTERM'))
    const [, url = ''] = await agent.printed(/listens at (https:\S+)$/m)
    t.match(await machine.ask('show info'), /Maxconn/, 'HAProxy is configured before anybody calls')

    t.match(JSON.parse(await script(ask, { AGENT: url })), {
      name: 'haproxy',
      serves: { MultiClusterIngress: { list: true }, MultiClusterService: { list: true } },
    })
    await t.rejects(script(ask.replace('$(cat machine/token)', 'guessed'), { AGENT: url }), /401/)
  },
)

t.test('the configurations of the function are taken, and need no other option', async (t) => {
  for (const name of ['function for haproxy', 'function for caddy']) {
    const files = { kubernetes: { kubeconfig: '/nowhere' }, callers: { anyone: true } }
    const settings = await loadSettings({
      text: JSON.stringify({ ...(parseYaml(block(name)) as object), ...files }),
      environment: {},
      registry: builtInProviders(),
      clock: createSystemClock(),
      createLogger: () => silentLogger,
    })
    t.equal(settings.provider.name, name === 'function for caddy' ? 'caddy' : 'http')
    t.match(settings.config.ingressClass.names, [settings.config.finalizer.split('/')[1]])
  }
})

t.test(
  'Caddy takes the configuration that it is given first',
  { skip: caddyMissing(process.env) ?? false },
  async (t) => {
    const caddy = await startCaddy()
    t.teardown(() => caddy.close())
    const { host } = new URL(caddy.admin)
    const given = block('caddy.json').replaceAll('10.0.0.5:2019', host)
    await caddy.change('POST', '/load', JSON.parse(given))
    t.match(await caddy.configuration(), { admin: { listen: host } })
  },
)
