import { startStubApiServer } from './stub-api-server.ts'

/** Stands for karmada-webhook: it takes every object, and writes to ours do not pass without it. */
export async function startKarmadaWebhooks() {
  const server = await startStubApiServer()
  server.answerEach(({ body }) => {
    const { request } = JSON.parse(body) as { request: { uid: string } }
    const response = { uid: request.uid, allowed: true }
    return { status: 200, body: { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response } }
  })
  const webhook = (name: string) => ({
    name,
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    timeoutSeconds: 3,
    failurePolicy: 'Fail',
    clientConfig: { url: `${server.url}/${name}`, caBundle: Buffer.from(server.caPem).toString('base64') },
    rules: [
      {
        apiGroups: ['networking.karmada.io'],
        apiVersions: ['*'],
        resources: ['multiclusteringresses', 'multiclusterservices'],
        operations: ['CREATE', 'UPDATE'],
        scope: 'Namespaced',
      },
    ],
  })
  const configuration = (kind: string, name: string, webhookName: string) => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: { name },
    webhooks: [webhook(webhookName)],
  })
  return {
    configurations: [
      configuration('MutatingWebhookConfiguration', 'mutating-config', 'networking-mutating.karmada.io'),
      configuration('ValidatingWebhookConfiguration', 'validating-config', 'networking-validating.karmada.io'),
    ],
    close: () => server.close(),
  }
}
