import type { Facts } from '../../src/domain/doctor/facts.ts'
import type { RegisteredWebhook, Webhook } from '../../src/domain/doctor/webhook.ts'
import { DOORS } from '../../src/domain/door.ts'

export const NOW = Date.parse('2026-03-01T08:00:00Z')
const DAY_MS = 86_400_000
const FINALIZER = 'webhook-cloud-provider.dev/fake'
const IDENTITY = 'system:serviceaccount:wcp:wcp'

export const known = <T>(value: T) => ({ known: true, value }) as const

/** One webhook of ours, as it is expected. */
export const MUTATE: Webhook = {
  name: 'mutate.webhook-cloud-provider.dev',
  clientConfig: { url: 'https://function.example.com:8443/secret/admission/mutate' },
  failurePolicy: 'Ignore',
  sideEffects: 'None',
  timeoutSeconds: 3,
  rules: [{ apiGroups: ['networking.karmada.io'], resources: ['multiclusteringresses'] }],
}

const KARMADA: Webhook = {
  name: 'multiclusteringress.karmada.io',
  clientConfig: { url: 'https://karmada-webhook.karmada-system.svc:443/validate' },
  failurePolicy: 'Fail',
  rules: [{ apiGroups: ['networking.karmada.io'], resources: ['multiclusteringresses'] }],
}

export function registered(webhook: Webhook, configuration = 'webhook-cloud-provider'): RegisteredWebhook {
  return { kind: 'MutatingWebhookConfiguration', configuration, webhook }
}

export const KARMADAS = registered(KARMADA, 'mutating-config')

/** Of a healthy installation on Karmada. */
export function buildFacts(changes: Partial<Facts> = {}): Facts {
  return {
    now: NOW,
    settings: buildSettings(),
    webhooks: known([registered(MUTATE), KARMADAS]),
    expectedWebhooks: [registered({ ...MUTATE, clientConfig: { url: 'https://function.invalid/admission/mutate' } })],
    bundles: known({ [MUTATE.name]: { state: 'readable', notAfter: NOW + 300 * DAY_MS } as const }),
    address: known({ host: 'function.example.com', port: 8443 }),
    addresses: known(['192.0.2.7']),
    certificate: known({ hosts: ['function.example.com'], notBefore: NOW - 10 * DAY_MS, notAfter: NOW + 80 * DAY_MS }),
    readiness: known({ ready: true, failing: [] }),
    entry: known([
      {
        door: 'admission' as const,
        withProof: { status: 200 },
        without: [{ proof: 'path prefix' as const, status: 404 }],
      },
    ]),
    metrics: known(`sweep_last_completed_timestamp_seconds{scope="all"} ${NOW / 1000 - 120}\n`),
    dryRun: known(buildDryRun()),
    access: known([{ rule: { group: '', resource: 'services', verb: 'get' }, allowed: true }]),
    writer: known({ username: IDENTITY, groups: ['system:serviceaccounts'] }),
    operator: known({ username: 'jo', groups: ['system:masters'] }),
    served: known(EVERYTHING),
    serverVersion: known('v1.31.3'),
    ingressClasses: known([buildDefaultClass('fake', FINALIZER)]),
    provider: known({ name: 'fake', can: ['MultiClusterIngress'], faults: [] }),
    providerAnswer: known({ ms: 3 }),
    unfinished: known([]),
    ...changes,
  }
}

export function buildSettings(changes: Partial<Facts['settings']> = {}): Facts['settings'] {
  return {
    controlPlane: 'karmada',
    identity: IDENTITY,
    ingressClass: { controller: FINALIZER, names: ['fake'], default: true },
    operatorIsApart: true,
    pathPrefix: true,
    doors: DOORS.map((door) => ({ door, proofs: [], open: false })),
    sweepIntervalMs: 300_000,
    finalizer: FINALIZER,
    ...changes,
  }
}

export function buildDryRun(changes: object = {}) {
  return {
    status: 201,
    message: '',
    warnings: ['mutate', 'validate', 'notify'].map((door) => `webhook-cloud-provider: the ${door} door answers`),
    finalizers: [FINALIZER],
    firstMs: 60,
    secondMs: 20,
    ...changes,
  }
}

export function buildDefaultClass(name: string, controller: string) {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IngressClass',
    metadata: { name, annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
    spec: { controller },
  }
}

export const EVERYTHING = {
  'networking.karmada.io/v1alpha1': ['multiclusteringresses', 'multiclusterservices'],
  'networking.k8s.io/v1': ['ingressclasses'],
  '/v1': ['services', 'secrets', 'events', 'nodes'],
  'discovery.k8s.io/v1': ['endpointslices'],
  'work.karmada.io/v1alpha1': ['works'],
  'work.karmada.io/v1alpha2': ['resourcebindings'],
  'cluster.karmada.io/v1alpha1': ['clusters'],
  'remedy.karmada.io/v1alpha1': ['remedies'],
  'multicluster.x-k8s.io/v1alpha1': ['serviceexports'],
  'policy.karmada.io/v1alpha1': ['propagationpolicies', 'clusterpropagationpolicies'],
}
