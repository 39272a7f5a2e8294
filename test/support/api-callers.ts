import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { webhookConfigurations } from '../../src/compose/webhook-configurations.ts'
import type { MultiClusterIngress } from '../../src/domain/multi-cluster-ingress.ts'
import type { MultiClusterService } from '../../src/domain/multi-cluster-service.ts'
import { validateMultiClusterIngress } from '../../src/domain/validation/validate-multi-cluster-ingress.ts'
import { validateMultiClusterService } from '../../src/domain/validation/validate-multi-cluster-service.ts'
import type { AdmissionReview } from '../../src/local/admission/admission-review.ts'
import type { CallWebhook, WebhookAnswer } from '../../src/local/admission/call-webhook.ts'
import type { ApiObject } from '../../src/local/core/api-object.ts'

// The API server's side: who is registered with it, and how it reaches them without a network.

const OURS = 'https://function.example.net'
const KARMADAS = 'https://karmada-webhook.karmada-system.svc'

/** What DESIGN §4 says is notified beside what is balanced. */
const SECONDARY_RULES = [
  { apiGroups: [''], resources: ['services'] },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'] },
  { apiGroups: ['work.karmada.io'], resources: ['resourcebindings'] },
  { apiGroups: ['networking.k8s.io'], resources: ['ingressclasses'] },
  { apiGroups: ['remedy.karmada.io'], resources: ['remedies'] },
].map((rule) => ({ ...rule, apiVersions: ['*'], operations: ['CREATE', 'UPDATE', 'DELETE'], scope: '*' }))

/** Our three doors, registered as an installation has them. CEL is not evaluated here: more reviews come, never fewer. */
export function ourWebhooks(finalizer: string, identity: string): ApiObject[] {
  const configurations = webhookConfigurations({ url: OURS, caPem: undefined, finalizer, identity })
  return configurations.map((configuration) => ({
    ...configuration,
    webhooks: configuration.webhooks.map((webhook) => ({
      ...webhook,
      rules: webhook.name.startsWith('notify.') ? [...webhook.rules, ...SECONDARY_RULES] : webhook.rules,
    })),
  })) as unknown as ApiObject[]
}

/** Karmada's own, as far as it judges what is balanced: `failurePolicy: Fail`. */
export function karmadasWebhooks(): ApiObject[] {
  const webhooks = [
    { kind: 'multiclusteringress', resources: ['multiclusteringresses'] },
    { kind: 'multiclusterservice', resources: ['multiclusterservices'] },
  ].map(({ kind, resources }) => ({
    name: `${kind}.karmada.io`,
    admissionReviewVersions: ['v1'],
    clientConfig: { url: `${KARMADAS}/validate-${kind}` },
    failurePolicy: 'Fail',
    sideEffects: 'None',
    timeoutSeconds: 3,
    rules: [
      {
        apiGroups: ['networking.karmada.io'],
        apiVersions: ['*'],
        operations: ['CREATE', 'UPDATE'],
        resources,
        scope: 'Namespaced',
      },
    ],
  }))
  const configuration = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'validating-config' },
    webhooks,
  }
  return [configuration as unknown as ApiObject]
}

export interface Callers {
  /** The function's HTTP app, when it is there. */
  app: () => FastifyInstance
  /** While true nobody answers for Karmada. */
  karmadaIsDown: () => boolean
}

/** Calls a webhook in this process. */
export function inProcessCaller({ app, karmadaIsDown }: Callers): CallWebhook {
  return async (url, _caBundle, review) => {
    const { origin, pathname, search } = new URL(url)
    if (origin === OURS) return callFunction(app(), `${pathname}${search}`, review)
    if (karmadaIsDown()) throw new Error('dial tcp 10.0.0.9:443: connect: connection refused')
    return judgeAsKarmada(review)
  }
}

async function callFunction(app: FastifyInstance, url: string, review: AdmissionReview): Promise<WebhookAnswer> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, */*' }
  const response = await app.inject({ method: 'POST', url, headers, payload: JSON.stringify(review) })
  const type = response.headers['content-type']
  return {
    status: response.statusCode,
    headers: { 'content-type': type === undefined ? undefined : `${type}` },
    body: response.body,
  }
}

function judgeAsKarmada({ request }: AdmissionReview): WebhookAnswer {
  const { uid, kind, object, oldObject } = request
  const previous = oldObject ?? undefined
  const findings =
    (kind as { kind: string }).kind === 'MultiClusterIngress'
      ? validateMultiClusterIngress(object as MultiClusterIngress, previous as MultiClusterIngress | undefined)
      : validateMultiClusterService(object as MultiClusterService, previous as MultiClusterService | undefined)
  const message = findings.map(({ field, message }) => `${field}: ${message}`).join(', ')
  const refusal = { allowed: false, status: { code: 403, message } }
  const response = { uid, ...(findings.length === 0 ? { allowed: true } : refusal) }
  const body = JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response })
  return { status: 200, headers: { 'content-type': 'application/json' }, body }
}

/** A review as the API server would send it once more. */
export function buildReview(
  operation: 'CREATE' | 'UPDATE' | 'DELETE',
  { object, oldObject }: { object?: ApiObject; oldObject?: ApiObject },
): AdmissionReview {
  const subject = object ?? oldObject
  const [version = '', group = ''] = (subject?.apiVersion ?? '').split('/').reverse()
  const { name, namespace } = subject?.metadata ?? {}
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: randomUUID(),
      kind: { group, version, kind: subject?.kind ?? '' },
      operation,
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      userInfo: { username: 'somebody', groups: [] },
      object: object ?? null,
      oldObject: oldObject ?? null,
      dryRun: false,
    },
  }
}

/** As Knative's ApiServerSource sends a change: with the object, or with a reference to it. */
export function buildCloudEvent(
  change: 'add' | 'update' | 'delete',
  object: ApiObject,
  mode: 'resource' | 'ref' = 'resource',
): object {
  const { apiVersion, kind, metadata } = object
  const { name, namespace } = metadata
  const reference = { apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) }
  return {
    specversion: '1.0',
    id: randomUUID(),
    source: 'https://karmada-apiserver.example.net:5443',
    type: `dev.knative.apiserver.${mode}.${change}`,
    subject: `/apis/${apiVersion}/${name}`,
    datacontenttype: 'application/json',
    apiversion: apiVersion,
    kind,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    data: mode === 'ref' ? reference : object,
  }
}
