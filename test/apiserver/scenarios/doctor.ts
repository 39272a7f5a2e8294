import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Check, CheckName } from '../../../src/domain/doctor/diagnose.ts'
import type { State } from '../../../src/domain/doctor/examination.ts'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import { wcp } from '../../support/command-line.ts'
import type { Scenario, ScenarioContext } from '../scenario.ts'
import { ingressPath } from '../support/balanced-objects.ts'
import { withCloudInstallation } from '../support/cloud-installation.ts'
import { type Installation, withInstallation } from '../support/installation.ts'
import { registerKarmada } from '../support/register-karmada.ts'

const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1'
const ROLE = '/apis/rbac.authorization.k8s.io/v1/clusterroles/webhook-cloud-provider'
const namespace = 'doctor'

export const scenarios: Scenario[] = [
  {
    name: 'doctor: green on a healthy installation, and red where something is taken away',
    async run(context) {
      await withInstallation(
        context,
        namespace,
        async (installed) => {
          const karmada = await registerKarmada(context)
          try {
            await installed.start()
            await installed.register()
            await followsTheSweeps(context, installed)
            await isGreen(context, installed)
            await knowsItsLimits(context, installed)
            await asksByImpersonation(context, installed)
            await seesWhatIsTakenAway(context, installed)
          } finally {
            await karmada.remove()
          }
        },
        { pathPrefix: '/a-secret-segment' },
      )
    },
  },
  {
    name: 'doctor under one cluster: green, but for doors that take anybody',
    async run(context) {
      await withCloudInstallation(context, async (installed) => {
        await installed.sweep('all')
        // The cloud of this installation is verified at once; a cron is not that fast.
        const configFile = await changedConfig(installed.configFile, { sweep: {} })
        const { checks, code } = await examine(context, { configFile }, undefined, 'default')
        const troubled = checks.filter(({ state }) => state !== 'green')
        assert.deepEqual(
          troubled.map(({ name, state }) => `${name}: ${state}`),
          ['authentication: yellow'],
        )
        assert.equal(code, 0)
        assert.match(summaryOf(checks, 'dry-run'), /: mutate, validate, notify$/)
      })
    },
  },
]

interface Report {
  code: number | null
  state: State
  checks: Check[]
}

/** As an administrator, unless other credentials are given. */
async function examine(
  { server }: ScenarioContext,
  { configFile }: Pick<Installation, 'configFile'>,
  credentials = ['--kubeconfig', server.kubeconfigPath],
  inNamespace = namespace,
): Promise<Report> {
  const args = ['doctor', '--config', configFile, '--namespace', inNamespace, '-o', 'json']
  const { code, out, err } = await wcp([...args, ...credentials])
  assert.equal(err, '')
  return { code, ...(JSON.parse(out) as Omit<Report, 'code'>) }
}

/** What the doctor reads, beside what the function runs with. */
async function changedConfig(configFile: string, changes: object): Promise<string> {
  const config = JSON.parse(await readFile(configFile, 'utf8')) as object
  const changed = join(dirname(configFile), 'of-the-doctor.json')
  await writeFile(changed, JSON.stringify({ ...config, ...changes }))
  return changed
}

async function followsTheSweeps(context: ScenarioContext, installed: Installation): Promise<void> {
  const stateOf = async (configFile: string) =>
    (await examine(context, { configFile })).checks.find(({ name }) => name === 'last-sweep')?.state
  assert.equal(await stateOf(installed.configFile), 'yellow', 'none yet')
  await installed.sweep()
  assert.equal(await stateOf(installed.configFile), 'green')
  const often = await changedConfig(installed.configFile, { sweep: { intervalMs: 1 } })
  assert.equal(await stateOf(often), 'red', 'it should have been long ago')
}

async function isGreen(context: ScenarioContext, installed: Installation): Promise<void> {
  const { checks, code } = await examine(context, installed)
  assert.deepEqual(
    checks.filter(({ state }) => state !== 'green'),
    [],
  )
  assert.equal(code, 0)
  context.log(summaryOf(checks, 'api'))
  context.log(summaryOf(checks, 'latency'))
  const { items } = await mustBe(200, context.admin.get(ingressPath(namespace)))
  assert.deepEqual(items, [], 'nothing is stored')
}

function summaryOf(checks: readonly Check[], wanted: CheckName): string {
  return checks.find(({ name }) => name === wanted)?.summary ?? ''
}

/** The function's own role does not let it look at webhooks, and of its own writes it is not asked. */
async function knowsItsLimits(context: ScenarioContext, installed: Installation): Promise<void> {
  const { checks, code } = await examine(context, installed, [])
  const doubted = checks.filter(({ state }) => state !== 'green').map(({ name }) => name)
  const byWebhooks: CheckName[] = ['webhooks', 'ca-bundle', 'url', 'certificate', 'reachability', 'dry-run', 'latency']
  assert.deepEqual(doubted.slice(0, byWebhooks.length), byWebhooks)
  assert.deepEqual(
    checks.filter(({ state }) => state === 'red'),
    [],
  )
  assert.equal(code, 0)
}

/** Where the function's kubeconfig is not, an administrator asks in its name. */
async function asksByImpersonation(context: ScenarioContext, installed: Installation): Promise<void> {
  const configFile = await changedConfig(installed.configFile, { kubernetes: { kubeconfig: '/no/such/kubeconfig' } })
  const { checks } = await examine(context, { configFile })
  assert.deepEqual(
    checks.filter(({ name }) => name === 'rbac' || name === 'identity').map(({ state }) => state),
    ['green', 'green'],
  )
}

async function seesWhatIsTakenAway(context: ScenarioContext, installed: Installation): Promise<void> {
  const { admin } = context
  const becomes = (expected: Partial<Record<CheckName, State>>) =>
    eventually(async () => {
      const { checks } = await examine(context, installed)
      const found = Object.fromEntries(checks.map(({ name, state }) => [name, state]))
      for (const [name, state] of Object.entries(expected)) assert.equal(found[name], state, name)
    }, 20_000)

  const role = await mustBe(200, admin.get(ROLE))
  await mustBe(200, admin.patch('merge-patch', ROLE, { rules: [] }))
  await becomes({ rbac: 'red' })
  await mustBe(200, admin.patch('merge-patch', ROLE, { rules: role['rules'] as object[] }))
  await becomes({ rbac: 'green' })

  await mustBe(200, admin.delete(`${CONFIGURATIONS}/mutatingwebhookconfigurations/webhook-cloud-provider`))
  await becomes({ webhooks: 'red', 'dry-run': 'red', identity: 'green' })
}
