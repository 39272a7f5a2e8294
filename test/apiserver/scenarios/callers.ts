import assert from 'node:assert/strict'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import { createTestAuthority } from '../../support/test-authority.ts'
import type { Scenario, ScenarioContext } from '../scenario.ts'
import { type Installation, withInstallation } from '../support/installation.ts'

// The API server as a caller that proves itself, as docs/security.md says: its AdmissionConfiguration names a kubeconfig.

const MCI = { apiVersion: 'networking.karmada.io/v1alpha1', kind: 'MultiClusterIngress' }
const FINALIZER = 'webhook-cloud-provider.dev/fake'

export const scenarios: readonly Scenario[] = [
  {
    name: 'callers: a bearer token of the API server, rotated without a restart',
    async run(context) {
      const tokenFile = await fileOf(context, 'tokens', context.server.webhookToken)
      const config = { callers: { admission: { tokenFile }, anyone: true } }
      await withInstallation(
        context,
        'caller-token',
        async (installation) => {
          await installation.start()
          await installation.register()
          assert.ok(await isClaimed(context, installation, 'known'))
          await writeFile(tokenFile, 'another-token-0123456789')
          await eventually(async () => {
            assert.ok(!(await isClaimed(context, installation, 'unknown')), 'the review is not let in')
          }, 10_000)
          await writeFile(tokenFile, `another-token-0123456789\n${context.server.webhookToken}\n`)
          await eventually(async () => {
            assert.ok(await isClaimed(context, installation, 'both'), 'both tokens are good')
          }, 10_000)
          await installation.sweep()
        },
        { config },
      )
    },
  },
  ...[
    { title: 'is let in by its name', subject: (name: string) => name, claimed: true },
    { title: 'is not let in by another name', subject: () => 'somebody-else', claimed: false },
  ].map(({ title, subject, claimed }) => ({
    name: `callers: a client certificate of the API server ${title}`,
    async run(context: ScenarioContext) {
      const { webhookClientCaFile: clientCaFile, webhookClientName } = context.server
      const authority = await createTestAuthority()
      const alternatives = [{ type: 'ip' as const, value: '127.0.0.1' }]
      const { cert, key } = await authority.issue({ commonNames: ['function'], alternatives, usage: 'server' })
      const tls = {
        certFile: await fileOf(context, 'tls.crt', cert),
        keyFile: await fileOf(context, 'tls.key', key),
        clientCaFile,
      }
      const callers = { admission: { clientSubjects: [subject(webhookClientName)] }, anyone: true }
      await withInstallation(
        context,
        'caller-certificate',
        async (installation) => {
          await installation.start()
          // Another door tells when the registration is in force.
          await registerAt(context, installation, authority.caPem)
          await eventually(async () => {
            assert.equal(await isClaimed(context, installation, 'web'), claimed)
          }, 10_000)
        },
        { config: { callers, server: { host: '127.0.0.1', port: 0, tls } } },
      )
    },
  })),
  {
    name: 'callers: tokens of ServiceAccounts, whose issuer is the API server',
    async run(context) {
      const { server, admin } = context
      const audience = 'wcp-events'
      const account = (name: string) => `system:serviceaccount:webhook-cloud-provider:${name}`
      const tokenOf = async (name: string, audiences: string[]) => {
        const path = `/api/v1/namespaces/webhook-cloud-provider/serviceaccounts/${name}/token`
        const { status } = await mustBe(201, admin.post(path, { spec: { audiences, expirationSeconds: 600 } }))
        return (status as { token: string }).token
      }
      const tokenFile = await fileOf(context, 'token', '')
      const caFile = await fileOf(context, 'ca.crt', server.caPem)
      const oidc = {
        issuer: server.url,
        audience,
        subjects: [account('webhook-cloud-provider-watch')],
        caFile,
        tokenFile,
      }
      await withInstallation(
        context,
        'caller-oidc',
        async (installation) => {
          // Its keys are for ServiceAccounts only: the function shows its own token.
          await writeFile(tokenFile, await tokenOf('webhook-cloud-provider', [server.url]))
          await installation.start()
          const dispatcher = new Agent({ connect: { ca: installation.caPem } })
          const post = async (token: string | undefined) => {
            const { statusCode, body } = await request(`${installation.url}/events`, {
              method: 'POST',
              dispatcher,
              headers: {
                'content-type': 'application/cloudevents+json',
                ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
              },
              body: JSON.stringify({ specversion: '1.0', id: '1', source: '/', type: 'com.example.unknown' }),
            })
            await body.dump()
            return statusCode
          }
          try {
            assert.equal(await post(await tokenOf('webhook-cloud-provider-watch', [audience])), 204)
            assert.equal(await post(await tokenOf('webhook-cloud-provider', [audience])), 403, 'another account')
            assert.equal(
              await post(await tokenOf('webhook-cloud-provider-watch', [server.url])),
              401,
              'another audience',
            )
            assert.equal(await post(undefined), 401)
          } finally {
            await dispatcher.destroy()
          }
        },
        { config: { callers: { events: { oidc }, anyone: true } } },
      )
    },
  },
]

async function fileOf({ server }: ScenarioContext, name: string, text: string): Promise<string> {
  const directory = await mkdtemp(join(server.directory, 'callers-'))
  await writeFile(join(directory, name), text, { mode: 0o600 })
  return join(directory, name)
}

let made = 0

/** Whether the mutating review came through: the object has our finalizer from its first version on. */
async function isClaimed({ admin }: ScenarioContext, { namespace }: Installation, prefix: string): Promise<boolean> {
  made += 1
  const object = {
    ...MCI,
    metadata: { name: `${prefix}-${made}` },
    spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } },
  }
  const created = await mustBe(
    201,
    admin.post(`/apis/${MCI.apiVersion}/namespaces/${namespace}/multiclusteringresses`, object),
  )
  return created.metadata.finalizers?.includes(FINALIZER) ?? false
}

/** With the authority of a certificate of our own; nobody waits until it is in force. */
async function registerAt({ admin }: ScenarioContext, { url }: Installation, caPem: string): Promise<void> {
  const configuration = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'webhook-cloud-provider' },
    webhooks: [
      {
        name: 'mutate.webhook-cloud-provider.dev',
        admissionReviewVersions: ['v1'],
        clientConfig: { url: `${url}/admission/mutate`, caBundle: Buffer.from(caPem).toString('base64') },
        failurePolicy: 'Ignore',
        sideEffects: 'None',
        timeoutSeconds: 3,
        rules: [
          {
            apiGroups: ['networking.karmada.io'],
            apiVersions: ['v1alpha1'],
            resources: ['multiclusteringresses'],
            operations: ['CREATE'],
          },
        ],
      },
    ],
  }
  const path = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations'
  await mustBe(201, admin.post(path, configuration))
}
