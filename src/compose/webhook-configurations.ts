import { outsideOfNamespace } from './outside-of-namespace.ts'

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
  /** Where the function has its own objects: nothing in there is asked about. */
  namespace?: string | undefined
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
        ...RELATED.map(({ name, rule, relevant }) => ({
          ...webhook('notify', registration),
          name: `notify-${name}.${DOMAIN}`,
          sideEffects: 'NoneOnDryRun',
          rules: [{ ...rule, operations: ['CREATE', 'UPDATE', 'DELETE'] }],
          matchConditions: [{ name: 'can-mean-work', expression: relevant }],
        })),
      ],
    },
  ]
}

const DOMAIN = 'webhook-cloud-provider.dev'

function webhook(door: 'mutate' | 'validate' | 'notify', { url, caPem, namespace }: WebhookRegistration) {
  return {
    name: `${door}.${DOMAIN}`,
    admissionReviewVersions: ['v1'],
    clientConfig: {
      url: `${url}/admission/${door}`,
      ...(caPem === undefined ? {} : { caBundle: Buffer.from(caPem).toString('base64') }),
    },
    failurePolicy: 'Ignore',
    matchPolicy: 'Equivalent',
    timeoutSeconds: 3,
    ...outsideOfNamespace(namespace),
  }
}

// PUT may leave the timestamp out of the new object, so the old one is asked too (protocols §0.5).
const NOT_DELETING =
  '!has(object.metadata.deletionTimestamp) && (oldObject == null || !has(oldObject.metadata.deletionTimestamp))'

const annotations = (object: string) => `(has(${object}.metadata.annotations) ? ${object}.metadata.annotations : {})`

/** True where it holds of what is there now, or of what was. */
const either = (test: (object: string) => string) =>
  `(object != null && ${test('object')}) || (oldObject != null && ${test('oldObject')})`

const changed = (...fields: string[]) => ["request.operation != 'UPDATE'", ...fields].join(' || ')

const differ = (field: string) =>
  `(has(object.${field}) ? object.${field} : null) != (has(oldObject.${field}) ? oldObject.${field} : null)`

const isImportedSlice = (object: string) =>
  `has(${object}.metadata.labels) && 'kubernetes.io/service-name' in ${object}.metadata.labels && ` +
  `${object}.metadata.labels['kubernetes.io/service-name'].startsWith('derived-')`

const isOfService = (object: string) =>
  `has(${object}.spec) && has(${object}.spec.resource) && ${object}.spec.resource.kind == 'Service' && ${object}.spec.resource.apiVersion == 'v1'`

/**
 * What objects of ours depend on. Not here: Secrets, since a review carries the whole object, and Clusters, which pass no
 * admission since Karmada v1.11; `wcp watch` tells of those, or the sweep finds them.
 */
const RELATED: readonly { name: string; rule: object; relevant: string }[] = [
  {
    name: 'services',
    rule: { apiGroups: [''], apiVersions: ['v1'], resources: ['services'], scope: 'Namespaced' },
    relevant: changed(differ('spec'), `${annotations('object')} != ${annotations('oldObject')}`),
  },
  {
    name: 'endpoint-slices',
    rule: { apiGroups: ['discovery.k8s.io'], apiVersions: ['v1'], resources: ['endpointslices'], scope: 'Namespaced' },
    relevant: either(isImportedSlice),
  },
  {
    name: 'resource-bindings',
    rule: {
      apiGroups: ['work.karmada.io'],
      apiVersions: ['v1alpha2'],
      resources: ['resourcebindings'],
      scope: 'Namespaced',
    },
    relevant: `(${either(isOfService)}) && (${changed(differ('spec'))})`,
  },
  {
    name: 'ingress-classes',
    rule: { apiGroups: ['networking.k8s.io'], apiVersions: ['v1'], resources: ['ingressclasses'], scope: 'Cluster' },
    relevant: changed(differ('spec'), `${annotations('object')} != ${annotations('oldObject')}`),
  },
  {
    name: 'remedies',
    rule: { apiGroups: ['remedy.karmada.io'], apiVersions: ['v1alpha1'], resources: ['remedies'], scope: 'Cluster' },
    relevant: changed(differ('spec')),
  },
]

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
