import type { Test } from 'tap'
import type { CatalogueError } from '../../src/domain/catalogue-error.ts'
import type { Kind } from '../../src/domain/kinds.ts'
import { RESOURCES } from '../../src/domain/kinds.ts'
import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import type { ObjectKey } from '../../src/domain/object-key.ts'
import type { ClusterStore } from '../../src/ports/cluster-store.ts'
import { buildClass, buildIngress, buildService } from '../support/build-objects.ts'

/** A store and a control plane behind it, with the namespaces `shop` and `bank` and nothing in them. */
export interface StoreUnderTest {
  store: ClusterStore
  /** What everybody else does to the same control plane. */
  others: OtherUsers
  /** A validating webhook at this address is asked about every write of ours from now on. */
  askWebhook(url: string): Promise<void>
  close(): Promise<void>
}

export interface OtherUsers {
  create(object: KubernetesObject): Promise<KubernetesObject>
  remove(key: ObjectKey): Promise<void>
  /** The API server forgets its history. */
  compact(): Promise<void>
}

export interface StoreOptions {
  /** This kind's CustomResourceDefinition is not installed. */
  without?: Kind
  /** What a webhook answers; the harness calls it for each review. */
  webhook: WebhookUnderTest
}

/** `undefined`: the call fails. A promise that never settles: no answer. */
export type WebhookUnderTest = (url: string, uid: string) => Promise<object | undefined>

export type OpenStore = (options: StoreOptions) => Promise<StoreUnderTest>

const INGRESS = { kind: 'MultiClusterIngress', namespace: 'shop', name: 'storefront' } as const
const SERVICE = { kind: 'MultiClusterService', namespace: 'shop', name: 'game' } as const
const FINALIZER = 'example.com/ours'

/** A webhook refuses with this code; below 400 the API server makes it 400. */
const DENYING = (code: number) => `https://denying.test/${code}`
const UNREACHABLE = 'https://unreachable.test/'
const SILENT = 'https://silent.test/'

const webhook: WebhookUnderTest = async (url, uid) => {
  const { hostname, pathname } = new URL(url)
  if (hostname === 'silent.test') return new Promise(() => {})
  if (hostname === 'unreachable.test') return undefined
  const status = { code: Number(pathname.slice(1)), message: 'not on Fridays' }
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: { uid, allowed: false, status },
  }
}

const signal = new AbortController().signal
const options = { signal }

/** What every `ClusterStore` does. `open` is called anew for each part. */
export function clusterStoreContract(t: Test, open: OpenStore): void {
  function part(title: string, body: (t: Test, subject: StoreUnderTest) => Promise<void>, without?: Kind): void {
    t.test(title, async (t) => {
      const subject = await open({ webhook, ...(without === undefined ? {} : { without }) })
      t.teardown(() => subject.close())
      await body(t, subject)
    })
  }

  part('what is stored is read, whoever wrote it; what is not there is undefined', async (t, { store, others }) => {
    t.equal(await store.get(INGRESS, options), undefined)
    const stored = await others.create(buildIngress())
    t.strictSame(await store.get(INGRESS, options), stored)
    t.equal(await store.get({ ...INGRESS, namespace: 'bank' }, options), undefined, 'of another namespace')
    t.equal(await store.get({ ...INGRESS, namespace: 'nowhere' }, options), undefined, 'of no namespace at all')
    const shared = await others.create(buildClass())
    t.strictSame(await store.get({ kind: 'IngressClass', namespace: '', name: 'multicloud' }, options), shared)
  })

  part(
    'a kind that is not served is an error and never "not there"',
    async (t, { store }) => {
      const notServed = { code: 'KindNotServed', retry: 'backoff' }
      await t.rejects(store.get(SERVICE, options), notServed)
      await t.rejects(store.list('MultiClusterService', options), notServed)
      await t.rejects(store.list('MultiClusterService', { ...options, namespace: 'shop' }), notServed)
      await t.rejects(store.create('MultiClusterService', buildService(), options), notServed)
      await t.rejects(store.patch(SERVICE, { type: 'merge', body: {} }, options), notServed)
      await t.rejects(store.patch(SERVICE, { type: 'json', operations: [] }, options), notServed)
      await t.rejects(
        store.patch(SERVICE, { type: 'merge', body: {} }, { ...options, subresource: 'status' }),
        notServed,
      )
      t.equal(await store.get(INGRESS, options), undefined, 'its neighbour is served')
    },
    'MultiClusterService',
  )

  part('lists come whole or in pages of one moment', async (t, { store, others }) => {
    t.match(await store.list('MultiClusterIngress', options), { items: [], continue: undefined })
    const names = ['a', 'b', 'c', 'd', 'e']
    for (const name of names) await others.create(buildIngress({ metadata: { name } }))
    const whole = await store.list('MultiClusterIngress', options)
    t.same(
      whole.items.map(({ apiVersion, kind, metadata }) => [apiVersion, kind, metadata.name]),
      names.map((name) => ['networking.karmada.io/v1alpha1', 'MultiClusterIngress', name]),
    )
    t.notOk('continue' in whole)
    t.match(whole.resourceVersion, /^\d+$/)

    const pages: string[][] = []
    const moments = new Set<string>()
    let token: string | undefined
    do {
      const page = await store.list('MultiClusterIngress', {
        ...options,
        limit: 2,
        ...(token === undefined ? {} : { continue: token }),
      })
      pages.push(page.items.map(({ metadata }) => metadata.name))
      moments.add(page.resourceVersion)
      if (token === undefined) await others.create(buildIngress({ metadata: { name: 'bb' } }))
      token = page.continue
    } while (token !== undefined)
    t.same(pages, [['a', 'b'], ['c', 'd'], ['e']], 'what came in between is not on a later page')
    t.equal(moments.size, 1)
  })

  part('items of built-in kinds name their kind too', async (t, { store, others }) => {
    await others.create(buildClass())
    const { items } = await store.list('IngressClass', options)
    t.match(items, [{ apiVersion: 'networking.k8s.io/v1', kind: 'IngressClass', metadata: { name: 'multicloud' } }])
  })

  part('lists are narrowed by namespace and labels', async (t, { store, others }) => {
    const rows = [
      { namespace: 'shop', name: 'a', labels: { app: 'web', tier: 'a' } },
      { namespace: 'shop', name: 'b', labels: { app: 'web', tier: 'b' } },
      { namespace: 'shop', name: 'c', labels: { app: 'web', tier: 'c' } },
      { namespace: 'bank', name: 'd', labels: { app: 'web', tier: 'a' } },
      { namespace: 'shop', name: 'e' },
    ]
    for (const metadata of rows) await others.create(buildService({ metadata }))
    for (const { query, found } of [
      { query: {}, found: 'abcde' },
      { query: { namespace: 'shop' }, found: 'abce' },
      { query: { labelSelector: 'app=web,tier in (a,b)' }, found: 'abd' },
      { query: { labelSelector: '!app' }, found: 'e' },
      { query: { labelSelector: 'tier notin (a, b)', namespace: 'shop' }, found: 'ce' },
      { query: { namespace: 'nowhere' }, found: '' },
    ]) {
      const { items } = await store.list('MultiClusterService', { ...options, ...query })
      const names = items.map(({ metadata }) => metadata.name).sort()
      t.equal(names.join(''), found, JSON.stringify(query))
    }
    await t.rejects(store.list('MultiClusterService', { ...options, labelSelector: '==' }), { code: 'ApiInvalid' })
  })

  part('a continue token that is too old is told from one that is wrong', async (t, { store, others }) => {
    for (const name of ['a', 'b', 'c']) await others.create(buildIngress({ metadata: { name } }))
    const page = await store.list('MultiClusterIngress', { ...options, limit: 1 })
    await others.create(buildService())
    await others.compact()
    const token = page.continue ?? ''
    const expired = await store
      .list('MultiClusterIngress', { ...options, limit: 1, continue: token })
      .catch((error) => error)
    t.match(expired, { code: 'ContinueExpired', rest: /./ })
    const rest = await store.list('MultiClusterIngress', {
      ...options,
      continue: (expired as CatalogueError).rest ?? '',
    })
    t.same(
      rest.items.map(({ metadata }) => metadata.name),
      ['b', 'c'],
      'the rest as it is now',
    )
    await t.rejects(store.list('MultiClusterIngress', { ...options, limit: 1, continue: 'no-token' }), {
      code: 'ApiInvalid',
    })
  })

  part('a creation answers with what was stored, and happens once', async (t, { store }) => {
    const created = await store.create('MultiClusterIngress', buildIngress(), options)
    t.match(created, {
      apiVersion: 'networking.karmada.io/v1alpha1',
      kind: 'MultiClusterIngress',
      metadata: { name: 'storefront', namespace: 'shop', generation: 1, uid: /.+/, resourceVersion: /^\d+$/ },
    })
    t.strictSame(await store.get(INGRESS, options), created)
    const again = buildIngress({ spec: { ingressClassName: 'other' } })
    await t.rejects(store.create('MultiClusterIngress', again, options), { code: 'AlreadyExists', object: INGRESS })
    t.strictSame(await store.get(INGRESS, options), created)
    const homeless = buildIngress({ metadata: { namespace: 'nowhere' } })
    await t.rejects(store.create('MultiClusterIngress', homeless, options), { code: 'NotFound' })
  })

  part('a JSON Patch is applied whole, or not at all when a test of it fails', async (t, { store }) => {
    const { metadata } = await store.create('MultiClusterIngress', buildIngress(), options)
    const claim = (resourceVersion: string | undefined) =>
      store.patch(
        INGRESS,
        {
          type: 'json',
          operations: [
            { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion ?? '' },
            { op: 'add', path: '/metadata/finalizers', value: [FINALIZER] },
          ],
        },
        options,
      )
    const claimed = await claim(metadata.resourceVersion)
    t.same(claimed.metadata.finalizers, [FINALIZER])
    t.not(claimed.metadata.resourceVersion, metadata.resourceVersion)
    t.strictSame(await store.get(INGRESS, options), claimed)

    await t.rejects(claim(metadata.resourceVersion), { code: 'Conflict', retry: 'after', object: INGRESS })
    for (const operations of [
      [{ op: 'test' as const, path: '/metadata/finalizers', value: ['example.com/theirs'] }],
      [{ op: 'test' as const, path: '/metadata/annotations/nothing', value: 'x' }],
      [
        { op: 'add' as const, path: '/metadata/labels', value: { a: 'b' } },
        { op: 'test' as const, path: '/metadata/uid', value: 'another' },
      ],
      [{ op: 'remove' as const, path: '/metadata/finalizers/7' }],
    ]) {
      await t.rejects(store.patch(INGRESS, { type: 'json', operations }, options), { code: 'Conflict' })
    }
    t.strictSame(await store.get(INGRESS, options), claimed)
  })

  part('a merge patch is held to the uid and resourceVersion in it', async (t, { store }) => {
    const { metadata } = await store.create('MultiClusterIngress', buildIngress(), options)
    const { uid = '', resourceVersion = '' } = metadata
    const label = (precondition: { uid?: string; resourceVersion?: string }, value: string) =>
      store.patch(INGRESS, { type: 'merge', body: { metadata: { ...precondition, labels: { value } } } }, options)
    const first = await label({ uid, resourceVersion }, 'first')
    t.same(first.metadata.labels, { value: 'first' })
    t.strictSame(await store.get(INGRESS, options), first)

    const conflict = { code: 'Conflict', retry: 'after' }
    await t.rejects(label({ resourceVersion }, 'stale'), conflict)
    await t.rejects(label({ uid: 'another' }, 'another object'), conflict)
    t.strictSame(await store.get(INGRESS, options), first)
    t.same((await label({ uid }, 'second')).metadata.labels, { value: 'second' }, 'no resourceVersion, no question')
  })

  part('of two who change the same version one wins', async (t, { store }) => {
    const { metadata } = await store.create('MultiClusterIngress', buildIngress(), options)
    const { resourceVersion = '' } = metadata
    const results = await Promise.allSettled(
      ['left', 'right'].map((side) =>
        store.patch(INGRESS, { type: 'merge', body: { metadata: { resourceVersion, labels: { side } } } }, options),
      ),
    )
    t.same(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    const lost = results.find((result) => result.status === 'rejected')
    t.match(lost?.reason, { code: 'Conflict' })
    const won = results.find((result) => result.status === 'fulfilled')
    t.strictSame(await store.get(INGRESS, options), won?.value)
  })

  part('a patch that changes nothing stores nothing', async (t, { store }) => {
    const created = await store.create('MultiClusterIngress', buildIngress(), options)
    const same = { spec: { ingressClassName: 'multicloud' } }
    t.strictSame(await store.patch(INGRESS, { type: 'merge', body: same }, options), created)
  })

  part('status and the rest are written apart', async (t, { store }) => {
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.7' }] } }
    const created = await store.create('MultiClusterIngress', buildIngress({ status }), options)
    t.equal(created.status, undefined, 'a creation brings no status')
    const patch = { type: 'merge' as const, body: { status, spec: { ingressClassName: 'other' } } }

    const served = await store.patch(INGRESS, patch, { ...options, subresource: 'status' })
    t.match(served, { status, spec: { ingressClassName: 'multicloud' }, metadata: { generation: 1 } })
    t.strictSame(await store.get(INGRESS, options), served)

    const wanted = { type: 'merge' as const, body: { status: null, spec: { ingressClassName: 'other' } } }
    const moved = await store.patch(INGRESS, wanted, options)
    t.match(moved, { status, spec: { ingressClassName: 'other' }, metadata: { generation: 2 } })

    const { resourceVersion = '', uid = '' } = created.metadata
    const ofAnother = { op: 'test' as const, path: '/metadata/uid', value: 'another' }
    for (const stale of [
      { type: 'merge' as const, body: { metadata: { resourceVersion }, status: {} } },
      { type: 'json' as const, operations: [ofAnother, { op: 'remove' as const, path: '/status' }] },
    ]) {
      await t.rejects(store.patch(INGRESS, stale, { ...options, subresource: 'status' }), { code: 'Conflict' })
    }
    t.strictSame(await store.get(INGRESS, options), moved)
    const cleared = { type: 'merge' as const, body: { metadata: { uid }, status: { loadBalancer: null } } }
    const after = await store.patch(INGRESS, cleared, { ...options, subresource: 'status' })
    t.equal(after.status?.loadBalancer, undefined)
  })

  part('what the schema does not allow is ApiInvalid, however it is sent', async (t, { store }) => {
    const created = await store.create('MultiClusterIngress', buildIngress(), options)
    const invalid = { code: 'ApiInvalid', retry: 'never' }
    const wrong = buildIngress({ metadata: { name: 'wrong' }, spec: { defaultBackend: 'web' } as never })
    await t.rejects(store.create('MultiClusterIngress', wrong, options), invalid)
    const misnamed = buildIngress({ metadata: { name: 'No_Name' } })
    await t.rejects(store.create('MultiClusterIngress', misnamed, options), invalid)
    const merge = { type: 'merge' as const, body: { spec: { defaultBackend: 'web' } } }
    await t.rejects(store.patch(INGRESS, merge, options), invalid)
    const operations = [{ op: 'replace' as const, path: '/spec/defaultBackend', value: 'web' }]
    await t.rejects(store.patch(INGRESS, { type: 'json', operations }, options), invalid, 'it applied, and is wrong')
    const ingress = { type: 'merge' as const, body: { status: { loadBalancer: { ingress: 'here' } } } }
    await t.rejects(store.patch(INGRESS, ingress, { ...options, subresource: 'status' }), invalid)
    t.strictSame(await store.get(INGRESS, options), created)
  })

  for (const code of [200, 403, 409, 422, 429, 500, 503]) {
    part(`a webhook that denies with ${code} ends it`, async (t, { store, others, askWebhook }) => {
      const before = await others.create(buildIngress())
      await askWebhook(DENYING(code))
      const denied = { code: 'ApiDenied', retry: 'never', message: /not on Fridays/ }
      await t.rejects(store.create('MultiClusterService', buildService(), options), denied)
      const merge = { type: 'merge' as const, body: { metadata: { labels: { a: 'b' } } } }
      await t.rejects(store.patch(INGRESS, merge, options), denied)
      const operations = [{ op: 'add' as const, path: '/metadata/labels', value: { a: 'b' } }]
      await t.rejects(store.patch(INGRESS, { type: 'json', operations }, options), denied)
      t.strictSame(await store.get(INGRESS, options), before)
    })
  }

  part('a webhook that cannot be asked is a reason to come back', async (t, { store, others, askWebhook }) => {
    const before = await others.create(buildIngress())
    await askWebhook(UNREACHABLE)
    const retryable = { code: 'ApiFailed', retry: 'backoff' }
    await t.rejects(store.create('MultiClusterService', buildService(), options), retryable)
    const merge = { type: 'merge' as const, body: { metadata: { labels: { a: 'b' } } } }
    await t.rejects(store.patch(INGRESS, merge, options), retryable)
    const operations = [{ op: 'add' as const, path: '/metadata/labels', value: { a: 'b' } }]
    await t.rejects(store.patch(INGRESS, { type: 'json', operations }, options), retryable)
    t.strictSame(await store.get(INGRESS, options), before)
    t.equal(await store.get(SERVICE, options), undefined)
  })

  part('the last finalizer released lets a deleting object go', async (t, { store, others }) => {
    await others.create(buildIngress({ metadata: { finalizers: [FINALIZER, 'example.com/theirs'] } }))
    await others.remove(INGRESS)
    const deleting = await store.get(INGRESS, options)
    t.match(deleting?.metadata, { deletionTimestamp: /^\d{4}-/, finalizers: [FINALIZER, 'example.com/theirs'] })

    const release = (finalizers: string[]) =>
      store.patch(
        INGRESS,
        {
          type: 'json',
          operations: [
            { op: 'test', path: '/metadata/finalizers', value: finalizers },
            { op: 'remove', path: '/metadata/finalizers/0' },
          ],
        },
        options,
      )
    const held = await release([FINALIZER, 'example.com/theirs'])
    t.same(held.metadata.finalizers, ['example.com/theirs'])
    await t.rejects(release([FINALIZER]), { code: 'Conflict' })
    t.not(await store.get(INGRESS, options), undefined)
    await release(['example.com/theirs'])
    t.equal(await store.get(INGRESS, options), undefined)
  })

  part('what is gone cannot be patched, and what came after it is another object', async (t, { store, others }) => {
    const first = await others.create(buildIngress())
    await others.remove(INGRESS)
    const notFound = { code: 'NotFound', object: INGRESS }
    const merge = { type: 'merge' as const, body: { metadata: { labels: { a: 'b' } } } }
    await t.rejects(store.patch(INGRESS, merge, options), notFound)
    await t.rejects(store.patch(INGRESS, { type: 'json', operations: [] }, options), notFound)
    await t.rejects(store.patch(INGRESS, merge, { ...options, subresource: 'status' }), notFound)

    const second = await others.create(buildIngress())
    const { uid = '', resourceVersion = '' } = first.metadata
    const late = { type: 'merge' as const, body: { metadata: { uid }, spec: { ingressClassName: 'late' } } }
    await t.rejects(store.patch(INGRESS, late, options), { code: 'Conflict' })
    // The API server looks at no uid on the /status of a custom resource: there only the resourceVersion guards.
    const lateStatus = { type: 'merge' as const, body: { metadata: { uid, resourceVersion }, status: {} } }
    await t.rejects(store.patch(INGRESS, lateStatus, { ...options, subresource: 'status' }), { code: 'Conflict' })
    t.strictSame(await store.get(INGRESS, options), second)
  })

  part('only what was read is deleted', async (t, { store, others }) => {
    const first = await others.create(buildIngress())
    const { uid = '', resourceVersion = '' } = first.metadata
    const touched = await store.patch(INGRESS, { type: 'merge', body: { metadata: { labels: { a: 'b' } } } }, options)
    const current = { uid, resourceVersion: touched.metadata.resourceVersion ?? '' }
    for (const preconditions of [
      { uid, resourceVersion },
      { ...current, uid: '00000000-0000-4000-8000-ffffffffffff' },
    ]) {
      const conflict = { code: 'Conflict', retry: 'after', object: INGRESS }
      await t.rejects(store.delete(INGRESS, { ...options, preconditions }), conflict)
    }
    t.strictSame(await store.get(INGRESS, options), touched)

    await store.delete(INGRESS, { ...options, preconditions: current })
    t.equal(await store.get(INGRESS, options), undefined)
    const gone = store.delete(INGRESS, { ...options, preconditions: current })
    await t.rejects(gone, { code: 'NotFound', object: INGRESS })
    const second = await others.create(buildIngress())
    await t.rejects(store.delete(INGRESS, { ...options, preconditions: current }), { code: 'Conflict' })
    t.strictSame(await store.get(INGRESS, options), second, 'what came after it is another object')
  })

  part('a call that is given up is a timeout', async (t, { store, others, askWebhook }) => {
    await others.create(buildIngress())
    const over = { signal: AbortSignal.abort() }
    const timeout = { code: 'ApiTimeout', retry: 'backoff' }
    const merge = { type: 'merge' as const, body: { metadata: { labels: { a: 'b' } } } }
    await t.rejects(store.get(INGRESS, over), timeout)
    await t.rejects(store.list('MultiClusterIngress', over), timeout)
    await t.rejects(store.create('MultiClusterService', buildService(), over), timeout)
    await t.rejects(store.patch(INGRESS, merge, over), timeout)
    t.equal(await store.get(SERVICE, options), undefined, 'a call given up before it began does nothing')

    await askWebhook(SILENT)
    const controller = new AbortController()
    const pending = store.patch(INGRESS, merge, { signal: controller.signal })
    controller.abort()
    await t.rejects(pending, timeout, 'and one on its way ends at once')
    t.match(await store.get(INGRESS, options), { metadata: { name: 'storefront' } }, 'the store goes on')
  })
}

/** A configuration for `askWebhook`, failurePolicy Fail; whatever asks it is waited for 30 s. */
export function webhookConfiguration(url: string): KubernetesObject & { webhooks: object[] } {
  const rules = [RESOURCES.MultiClusterIngress, RESOURCES.MultiClusterService].map(({ group, version, plural }) => ({
    apiGroups: [group],
    apiVersions: [version],
    resources: [plural],
    operations: ['CREATE', 'UPDATE'],
  }))
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'somebody' },
    webhooks: [
      {
        name: 'somebody.example.com',
        admissionReviewVersions: ['v1'],
        clientConfig: { url },
        failurePolicy: 'Fail',
        sideEffects: 'None',
        timeoutSeconds: 30,
        rules,
      },
    ],
  }
}
