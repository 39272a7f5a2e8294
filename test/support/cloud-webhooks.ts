import type { ApiObject } from '../../src/local/core/api-object.ts'

const URL = 'https://function.example.net'

/** The doors as an installation under one cluster registers them, `/status` of Services included; Nodes' is off. */
export function cloudWebhooks(): ApiObject[] {
  const all = ['CREATE', 'UPDATE', 'DELETE']
  return [
    configuration('MutatingWebhookConfiguration', [webhook('mutate', 'None', [rule(['services'], ['CREATE'])])]),
    configuration('ValidatingWebhookConfiguration', [
      webhook('validate', 'None', [rule(['services'], ['CREATE', 'UPDATE'])]),
      webhook('notify', 'NoneOnDryRun', [rule(['services', 'services/status', 'nodes'], all)]),
    ]),
  ] as unknown as ApiObject[]
}

function configuration(kind: string, webhooks: object[]) {
  return { apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name: 'webhook-cloud-provider' }, webhooks }
}

function webhook(door: string, sideEffects: string, rules: object[]) {
  return {
    name: `${door}.webhook-cloud-provider.dev`,
    admissionReviewVersions: ['v1'],
    clientConfig: { url: `${URL}/admission/${door}` },
    failurePolicy: 'Ignore',
    sideEffects,
    timeoutSeconds: 3,
    rules,
  }
}

function rule(resources: string[], operations: string[]) {
  return { apiGroups: [''], apiVersions: ['v1'], resources, operations, scope: '*' }
}
