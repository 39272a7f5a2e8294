import assert from 'node:assert/strict'
import type { ApiClient, Body } from './api-client.ts'
import { GROUP } from './contract-crds.ts'
import { eventually } from './eventually.ts'
import { allow } from './review-answers.ts'
import type { ServerUnderTest } from './server-under-test.ts'
import type { Behaviour, ReceivedReview, WebhookReceiver } from './webhook-receiver.ts'

export type Phase = 'mutating' | 'validating'

export interface HookSetup {
  phase: Phase
  /** Orders configurations: the names sort as these do. */
  order?: string
  answer?: Behaviour
  rules?: Record<string, unknown>[]
  /** Of the webhook: failurePolicy, timeoutSeconds… */
  fields?: Record<string, unknown>
  receiver?: WebhookReceiver
  /** What comes between host and port of the URL and the path; for targets that are no URL of the receiver. */
  clientConfig?: (path: string) => Record<string, unknown>
}

export interface Hook {
  /** As in messages. */
  name: string
  configuration: string
  /** What it was asked so far. */
  reviews: ReceivedReview[]
  answer(behaviour: Behaviour): void
}

export interface Receivers {
  /** Most webhooks; which of the API server's users it sees is of no interest. */
  main: WebhookReceiver
  /** Has a kubeconfig user of its own, by host and port, and one that a less exact name would give. */
  exact: WebhookReceiver
  /** Has a kubeconfig user by the end of its host. */
  wildcard: WebhookReceiver
}

/** The tokens that the API server has for the receivers, by the names of its kubeconfig users. */
export const WEBHOOK_TOKENS = {
  exact: 'token-of-host-and-port',
  wildcard: 'token-of-wildcard',
  fallback: 'token-of-star-0123456789',
}

export function webhookUsers({ exact, wildcard }: Receivers): { name: string; token: string }[] {
  return [
    { name: `*.0.0.1:${exact.port}`, token: WEBHOOK_TOKENS.wildcard },
    { name: `127.0.0.1:${exact.port}`, token: WEBHOOK_TOKENS.exact },
    { name: `*.0.0.1:${wildcard.port}`, token: WEBHOOK_TOKENS.wildcard },
    { name: '*', token: WEBHOOK_TOKENS.fallback },
  ]
}

/** What one check has to itself: a namespace, and webhooks that are asked about nothing outside it. */
export interface Bench {
  server: ServerUnderTest
  receivers: Receivers
  admin: ApiClient
  plain: ApiClient
  namespace: string
  /** Path of a kind of the contract, below the namespace. */
  path(plural: string, name?: string, subresource?: string): string
  /** Path of a core kind, below the namespace. */
  core(plural: string, name?: string, subresource?: string): string
  /** A Widget to send. */
  widget(name: string, spec?: Record<string, unknown>, metadata?: Record<string, unknown>): Record<string, unknown>
  /** Creates it as admin, which must succeed. */
  create(object: Record<string, unknown>, query?: string): Promise<Body>
  read(plural: string, name: string): Promise<Body>
  /** A webhook that is in force when this returns. */
  hook(setup: HookSetup): Promise<Hook>
  dispose(): Promise<void>
}

const MARKER = `${GROUP}/marker`
const EVERY_WIDGET_WRITE = [
  { apiGroups: [GROUP], apiVersions: ['*'], resources: ['widgets'], operations: ['CREATE', 'UPDATE', 'DELETE'] },
]

export interface BenchOptions {
  server: ServerUnderTest
  receivers: Receivers
  admin: ApiClient
  plain: ApiClient
  namespace: string
}

export async function openBench({ server, receivers, admin, plain, namespace }: BenchOptions): Promise<Bench> {
  const configurations: string[] = []
  await mustBe(
    201,
    admin.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }),
  )

  const below = (prefix: string) => (plural: string, name?: string, subresource?: string) =>
    [`${prefix}/namespaces/${namespace}/${plural}`, name, subresource].filter((part) => part !== undefined).join('/')

  const bench: Bench = {
    server,
    receivers,
    admin,
    plain,
    namespace,
    path: below(`/apis/${GROUP}/v1`),
    core: below('/api/v1'),
    widget: (name, spec = {}, metadata = {}) => ({
      apiVersion: `${GROUP}/v1`,
      kind: 'Widget',
      metadata: { name, namespace, ...metadata },
      spec: { title: 'widget', ...spec },
    }),
    async create(object, query = '') {
      const { kind, apiVersion } = object as { kind: string; apiVersion: string }
      const plural = `${kind.toLowerCase()}s`
      const collection = apiVersion.startsWith(GROUP) ? bench.path(plural) : bench.core(plural)
      return await mustBe(201, admin.post(collection + query, object))
    },
    read: (plural, name) => mustBe(200, admin.get(bench.path(plural, name))),
    async hook(setup) {
      const { receiver = receivers.main } = setup
      const suffix = `${setup.order ?? 'x'}-${configurations.length}`
      const configuration = `${namespace}-${suffix}`
      const name = `${suffix}.${namespace}.${GROUP}`
      const path = `/${namespace}/${suffix}`
      let behaviour: Behaviour = setup.answer ?? allow
      const reviews = receiver.serve(path, (received) => behaviour(received))
      const markers = receivers.main.serve(`${path}/marker`, allow)

      const clientConfig = setup.clientConfig?.(path) ?? clientOf(receiver, path)
      const marker = markerHook(namespace, configuration, clientOf(receivers.main, `${path}/marker`))
      const collection = configurationsOf(setup.phase)
      await mustBe(
        201,
        admin.post(collection, {
          apiVersion: 'admissionregistration.k8s.io/v1',
          kind: `${setup.phase === 'mutating' ? 'Mutating' : 'Validating'}WebhookConfiguration`,
          metadata: { name: configuration },
          webhooks: [
            {
              name,
              clientConfig,
              rules: setup.rules ?? EVERY_WIDGET_WRITE,
              admissionReviewVersions: ['v1'],
              sideEffects: 'None',
              namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
              ...setup.fields,
            },
            marker,
          ],
        }),
      )
      configurations.push(`${collection}/${configuration}`)
      await inForce(bench, configuration, markers)
      return {
        name,
        configuration,
        reviews,
        answer(next) {
          behaviour = next
        },
      }
    },
    async dispose() {
      await Promise.all(configurations.map((path) => admin.delete(path)))
    },
  }
  return bench
}

/** The answer's body; fails with the whole answer if the code is another. */
export async function mustBe(code: number, asked: ReturnType<ApiClient['get']>): Promise<Body> {
  const answer = await asked
  assert.equal(answer.code, code, answer.text)
  return answer.body
}

export function configurationsOf(phase: Phase): string {
  return `/apis/admissionregistration.k8s.io/v1/${phase}webhookconfigurations`
}

export function clientOf(receiver: WebhookReceiver, path: string): Record<string, unknown> {
  return {
    url: `https://127.0.0.1:${receiver.port}${path}`,
    caBundle: Buffer.from(receiver.caPem).toString('base64'),
  }
}

// A configuration takes effect some time after it was written, all its webhooks at once: when the one beside ours is
// asked about an object made for it, ours is in force.
function markerHook(namespace: string, configuration: string, clientConfig: Record<string, unknown>) {
  return {
    name: `marker.${namespace}.${GROUP}`,
    clientConfig,
    rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }],
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    failurePolicy: 'Ignore',
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    objectSelector: { matchLabels: { [MARKER]: configuration } },
  }
}

async function inForce(bench: Bench, configuration: string, markers: readonly ReceivedReview[]): Promise<void> {
  const metadata = { name: 'marker', labels: { [MARKER]: configuration } }
  await eventually(async () => {
    await bench.admin.post(`${bench.core('configmaps')}?dryRun=All`, { apiVersion: 'v1', kind: 'ConfigMap', metadata })
    assert.ok(markers.length > 0, `${configuration} is not in force`)
  })
}
