import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ApiClient } from '../../contracts/kubernetes-api/api-client.ts'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import { wcp } from '../../support/command-line.ts'
import type { Scenario, ScenarioContext } from '../scenario.ts'
import { createBackend } from '../support/backends.ts'
import { ingress, ingressPath, service, servicePath } from '../support/balanced-objects.ts'
import { type Installation, withInstallation } from '../support/installation.ts'

const ROOT = join(import.meta.dirname, '../../..')
const namespace = 'uninstall'
const LEFT = [
  ['serviceexports', `/apis/multicluster.x-k8s.io/v1alpha1/namespaces/${namespace}/serviceexports`],
  ['propagationpolicies', `/apis/policy.karmada.io/v1alpha1/namespaces/${namespace}/propagationpolicies`],
  ['mutating webhooks', '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations'],
  ['validating webhooks', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'],
] as const

export const scenario: Scenario = {
  name: 'uninstall in the order of docs/upgrade-and-uninstall.md, word for word: nothing of ours is left',
  async run(context) {
    await withInstallation(context, namespace, async (installed) => {
      const { admin } = context
      await installed.start()
      await installed.register()
      await createBackend(admin, namespace, 'web')
      await mustBe(201, admin.post(ingressPath(namespace), ingress('store')))
      await mustBe(201, admin.post(servicePath(namespace), service('game')))
      await eventually(() => installed.converged(2))

      const [unregister = '', drain = '', ...rest] = commands()
      await run(context, installed, unregister)
      await installed.stop()
      await run(context, installed, drain)
      await mustBeFree(admin)
      for (const command of rest) await run(context, installed, command)
    })
  },
}

/** The block that follows the mark. */
function commands(): string[] {
  const page = readFileSync(join(ROOT, 'docs/upgrade-and-uninstall.md'), 'utf8')
  const [, text = ''] = /^```sh\n(.*?)^```$/ms.exec(page.slice(page.indexOf('<!-- uninstall'))) ?? []
  return text.trim().split('\n')
}

async function run({ kubectl }: ScenarioContext, { configFile }: Installation, command: string): Promise<void> {
  const [program, ...words] = command.split(' ')
  if (program === 'kubectl') {
    await kubectl(words.map((word) => (word.startsWith('manifests/') ? join(ROOT, word) : word)))
    return
  }
  assert.deepEqual([program, ...words.slice(0, 3)], ['npm', 'run', 'wcp', '--'], command)
  const { code, out, err } = await wcp(words.slice(3).map((word) => (word === 'config.yaml' ? configFile : word)))
  assert.equal(code, 0, `${command}: ${out}${err}`)
}

async function mustBeFree(admin: ApiClient): Promise<void> {
  for (const path of [ingressPath(namespace), servicePath(namespace)]) {
    const { items = [] } = await mustBe(200, admin.get(path))
    assert.equal(items.length, 1)
    for (const { metadata, ...object } of items) {
      assert.deepEqual(metadata.finalizers ?? [], [], `finalizers of ${metadata.name}`)
      const { loadBalancer = {} } = (object['status'] ?? {}) as { loadBalancer?: { ingress?: unknown[] } }
      assert.deepEqual(loadBalancer.ingress ?? [], [], `addresses of ${metadata.name}`)
    }
  }
  for (const [what, path] of LEFT) {
    const { items = [] } = await mustBe(200, admin.get(path))
    const ours = items.filter(({ metadata }) => metadata.name?.startsWith('contract') !== true)
    assert.deepEqual(
      ours.map(({ metadata }) => metadata.name),
      [],
      what,
    )
  }
}
