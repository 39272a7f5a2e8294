/** What the API server is told to ask us: MutatingWebhookConfiguration and ValidatingWebhookConfiguration. */
export interface WebhookRegistration {
  /** `https://host:port/prefix`: Karmada's API server cannot see Services of its host cluster, so always a URL. */
  url: string
  /** PEM; undefined trusts the API server's system roots. */
  caPem: string | undefined
  /** Ours. */
  finalizer: string
  /** The user name under which we write; undefined costs reviews and a read for each finalizer that we release. */
  identity?: string | undefined
}

// After `mutating-config` and `validating-config`, Karmada's own: configurations are asked in the order of their names.
const NAME = 'webhook-cloud-provider'

const BALANCED = {
  apiGroups: ['networking.karmada.io'],
  apiVersions: ['v1alpha1'],
  resources: ['multiclusteringresses', 'multiclusterservices'],
  scope: 'Namespaced',
}

/**
 * `failurePolicy: Ignore` throughout: the user's write never waits for us, and correctness never depends on being asked.
 * Timeouts leave the API server most of its 34 s. The conditions in CEL spare calls: a change that can matter always
 * passes them, our own writes never do.
 */
export function webhookConfigurations(registration: WebhookRegistration) {
  const { finalizer, identity } = registration
  return [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: NAME },
      webhooks: [
        {
          ...webhook('mutate', registration),
          sideEffects: 'None',
          reinvocationPolicy: 'IfNeeded',
          rules: [{ ...BALANCED, operations: ['CREATE', 'UPDATE'] }],
          matchConditions: [
            { name: 'not-deleting', expression: NOT_DELETING },
            { name: 'not-claimed', expression: `!${holds('object', finalizer)}` },
            // What we release while the object lives on is not to be claimed at once.
            ...byAnother(identity).map((expression) => ({ name: 'by-another', expression })),
          ],
        },
      ],
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: NAME },
      webhooks: [
        {
          ...webhook('validate', registration),
          sideEffects: 'None',
          rules: [{ ...BALANCED, operations: ['CREATE', 'UPDATE'] }],
          matchConditions: [
            { name: 'not-deleting', expression: NOT_DELETING },
            { name: 'asks-something-else', expression: ASKS_SOMETHING_ELSE },
          ],
        },
        {
          ...webhook('notify', registration),
          sideEffects: 'NoneOnDryRun',
          rules: [{ ...BALANCED, operations: ['CREATE', 'UPDATE', 'DELETE'] }],
          matchConditions: [
            { name: 'can-mean-work', expression: `${ASKS_SOMETHING_ELSE} || ${lostOurFinalizer(finalizer, identity)}` },
          ],
        },
      ],
    },
  ]
}

function webhook(door: 'mutate' | 'validate' | 'notify', { url, caPem }: WebhookRegistration) {
  return {
    name: `${door}.webhook-cloud-provider.dev`,
    admissionReviewVersions: ['v1'],
    clientConfig: {
      url: `${url}/admission/${door}`,
      ...(caPem === undefined ? {} : { caBundle: Buffer.from(caPem).toString('base64') }),
    },
    failurePolicy: 'Ignore',
    matchPolicy: 'Equivalent',
    timeoutSeconds: 3,
  }
}

// PUT may leave the timestamp out of the new object, so the old one is asked too (protocols §0.5).
const NOT_DELETING =
  '!has(object.metadata.deletionTimestamp) && (oldObject == null || !has(oldObject.metadata.deletionTimestamp))'

const annotations = (object: string) => `(has(${object}.metadata.annotations) ? ${object}.metadata.annotations : {})`

/** The generation of these kinds grows with every change outside metadata and status; reviews of this phase carry it. */
const ASKS_SOMETHING_ELSE = [
  "request.operation != 'UPDATE'",
  'object.metadata.generation != oldObject.metadata.generation',
  `${annotations('object')} != ${annotations('oldObject')}`,
  'has(object.metadata.deletionTimestamp) != has(oldObject.metadata.deletionTimestamp)',
].join(' || ')

function holds(object: string, finalizer: string): string {
  return `(has(${object}.metadata.finalizers) && ${text(finalizer)} in ${object}.metadata.finalizers)`
}

function lostOurFinalizer(finalizer: string, identity: string | undefined): string {
  const lost = [holds('oldObject', finalizer), `!${holds('object', finalizer)}`]
  return `(${[...lost, ...byAnother(identity)].join(' && ')})`
}

function byAnother(identity: string | undefined): string[] {
  return identity === undefined ? [] : [`request.userInfo.username != ${text(identity)}`]
}

function text(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
