import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import { followStep, pathWith, type Step, walkThroughSteps } from '../../support/walk-through.ts'
import type { Scenario, ScenarioContext } from '../scenario.ts'
import { addressesOf, backend, ingress, ingressPath } from '../support/balanced-objects.ts'
import { emptyNamespace } from '../support/empty-namespace.ts'
import { withInstallation } from '../support/installation.ts'

const SAMPLES = join(import.meta.dirname, '../../../manifests/samples')
const namespace = 'walk-through'

export const scenarios: Scenario[] = [
  {
    name: 'the walk-through of the README with kubectl, word for word but for columns that only ours has',
    async run(context) {
      const { admin, server, kubectl } = context
      await withInstallation(context, namespace, async (installed) => {
        await installed.start()
        await installed.register()
        // What `npm start` has done when the walk-through begins.
        for (const [file, path] of [
          ['multi-cluster-ingress.yaml', ingressPath('default', 'minimal-ingress')],
          [
            'multi-cluster-service.yaml',
            '/apis/networking.karmada.io/v1alpha1/namespaces/default/multiclusterservices/serve',
          ],
        ] as const) {
          await kubectl(['apply', '-f', join(SAMPLES, file)])
          await eventually(async () => assert.equal(addressesOf(await mustBe(200, admin.get(path))).length, 1))
        }
        const home = join(server.directory, 'walk-through')
        await mkdir(home)
        const env = { PATH: pathWith(server.kubectl), KUBECONFIG: server.kubeconfigPath, HOME: home }
        const steps = walkThroughSteps().map(asKarmadaPrints)
        try {
          for (const step of steps) {
            const { actual, expected } = await followStep(step, env)
            assert.equal(actual, expected, step.command)
          }
        } finally {
          await kubectl(['delete', '--ignore-not-found', '-f', join(SAMPLES, 'multi-cluster-ingress.yaml')])
          await admin.delete('/api/v1/namespaces/shop')
          await emptyNamespace(admin, 'shop', 10_000)
        }
        context.log(`${steps.length} commands, every output as printed`)
      })
    },
  },
  {
    name: 'kubectl: server-side apply, edit, get -w, describe, wait --for=delete',
    async run(context) {
      const { admin, kubectl } = context
      const inNamespace = ['-n', namespace]
      await withInstallation(context, namespace, async (installed) => {
        await installed.start()
        await installed.register()
        const watch = watchIngresses(context)
        try {
          await kubectl(['apply', '--server-side', '-f', '-', ...inNamespace], JSON.stringify(ingress('web')))
          await eventually(() => installed.converged(1))
          // Ours are not among the fields that were applied, so the next apply leaves them alone.
          const changed = ingress('web', { spec: { defaultBackend: backend(81) } })
          await kubectl(['apply', '--server-side', '-f', '-', ...inNamespace], JSON.stringify(changed))
          await eventually(() => assertUpdates(installed.cloud.calls(), 1))
          await installed.converged(1)

          await edit(context, ['edit', 'mci', 'web', ...inNamespace], 's/number: 81/number: 82/')
          await eventually(() => assertUpdates(installed.cloud.calls(), 2))
          const { spec } = await mustBe(200, admin.get(ingressPath(namespace, 'web')))
          assert.deepEqual(spec?.['defaultBackend'], backend(82))

          await eventually(async () => {
            const { stdout } = await kubectl(['describe', 'mci', 'web', ...inNamespace])
            for (const part of [
              /Finalizers:\n\s+webhook-cloud-provider.dev\/fake/,
              /EnsuredLoadBalancer/,
              /UpdatedLoadBalancer/,
              /Ip:\s+192\.0\.2\.1/,
            ])
              assert.match(stdout, part)
          })

          await kubectl(['delete', 'mci', 'web', '--wait=false', ...inNamespace])
          await kubectl(['wait', '--for=delete', 'mci/web', '--timeout=10s', ...inNamespace])
          await installed.converged(0)
          await eventually(() => assert.match(watch.output(), /^ADDED +web .*\n(MODIFIED +web .*\n)+DELETED +web /m))
        } finally {
          watch.end()
        }
        context.log('9 commands, state and cloud as expected after each')
      })
    },
  },
]

/**
 * Columns that no CRD has: Karmada's show name and age alone. Only our local control plane prints them, and the README
 * shows that one.
 */
const LOCAL_COLUMNS = ['CLASS', 'TYPES', 'ADDRESS']

function asKarmadaPrints({ command, output }: Step): Step {
  if (!/^kubectl get .*\bmci\b/.test(command)) return { command, output }
  return { command, output: output.split('\n\n').map(withoutLocalColumns).join('\n\n') }
}

/** A column reaches from its title to the next. */
function withoutLocalColumns(table: string): string {
  const [header = '', ...rows] = table.split('\n')
  const columns = [...header.matchAll(/\S+\s*/g)].filter(([title]) => !LOCAL_COLUMNS.includes(title.trim()))
  return [header, ...rows]
    .map((line) => columns.map(({ 0: title, index }) => line.slice(index, index + title.length).padEnd(title.length)))
    .map((cells) => cells.join(''))
    .join('\n')
}

/** kubectl edit with an editor that does not ask. */
function edit({ server }: ScenarioContext, parameters: readonly string[], change: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const env = {
      PATH: process.env['PATH'],
      KUBECONFIG: server.kubeconfigPath,
      HOME: server.directory,
      KUBE_EDITOR: `sed -i.bak '${change}'`,
    }
    const child = spawn(server.kubectl, parameters, { env, stdio: 'ignore' })
    child.once('error', reject)
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`kubectl edit: exit ${code}`))))
  })
}

function watchIngresses({ server }: ScenarioContext) {
  const parameters = ['get', 'mci', '-n', namespace, '-w', '--output-watch-events', '--no-headers']
  const env = { KUBECONFIG: server.kubeconfigPath, HOME: server.directory }
  const child = spawn(server.kubectl, parameters, { env, stdio: ['ignore', 'pipe', 'ignore'] })
  const chunks: string[] = []
  child.stdout.on('data', (chunk) => void chunks.push(String(chunk)))
  const dieWithUs = () => void child.kill('SIGKILL')
  process.once('exit', dieWithUs)
  return {
    output: () => chunks.join(''),
    end() {
      process.off('exit', dieWithUs)
      child.kill()
    },
  }
}

function assertUpdates(calls: readonly { method: string }[], expected: number): void {
  const updates = calls.filter(({ method }) => method === 'update')
  assert.ok(updates.length >= expected, `${updates.length} updates`)
}
