import { encodeCloudEvent } from '../src/adapters/cloudevents/encode-cloud-event.ts'
import { workEvent } from '../src/adapters/cloudevents/work-event.ts'
import { apiVersionOf, type Kind, RESOURCES } from '../src/domain/kinds.ts'

/** What is asked of every leaf when it is bundled, so that V8 compiles what answers it. */
export interface WarmUpRequest {
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body: string
}

export const WARM_UP_CLASS = 'warm-up'

const INGRESS = {
  apiVersion: apiVersionOf('MultiClusterIngress'),
  kind: 'MultiClusterIngress' as const,
  metadata: { name: 'storefront', namespace: 'default', labels: { app: 'shop' }, annotations: { note: 'warm-up' } },
  spec: {
    ingressClassName: WARM_UP_CLASS,
    rules: [
      {
        host: 'shop.example.com',
        http: {
          paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } }],
        },
      },
    ],
  },
}

const SERVICE = {
  apiVersion: apiVersionOf('MultiClusterService'),
  kind: 'MultiClusterService' as const,
  metadata: { name: 'game', namespace: 'default' },
  spec: { types: ['LoadBalancer'], ports: [{ port: 80 }] },
}

/** The world that the requests speak of. */
export const WARM_UP_OBJECTS = [
  // Of the Leases.
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'webhook-cloud-provider' } },
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IngressClass',
    metadata: { name: WARM_UP_CLASS },
    spec: { controller: 'webhook-cloud-provider.dev/fake' },
  },
  INGRESS,
  SERVICE,
]

export function warmUpRequests(): WarmUpRequest[] {
  const objects = [INGRESS, SERVICE]
  return [
    ...objects.flatMap((object) => [
      review('mutate', 'CREATE', object),
      review('validate', 'CREATE', object),
      review('validate', 'UPDATE', object),
      review('notify', 'CREATE', object),
      review('notify', 'UPDATE', object),
      review('notify', 'DELETE', object),
    ]),
    review('validate', 'CREATE', { ...INGRESS, spec: { rules: [{ host: '192.0.2.1', http: { paths: [] } }] } }),
    change(INGRESS),
    work('MultiClusterIngress', 'storefront'),
    work('MultiClusterService', 'game'),
    { ...GET, method: 'POST', path: '/sweep' },
    ...['/healthz', '/readyz?verbose', '/metrics'].map((path) => ({ ...GET, path })),
  ]
}

const GET = { method: 'GET', path: '/', headers: {}, body: '' } as const
const JSON_BODY = { 'content-type': 'application/json' }

function review(door: string, operation: string, object: typeof INGRESS | typeof SERVICE | object): WarmUpRequest {
  const { kind, metadata } = object as typeof INGRESS
  const stored = { ...object, metadata: { ...metadata, uid: 'a1000000-0000-4000-8000-000000000001', generation: 1 } }
  const before = { ...stored, metadata: { ...stored.metadata, annotations: { note: 'before' } } }
  const body = {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'a1000000-0000-4000-8000-000000000002',
      kind: { group: 'networking.karmada.io', version: 'v1alpha1', kind },
      namespace: metadata.namespace,
      name: metadata.name,
      operation,
      userInfo: { username: 'warm-up', groups: ['system:authenticated'] },
      object: operation === 'DELETE' ? null : stored,
      oldObject: operation === 'CREATE' ? null : before,
      dryRun: false,
    },
  }
  return { method: 'POST', path: `/admission/${door}?timeout=3s`, headers: JSON_BODY, body: JSON.stringify(body) }
}

/** As Knative's ApiServerSource tells of a change. */
function change({ apiVersion, kind, metadata: { namespace, name } }: typeof INGRESS): WarmUpRequest {
  const { headers, body } = encodeCloudEvent({
    id: 'warm-up',
    source: '/warm-up',
    type: 'dev.knative.apiserver.ref.update',
    subject: `/apis/${apiVersion}/namespaces/${namespace}/${RESOURCES[kind].plural}/${name}`,
    extensions: { apiversion: apiVersion, kind, name, namespace },
    data: { apiVersion, kind, name, namespace },
  })
  return { method: 'POST', path: '/events', headers, body }
}

/** Answered when it is done. */
function work(kind: Kind, name: string): WarmUpRequest {
  const item = { key: { kind, namespace: 'default', name }, hints: [] }
  return { method: 'POST', path: '/events', ...encodeCloudEvent(workEvent(item, { id: name, source: '/warm-up' })) }
}
