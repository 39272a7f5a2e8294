import assert from 'node:assert/strict'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { splitBundle } from '../../../src/adapters/certificates/read-certificates.ts'
import type { WebhookConfiguration } from '../../../src/domain/webhook-configuration.ts'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import { wcp } from '../../support/command-line.ts'
import type { Scenario, ScenarioContext } from '../scenario.ts'
import { type Installation, withInstallation } from '../support/installation.ts'
import { servedCertificate, startLoad } from '../support/review-load.ts'
import { difference, failedOpen } from '../support/server-metrics.ts'

const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1'
const OURS = ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'].map(
  (plural) => `${CONFIGURATIONS}/${plural}/webhook-cloud-provider`,
)
const FOREIGN = `${CONFIGURATIONS}/validatingwebhookconfigurations/certificates-of-another`

export const scenario: Scenario = {
  name: 'wcp certs: authority and certificate change under load, and no call fails open',
  async run(context) {
    const { admin, kubectl, log } = context
    const namespace = 'certificates'
    await withInstallation(context, namespace, async (installed) => {
      await installed.start()
      await installed.register()
      await kubectl(
        ['apply', '-f', '-'],
        [...rights(namespace), foreign()].map((each) => JSON.stringify(each)).join('\n---\n'),
      )
      try {
        await story(context, installed)
      } finally {
        await admin.delete(FOREIGN)
        await kubectl(['delete', 'clusterrole,clusterrolebinding', 'wcp-certs'])
      }
    })

    async function story({ server }: ScenarioContext, installed: Installation) {
      const kubeconfig = join(installed.directory, 'certs-kubeconfig.json')
      await writeFile(kubeconfig, server.kubeconfig(server.plainToken), { mode: 0o600 })
      const secret = `${namespace}/serving`
      const certs = async (...more: string[]) => {
        const access = ['--kubeconfig', kubeconfig, '--secret', secret, '--secret-kubeconfig', kubeconfig]
        return wcp(['certs', '--host', '127.0.0.1', ...access, ...more])
      }
      const done = async (...more: string[]) => {
        const { code, out, err } = await certs(...more)
        assert.equal(code, 0, `${out}${err}`)
        return out
      }
      const versions = (paths: string[]) =>
        Promise.all(paths.map(async (path) => (await mustBe(200, admin.get(path))).metadata?.resourceVersion))
      const kept = async () => {
        const { data } = await mustBe(200, admin.get(`/api/v1/namespaces/${namespace}/secrets/serving`))
        return Object.entries(data as Record<string, string>).map(
          ([name, value]) => [name, Buffer.from(value, 'base64').toString()] as const,
        )
      }
      /** As the kubelet brings a Secret that changed to the function; until it is served. */
      const deliver = async () => {
        const files = Object.fromEntries(await kept())
        const bundle = files['ca.crt'] ?? ''
        for (const name of ['tls.crt', 'tls.key']) {
          await writeFile(join(installed.directory, `${name}.new`), files[name] ?? '', { mode: 0o600 })
          await rename(join(installed.directory, `${name}.new`), join(installed.directory, name))
        }
        const wanted = splitBundle(files['tls.crt'] ?? '')[0]?.fingerprint
        await eventually(
          async () =>
            assert.equal((await servedCertificate({ url: installed.url, caPem: bundle })).fingerprint256, wanted),
          15_000,
          50,
        )
      }
      const authorities = async () => splitBundle(Object.fromEntries(await kept())['ca.crt'] ?? '').length
      const trusted = async () => {
        const bundle = Buffer.from(Object.fromEntries(await kept())['ca.crt'] ?? '').toString('base64')
        for (const path of OURS) {
          const { webhooks = [] } = (await mustBe(200, admin.get(path))) as unknown as WebhookConfiguration
          for (const { name, clientConfig } of webhooks) assert.equal(clientConfig.caBundle, bundle, name)
        }
      }

      const foreignBefore = await versions([FOREIGN])
      assert.equal((await certs('--check')).code, 1)
      await done()
      await deliver()
      await trusted()
      const quiet = await versions([...OURS, `/api/v1/namespaces/${namespace}/secrets/serving`])
      await done()
      assert.deepEqual(await versions([...OURS, `/api/v1/namespaces/${namespace}/secrets/serving`]), quiet, 'writes')
      // The API server has seen the bundle that replaced the installation's.
      await pause(2_000)

      const before = await failedOpen(admin)
      const load = startLoad(admin, namespace)
      const rounds = 2
      for (let round = 0; round < rounds; round += 1) {
        assert.match(await done('--renew'), /is issued: it was asked for/)
        await deliver()
        assert.match(await done('--renew-authority'), /waits for a later run/)
        assert.equal(await authorities(), 2)
        await trusted()
        await pause(1_000)
        assert.match(await done('--settle', '0'), /is issued: its authority is on its way out/)
        await pause(500)
        await deliver()
        assert.match(await done('--retire-authorities'), /leave the bundle: 1/)
        assert.equal(await authorities(), 1)
        await trusted()
        await pause(1_000)
      }
      const { created, tried } = await load.stop()
      assert.deepEqual(difference(await failedOpen(admin), before), { mutate: 0, validate: 0, notify: 0 })
      await eventually(() => installed.converged(created))
      assert.deepEqual(await versions([FOREIGN]), foreignBefore, 'another’s configuration')
      log(
        `${2 * rounds} certificates and ${rounds} authorities replaced during ${created} creates and ${tried} dry runs, 0 calls failed open`,
      )
    }
  },
}

/** What `wcp certs` may do, as docs/certificates.md has it; the Secret's cluster and the callers' are one here. */
function rights(namespace: string): object[] {
  const rules = [
    {
      apiGroups: ['admissionregistration.k8s.io'],
      resources: ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
      resourceNames: ['webhook-cloud-provider'],
      verbs: ['get', 'patch'],
    },
  ]
  const subjects = [{ kind: 'User', name: 'plain', apiGroup: 'rbac.authorization.k8s.io' }]
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'wcp-certs' }
  const rbac = (kind: string, metadata: object, more: object) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind,
    metadata: { name: 'wcp-certs', ...metadata },
    ...more,
  })
  return [
    rbac('ClusterRole', {}, { rules }),
    rbac('ClusterRoleBinding', {}, { subjects, roleRef }),
    rbac(
      'Role',
      { namespace },
      {
        rules: [
          { apiGroups: [''], resources: ['secrets'], resourceNames: ['serving'], verbs: ['get', 'patch'] },
          { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
        ],
      },
    ),
    rbac('RoleBinding', { namespace }, { subjects, roleRef: { ...roleRef, kind: 'Role' } }),
  ]
}

/** With a webhook whose name looks like ours, that is asked about nothing. */
function foreign(): object {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'certificates-of-another' },
    webhooks: [
      {
        name: 'notify.webhook-cloud-provider.dev',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        failurePolicy: 'Ignore',
        clientConfig: { url: 'https://127.0.0.1:1/x' },
        rules: [{ operations: ['DELETE'], apiGroups: ['example.com'], apiVersions: ['v1'], resources: ['nothings'] }],
      },
    ],
  }
}
