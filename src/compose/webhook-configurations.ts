/** What the API server is told to ask us: MutatingWebhookConfiguration and ValidatingWebhookConfiguration. */
export interface WebhookRegistration {
  /** `https://host:port/prefix`: Karmada's API server cannot see Services of its host cluster, so always a URL. */
  url: string
  /** PEM; undefined trusts the API server's system roots. */
  caPem: string | undefined
}

// After `mutating-config` and `validating-config`, Karmada's own: configurations are asked in the order of their names.
const NAME = 'webhook-cloud-provider'

const BALANCED = { apiGroups: ['networking.karmada.io'], apiVersions: ['v1alpha1'], scope: 'Namespaced' }
const RESOURCES = ['multiclusteringresses', 'multiclusterservices']

/**
 * `failurePolicy: Ignore` throughout: the user's write never waits for us, and correctness never depends on being asked.
 * Timeouts leave the API server most of its 34 s.
 */
export function webhookConfigurations({ url, caPem }: WebhookRegistration) {
  const common = (door: string) => ({
    name: `${door}.webhook-cloud-provider.dev`,
    admissionReviewVersions: ['v1'],
    clientConfig: {
      url: `${url}/admission/${door}`,
      ...(caPem === undefined ? {} : { caBundle: base64(caPem) }),
    },
    failurePolicy: 'Ignore',
    matchPolicy: 'Equivalent',
    timeoutSeconds: 3,
  })
  return [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: NAME },
      webhooks: [
        {
          ...common('mutate'),
          sideEffects: 'None',
          reinvocationPolicy: 'IfNeeded',
          rules: [{ ...BALANCED, resources: RESOURCES, operations: ['CREATE', 'UPDATE'] }],
        },
      ],
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: NAME },
      webhooks: [
        {
          ...common('validate'),
          sideEffects: 'None',
          rules: [{ ...BALANCED, resources: RESOURCES, operations: ['CREATE', 'UPDATE'] }],
        },
        {
          ...common('notify'),
          sideEffects: 'NoneOnDryRun',
          rules: [{ ...BALANCED, resources: RESOURCES, operations: ['CREATE', 'UPDATE', 'DELETE'] }],
        },
      ],
    },
  ]
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
