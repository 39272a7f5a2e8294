import assert from 'node:assert/strict'
import { type Bench, mustBe, WEBHOOK_TOKENS } from '../bench.ts'
import { section } from '../contract-check.ts'
import { SERVICE_HOST, SERVICE_NAME, SERVICE_NAMESPACE } from '../service-host.ts'
import type { ReceivedReview, WebhookReceiver } from '../webhook-receiver.ts'
import { only } from './only.ts'

/** §1.4: as whom the API server calls a webhook. */
export const webhookCredentialChecks = section('1.4 authentication', {
  'the kubeconfig user named as host and port applies, whatever else would match': async (bench) => {
    assert.equal(await credentialsAt(bench, bench.receivers.exact), `Bearer ${WEBHOOK_TOKENS.exact}`)
  },
  'a kubeconfig user named as the end of host and port applies': async (bench) => {
    assert.equal(await credentialsAt(bench, bench.receivers.wildcard), `Bearer ${WEBHOOK_TOKENS.wildcard}`)
  },
  'the kubeconfig user * applies to every other webhook': async (bench) => {
    assert.equal(await credentialsAt(bench, bench.receivers.main), `Bearer ${WEBHOOK_TOKENS.fallback}`)
  },
  'validating webhooks are called as the same users': async (bench) => {
    const hook = await bench.hook({ phase: 'validating', receiver: bench.receivers.exact })
    await bench.create(bench.widget('a'))
    assert.equal(only(hook.reviews).headers.authorization, `Bearer ${WEBHOOK_TOKENS.exact}`)
  },
  'a webhook behind a Service is called by the Service’s name, offered HTTP/1.1 only': async (bench) => {
    const { serverName, headers } = await reviewThroughService(bench)
    assert.equal(serverName, SERVICE_HOST)
    assert.equal(headers.host?.split(':')[0], SERVICE_HOST)
    assert.deepEqual(bench.receivers.exact.offeredProtocols(), ['http/1.1'])
  },
})

async function credentialsAt(bench: Bench, receiver: WebhookReceiver): Promise<string | undefined> {
  const hook = await bench.hook({ phase: 'mutating', receiver })
  await bench.create(bench.widget('a'))
  return only(hook.reviews).headers.authorization
}

async function reviewThroughService(bench: Bench): Promise<ReceivedReview> {
  const { admin, receivers } = bench
  const { port, caPem } = receivers.exact
  await mustBe(201, admin.post('/api/v1/namespaces', { metadata: { name: SERVICE_NAMESPACE } }))
  const service = {
    metadata: { name: SERVICE_NAME },
    spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] },
  }
  await mustBe(201, admin.post(`/api/v1/namespaces/${SERVICE_NAMESPACE}/services`, service))
  const hook = await bench.hook({
    phase: 'mutating',
    receiver: receivers.exact,
    clientConfig: (path) => ({
      service: { name: SERVICE_NAME, namespace: SERVICE_NAMESPACE, port, path },
      caBundle: Buffer.from(caPem).toString('base64'),
    }),
  })
  await bench.create(bench.widget('a'))
  return only(hook.reviews)
}
