import assert from 'node:assert/strict'
import type { ApiClient, Body } from '../../contracts/kubernetes-api/api-client.ts'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import type { Scenario, ScenarioContext } from '../scenario.ts'
import { ingress, ingressPath } from '../support/balanced-objects.ts'
import { FINALIZER, withInstallation } from '../support/installation.ts'

const namespace = 'gitops'
const CONFIGURATION = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/webhook-cloud-provider'

/** As `kubectl apply`, which Argo CD does, and as Flux does. */
const WAYS = [
  ['apply'],
  ['apply', '--server-side', '--field-manager=kustomize-controller', '--force-conflicts'],
] as const

export const scenario: Scenario = {
  name: 'GitOps: what is applied again leaves finalizer, status and caBundle where they are (docs/gitops.md)',
  async run(context) {
    await withInstallation(context, namespace, async (installed) => {
      await installed.start()
      await installed.register()
      for (const [index, way] of WAYS.entries()) {
        await keepsOurFields(context, way, `web-${index}`, () => installed.converged(index + 1))
        await keepsTheBundle(context, way)
      }
    })
  },
}

async function keepsOurFields(
  { admin, kubectl }: ScenarioContext,
  way: readonly string[],
  name: string,
  converged: () => Promise<void>,
): Promise<void> {
  const manifest = (host: string) => {
    const { metadata, ...rest } = ingress(name) as unknown as Body
    return JSON.stringify({ ...rest, metadata: { ...metadata, namespace, labels: { host } } })
  }
  await kubectl([...way, '-f', '-'], manifest('first'))
  await eventually(converged)
  const before = await read(admin, name)
  assert.ok(before.metadata.finalizers?.includes(FINALIZER))
  for (const text of [manifest('first'), manifest('second')]) await kubectl([...way, '-f', '-'], text)
  const after = await read(admin, name)
  assert.deepEqual(after.metadata.finalizers, before.metadata.finalizers, `finalizers after ${way.join(' ')}`)
  assert.deepEqual(after['status'], before['status'], `status after ${way.join(' ')}`)
}

function read(admin: ApiClient, name: string): Promise<Body> {
  return mustBe(200, admin.get(ingressPath(namespace, name)))
}

/** Applied without a caBundle, which somebody else then writes; applied once more. */
async function keepsTheBundle({ admin, kubectl }: ScenarioContext, way: readonly string[]): Promise<void> {
  const registered = await mustBe(200, admin.get(CONFIGURATION))
  const webhooks = registered['webhooks'] as { clientConfig: { url: string; caBundle?: string } }[]
  const caBundle = webhooks[0]?.clientConfig.caBundle
  assert.ok(caBundle)
  const manifest = JSON.stringify({
    apiVersion: registered.apiVersion,
    kind: registered.kind,
    metadata: { name: registered.metadata.name },
    webhooks: webhooks.map(({ clientConfig: { url }, ...webhook }) => ({ ...webhook, clientConfig: { url } })),
  })
  await mustBe(200, admin.delete(CONFIGURATION))
  await kubectl([...way, '-f', '-'], manifest)
  await mustBe(
    200,
    admin.patch('json-patch', CONFIGURATION, [
      { op: 'add', path: '/webhooks/0/clientConfig/caBundle', value: caBundle },
    ]),
  )
  await kubectl([...way, '-f', '-'], manifest)
  const after = (await mustBe(200, admin.get(CONFIGURATION)))['webhooks'] as typeof webhooks
  assert.equal(after[0]?.clientConfig.caBundle, caBundle, `caBundle after ${way.join(' ')}`)
}
