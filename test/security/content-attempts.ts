import { gzipSync } from 'node:zlib'
import { buildReview } from '../support/api-callers.ts'
import { buildIngress } from '../support/build-objects.ts'
import { IDENTITY } from '../support/world.ts'
import { type Attempt, request, type Sent } from './attempt.ts'
import type { Bench } from './bench.ts'

// What somebody can do who has stolen a token: a read, and nothing else.

type Object_ = Parameters<typeof buildReview>[1]['object']

const notify = (bench: Bench, more: Partial<Sent>) =>
  bench.raw(request(bench, { path: '/admission/notify', token: bench.tokens.admission, ...more }))

const event = (bench: Bench, attributes: object, more: Partial<Sent> = {}) => {
  const body = { specversion: '1.0', id: '1', source: 'https://api', ...attributes }
  return bench.raw(request(bench, { path: '/events', token: bench.tokens.events, body, ...more }))
}

const living = ({ world }: Bench) =>
  world.read({ kind: 'MultiClusterIngress', namespace: 'shop', name: 'storefront' }) as unknown as Object_ & object

const reference = (name: string) => ({
  apiVersion: 'networking.karmada.io/v1alpha1',
  kind: 'MultiClusterIngress',
  namespace: 'shop',
  name,
})

const text = (object: unknown, replace: [string, string]) => JSON.stringify(object).replace(...replace)

export const CONTENT_ATTEMPTS: readonly Attempt[] = [
  {
    name: 'a forged review of an object that does not exist',
    answers: [200],
    send: (bench) =>
      notify(bench, {
        body: buildReview('CREATE', { object: buildIngress({ metadata: { name: 'forged' } }) as never }),
      }),
  },
  {
    name: 'a forged deletion of an object that lives',
    answers: [200],
    send: (bench) => notify(bench, { body: buildReview('DELETE', { oldObject: living(bench) }) }),
  },
  {
    name: 'a forged deletion with another uid',
    answers: [200],
    send: (bench) => {
      const object = living(bench) as { metadata: object }
      const oldObject = { ...object, metadata: { ...object.metadata, uid: '11111111-1111-4111-8111-111111111111' } }
      return notify(bench, { body: buildReview('DELETE', { oldObject: oldObject as never }) })
    },
  },
  {
    name: 'a forged update: deleting, and without the finalizer',
    answers: [200],
    send: (bench) => {
      const oldObject = living(bench) as { metadata: object }
      const metadata = { ...oldObject.metadata, deletionTimestamp: '2026-03-01T08:00:00Z', finalizers: [] }
      const object = { ...oldObject, metadata } as never
      return notify(bench, { body: buildReview('UPDATE', { object, oldObject: oldObject as never }) })
    },
  },
  {
    name: 'a forged update to another class',
    answers: [200],
    send: (bench) => {
      const oldObject = living(bench) as { spec?: object }
      const object = { ...oldObject, spec: { ...oldObject.spec, ingressClassName: 'other' } } as never
      return notify(bench, { body: buildReview('UPDATE', { object, oldObject: oldObject as never }) })
    },
  },
  {
    name: 'a forged review in our own name',
    answers: [200],
    send: (bench) => {
      const forged = buildReview('DELETE', { oldObject: living(bench) })
      const request = { ...forged.request, userInfo: { username: IDENTITY, groups: ['system:masters'] } }
      return notify(bench, { body: { ...forged, request } })
    },
  },
  {
    name: 'an old review, replayed ten times',
    answers: Array(10).fill(200),
    send: (bench) => {
      const { status: _, ...object } = living(bench) as { status?: unknown }
      const body = buildReview('CREATE', { object: object as never })
      const headers = { connection: 'keep-alive' }
      const one = request(bench, { path: '/admission/notify', token: bench.tokens.admission, body, headers })
      return bench.raw(Array(10).fill(one))
    },
  },
  {
    name: 'a forged CloudEvent: deleted',
    answers: [202],
    send: (bench) => event(bench, { type: 'dev.knative.apiserver.ref.delete', data: reference('storefront') }),
  },
  {
    name: 'a forged CloudEvent with a whole object: deleted',
    answers: [202],
    send: (bench) => event(bench, { type: 'dev.knative.apiserver.resource.delete', data: living(bench) }),
  },
  {
    name: 'forged work on an object that does not exist',
    answers: [204],
    send: (bench) =>
      event(bench, {
        type: 'dev.webhook-cloud-provider.work.v1',
        data: { key: 'MultiClusterIngress/shop/forged', hints: [] },
      }),
  },
  {
    name: 'a forged sweep',
    answers: [204],
    send: (bench) => event(bench, { type: 'dev.knative.sources.ping', data: { scope: 'all' } }),
  },
  {
    name: 'addresses in annotations and spec (SSRF)',
    answers: [200, 200, 200],
    send: async (bench) => {
      const { url } = bench.canary
      const object = buildIngress({
        metadata: {
          name: 'ssrf',
          annotations: { 'example.com/webhook': url, 'kubectl.kubernetes.io/last-applied-configuration': url },
        },
        spec: {
          rules: [{ host: url.replace('http://', '') }],
          defaultBackend: { resource: { kind: 'URL', name: url } },
        } as never,
      })
      const body = buildReview('CREATE', { object: object as never })
      const doors = ['mutate', 'validate', 'notify'].map((door) => notify(bench, { path: `/admission/${door}`, body }))
      return (await Promise.all(doors)).join('\n')
    },
  },
  {
    name: 'addresses in attributes of an event (SSRF)',
    answers: [202],
    send: (bench) => {
      const { url } = bench.canary
      const data = reference('storefront')
      return event(bench, {
        type: 'dev.knative.apiserver.ref.update',
        source: url,
        dataschema: url,
        subject: url,
        data,
      })
    },
  },
  {
    name: 'a callback address in the handshake',
    answers: [200],
    send: (bench) =>
      bench.raw(
        request(bench, {
          method: 'OPTIONS',
          path: '/events',
          headers: { 'webhook-request-origin': 'evil.example.com', 'webhook-request-callback': bench.canary.url },
        }),
      ),
  },
  {
    name: 'a line break in the handshake',
    answers: [400],
    send: (bench) =>
      bench.raw(
        request(bench, {
          method: 'OPTIONS',
          path: '/events',
          headers: { 'webhook-request-origin': 'evil.example.com%0d%0aset-cookie:a=b' },
        }),
      ),
  },
  {
    name: 'a reference to the metadata of the cloud',
    answers: [400],
    send: (bench) =>
      event(bench, { type: 'dev.knative.apiserver.ref.update', data: reference('../../../../latest/meta-data') }),
  },
  {
    name: 'a name that leads to another object',
    answers: [400],
    send: (bench) => {
      const review = buildReview('CREATE', { object: buildIngress({ metadata: { name: 'a/../storefront' } }) as never })
      return notify(bench, { body: review })
    },
  },
  {
    name: 'prototype pollution: __proto__',
    answers: [400],
    send: (bench) => {
      const review = buildReview('CREATE', { object: buildIngress() as never })
      return notify(bench, { body: text(review, ['"request":{', '"request":{"__proto__":{"polluted":true},']) })
    },
  },
  {
    name: 'prototype pollution: constructor.prototype',
    answers: [400],
    send: (bench) => {
      const review = buildReview('CREATE', { object: buildIngress() as never })
      const planted = '"request":{"constructor":{"prototype":{"polluted":true}},'
      return notify(bench, { body: text(review, ['"request":{', planted]) })
    },
  },
  {
    name: 'prototype pollution by an event’s data',
    answers: [400],
    send: (bench) => {
      const body = '{"specversion":"1.0","id":"1","source":"/","type":"x","data":{"__proto__":{"polluted":true}}}'
      return bench.raw(request(bench, { path: '/events', token: bench.tokens.events, body }))
    },
  },
  {
    name: 'a user’s name that forges lines of the log',
    answers: [200],
    send: (bench) => {
      const forged = buildReview('CREATE', { object: buildIngress({ metadata: { name: 'forged' } }) as never })
      const username = 'a\n{"level":60,"msg":"forged"}\r\n\u001b[2K\u2028\u202e\u{e0041}'
      const body = { ...forged, request: { ...forged.request, userInfo: { username, groups: [username] } } }
      return bench.raw(request(bench, { path: '/admission/mutate', token: bench.tokens.admission, body }))
    },
  },
  {
    name: 'a thousand levels of nesting',
    answers: [400],
    send: (bench) => notify(bench, { body: `${'{"a":'.repeat(1_000)}1${'}'.repeat(1_000)}` }),
  },
  {
    name: 'a million levels of nesting',
    answers: [400],
    send: (bench) => notify(bench, { body: '['.repeat(1_000_000) }),
  },
  {
    name: 'invalid UTF-8',
    answers: [400],
    send: (bench) => notify(bench, { body: Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d]) }),
  },
  {
    name: 'a gzip bomb',
    answers: [415],
    send: (bench) =>
      notify(bench, { body: gzipSync(Buffer.alloc(20_000_000, 0x20)), headers: { 'content-encoding': 'gzip' } }),
  },
  {
    name: 'a body of 8 MiB',
    answers: [413],
    send: (bench) => notify(bench, { body: Buffer.alloc(8 * 1024 * 1024, 0x20) }),
  },
  {
    name: 'a body of 8 MiB by a stranger',
    answers: [401],
    send: (bench) => notify(bench, { token: 'stranger', body: Buffer.alloc(8 * 1024 * 1024, 0x20) }),
  },
  {
    name: 'a scope that is a query of its own',
    answers: [400],
    send: (bench) => bench.raw(request(bench, { path: '/sweep?scope=all%26scope=x', token: bench.tokens.sweep })),
  },
  {
    name: 'a made-up continue token',
    answers: [400],
    send: (bench) => bench.raw(request(bench, { path: '/sweep?continue=eyJ2IjoibWV0YSJ9', token: bench.tokens.sweep })),
  },
]
