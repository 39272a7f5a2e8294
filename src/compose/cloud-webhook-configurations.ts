import { SERVICE_FINALIZER } from '../domain/service-balancer/service-standing.ts'
import { outsideOfNamespace } from './outside-of-namespace.ts'
import type { WebhookRegistration } from './webhook-configurations.ts'

/** For one cluster and its cloud. */
export interface CloudWebhookRegistration extends Omit<WebhookRegistration, 'finalizer' | 'url'> {
  /** A URL, or the Service of a function that runs in the cluster: the API server finds it without DNS. */
  at: { url: string } | { service: { namespace: string; name: string; port: number } }
  /** Of the Services that we serve; those without one when undefined. */
  loadBalancerClass?: string | undefined
  /**
   * Whether reviews tell of readiness and addresses of nodes. Off by default: the review would sit in every heartbeat of
   * every kubelet, and the sweep finds the same a little later.
   */
  nodeStatus?: boolean
}

const NAME = 'webhook-cloud-provider'
const DOMAIN = 'webhook-cloud-provider.dev'

const SERVICES = { apiGroups: [''], apiVersions: ['v1'], resources: ['services'], scope: 'Namespaced' }
const SERVICE_STATUS = { ...SERVICES, resources: ['services/status'], operations: ['UPDATE'] }
const NODES = { apiGroups: [''], apiVersions: ['v1'], resources: ['nodes'], scope: 'Cluster' }
const NODE_STATUS = { ...NODES, resources: ['nodes/status'], operations: ['UPDATE'] }
const ALL = ['CREATE', 'UPDATE', 'DELETE']

/**
 * What the API server of one cluster is told to ask us. `failurePolicy: Ignore` throughout: a write never waits for us,
 * and correctness never depends on being asked. A change that can matter always passes the conditions in CEL; neither
 * Services that are no balancers nor heartbeats do.
 */
export function cloudWebhookConfigurations(registration: CloudWebhookRegistration) {
  const { identity, loadBalancerClass, nodeStatus = false } = registration
  const concerns = (object: string) => concernsBalancer(object, loadBalancerClass)
  return [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: NAME },
      webhooks: [
        {
          ...webhook('mutate', 'mutate', registration),
          sideEffects: 'None',
          reinvocationPolicy: 'IfNeeded',
          // Only at creation: a finalizer that was taken away is put back by the reconciler.
          rules: [{ ...SERVICES, operations: ['CREATE'] }],
          matchConditions: [
            { name: 'wants-balancer', expression: wantsBalancer('object', loadBalancerClass) },
            { name: 'not-claimed', expression: `!${isHeld('object')}` },
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
          ...webhook('validate', 'validate', registration),
          sideEffects: 'None',
          rules: [{ ...SERVICES, operations: ['CREATE', 'UPDATE'] }],
          matchConditions: [
            { name: 'not-deleting', expression: NOT_DELETING },
            { name: 'wants-balancer', expression: wantsBalancer('object', loadBalancerClass) },
            { name: 'asks-something-else', expression: ASKS_SOMETHING_ELSE },
          ],
        },
        {
          ...webhook('notify', 'notify-services', registration),
          sideEffects: 'NoneOnDryRun',
          rules: [{ ...SERVICES, operations: ALL }, SERVICE_STATUS],
          matchConditions: [
            {
              name: 'of-a-balancer',
              expression: `(object != null && ${concerns('object')}) || (oldObject != null && ${concerns('oldObject')})`,
            },
            { name: 'can-mean-work', expression: `${ASKS_SOMETHING_ELSE} || ${wasRobbed(identity)}` },
          ],
        },
        {
          ...webhook('notify', 'notify-nodes', registration),
          sideEffects: 'NoneOnDryRun',
          rules: [{ ...NODES, operations: ALL }, ...(nodeStatus ? [NODE_STATUS] : [])],
          matchConditions: [
            { name: 'can-mean-work', expression: nodeChanged() },
            // Of our own writes only a providerID matters: balancers follow it.
            ...byAnother(identity).map((another) => ({
              name: 'by-another',
              expression: `${another} || request.operation != 'UPDATE' || ${differ('spec.providerID')}`,
            })),
          ],
        },
      ],
    },
  ]
}

function webhook(door: 'mutate' | 'validate' | 'notify', name: string, registration: CloudWebhookRegistration) {
  const { at, caPem, namespace } = registration
  const path = `/admission/${door}`
  return {
    name: `${name}.${DOMAIN}`,
    admissionReviewVersions: ['v1'],
    clientConfig: {
      ...('url' in at ? { url: `${at.url}${path}` } : { service: { ...at.service, path } }),
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

/** Nothing and an absent field are the same. */
function differ(field: string): string {
  return `(has(object.${field}) ? object.${field} : null) != (has(oldObject.${field}) ? oldObject.${field} : null)`
}

const LEAVES = 'has(object.metadata.deletionTimestamp) != has(oldObject.metadata.deletionTimestamp)'

/** Services count no generations. */
const ASKS_SOMETHING_ELSE = [
  "request.operation != 'UPDATE'",
  differ('spec'),
  differ('metadata.annotations'),
  LEAVES,
].join(' || ')

function wantsBalancer(object: string, ours: string | undefined): string {
  const type = `has(${object}.spec.type) && ${object}.spec.type == 'LoadBalancer'`
  const field = `${object}.spec.loadBalancerClass`
  return ours === undefined ? `(${type} && !has(${field}))` : `(${type} && has(${field}) && ${field} == ${text(ours)})`
}

/** It wants a balancer, or it may have one that is to go. */
function concernsBalancer(object: string, ours: string | undefined): string {
  const isOther = `(!has(${object}.spec.type) || ${object}.spec.type != 'LoadBalancer')`
  return `(${wantsBalancer(object, ours)} || (${isHeld(object)} && ${isOther}))`
}

function isHeld(object: string): string {
  return `(has(${object}.metadata.finalizers) && ${text(SERVICE_FINALIZER)} in ${object}.metadata.finalizers)`
}

/** Somebody else took the finalizer, or cleared the addresses. */
function wasRobbed(identity: string | undefined): string {
  const lost = `(${isHeld('oldObject')} && !${isHeld('object')})`
  const cleared = `(${hasAddress('oldObject')} && !${hasAddress('object')})`
  return `(${[`(${lost} || ${cleared})`, ...byAnother(identity)].join(' && ')})`
}

function hasAddress(object: string): string {
  const ingress = `${object}.status.loadBalancer.ingress`
  return `(has(${object}.status.loadBalancer) && has(${ingress}) && size(${ingress}) > 0)`
}

function nodeChanged(): string {
  const ready = (object: string) =>
    `(has(${object}.status.conditions) ? ${object}.status.conditions.filter(c, c.type == 'Ready').map(c, c.status) : [])`
  return [
    "request.operation != 'UPDATE'",
    differ('spec.providerID'),
    differ('spec.podCIDRs'),
    differ('spec.taints'),
    differ('metadata.labels'),
    differ('metadata.annotations'),
    differ('status.addresses'),
    `${ready('object')} != ${ready('oldObject')}`,
    LEAVES,
  ].join(' || ')
}

function byAnother(identity: string | undefined): string[] {
  return identity === undefined ? [] : [`request.userInfo.username != ${text(identity)}`]
}

function text(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
