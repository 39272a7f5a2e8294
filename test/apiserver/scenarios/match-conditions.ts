import assert from 'node:assert/strict'
import type { ClusterEvent } from '../../../src/domain/cluster-event.ts'
import { isRelevantChange } from '../../../src/domain/relevance.ts'
import type { ApiClient, Body } from '../../contracts/kubernetes-api/api-client.ts'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import type { Scenario } from '../scenario.ts'
import { isWrite } from '../support/audit-log.ts'
import { backend, ingress, ingressPath, service, servicePath } from '../support/balanced-objects.ts'
import { FINALIZER, IDENTITY, type Installation, withInstallation } from '../support/installation.ts'
import { type Door, type ReviewFront, startReviewFront } from '../support/review-front.ts'
import { untilCached } from '../support/until-cached.ts'

const namespace = 'match-conditions'
const CLASSES = '/apis/networking.k8s.io/v1/ingressclasses'
const DOORS: readonly Door[] = ['mutate', 'validate', 'notify']
const HOLD = 'example.com/hold'

/** A change that a user makes, and the doors at which its review must arrive: at these and at no other. */
interface Change {
  what: string
  path: string
  by(admin: ApiClient, path: string, before: Body): ReturnType<ApiClient['get']>
  arrivesAt: readonly Door[]
}

const merge =
  (patch: object, ...subresource: string[]): Change['by'] =>
  (admin, path) =>
    admin.patch('merge-patch', [path, ...subresource].join('/'), patch)
const metadata = (fields: object) => merge({ metadata: fields })
const put =
  (edit: (before: Body) => Body): Change['by'] =>
  (admin, path, before) =>
    admin.put(path, edit(before))
const withoutOurs: Change['by'] = (admin, path, before) => {
  const finalizers = before.metadata.finalizers?.filter((name) => name !== FINALIZER) ?? []
  return admin.patch('merge-patch', path, { metadata: { finalizers } })
}

// Of a class that configuration names, so that the mutating review claims it.
const certain = ingressPath(namespace, 'certain')
// Of a class that is ours by its controller only, so that the reconciler claims it.
const unsure = ingressPath(namespace, 'unsure')
const game = servicePath(namespace, 'game')

/** Each is made when everything before it has settled. */
const CHANGES: readonly Change[] = [
  change('spec of an ingress', certain, merge({ spec: { defaultBackend: backend(81) } }), ['validate', 'notify']),
  change('spec by PUT', certain, put(withPort(82)), ['validate', 'notify']),
  change('spec of a service', game, merge({ spec: { ports: [{ name: 'http', port: 81 }] } }), ['validate', 'notify']),
  change('an annotation', certain, metadata({ annotations: { 'example.com/size': 'l' } }), ['validate', 'notify']),
  change('an annotation, other value', certain, metadata({ annotations: { 'example.com/size': 's' } }), [
    'validate',
    'notify',
  ]),
  change('no annotation any more', certain, metadata({ annotations: null }), ['validate', 'notify']),
  change('a label', certain, metadata({ labels: { team: 'shop' } }), []),
  change('a label of a service', game, metadata({ labels: { team: 'shop' } }), []),
  change('an owner', certain, metadata({ ownerReferences: [owner()] }), []),
  change("somebody else's finalizer", certain, metadata({ finalizers: [FINALIZER, HOLD] }), []),
  change(
    'nothing',
    certain,
    put((before) => before),
    [],
  ),
  change('nothing, by apply', certain, applySame, []),
  change('status, by somebody', certain, merge(statusOf('198.51.100.99'), 'status'), []),
  change('status of a service, by somebody', game, merge(statusOf('198.51.100.99'), 'status'), []),
  // The mutating review puts it back before the others are asked.
  change('our finalizer, from an ingress of a known class', certain, withoutOurs, ['mutate']),
  change('our finalizer, from an ingress of an unknown class', unsure, withoutOurs, ['mutate', 'notify']),
  change('our finalizer with a label', unsure, metadata({ labels: { a: 'b' }, finalizers: null }), [
    'mutate',
    'notify',
  ]),
  change('class given away', unsure, merge({ spec: { ingressClassName: 'another' } }), ['validate', 'notify']),
  change('a label of what is not ours', unsure, metadata({ labels: { a: 'c' } }), ['mutate']),
  change('class taken back', unsure, merge({ spec: { ingressClassName: 'unsure' } }), DOORS),
  change('deletion of what another holds', certain, (admin, path) => admin.delete(path), ['notify']),
  change('spec while deleting', certain, merge({ spec: { defaultBackend: backend(83) } }), ['notify']),
  change('a label while deleting', certain, metadata({ labels: { team: 'none' } }), []),
  change('the last finalizer, not ours', certain, metadata({ finalizers: null }), []),
  change('deletion of a service', game, (admin, path) => admin.delete(path), ['notify']),
]

export const scenario: Scenario = {
  name: 'CEL: reviews that can mean work arrive, others and our own writes never do',
  async run(context) {
    const { admin } = context
    await withInstallation(context, namespace, async (installed) => {
      await installed.start()
      const front = await startReviewFront(installed)
      await mustBe(201, admin.post(CLASSES, ingressClass('unsure')))
      try {
        await installed.register({ at: front })
        const creates = await createAll(admin, installed, front)
        for (const each of CHANGES) await makeChange(each, admin, installed, front)
        await collectionAndStripped(admin, installed, front)

        const all = DOORS.flatMap((door) => front.reviews[door])
        const own = all.filter(({ request }) => request.userInfo.username === IDENTITY)
        assert.deepEqual(
          own.map(({ request, path }) => `${path} ${request.operation} ${request.name}`),
          [],
          'reviews of our own writes',
        )
        const writes = (await installed.audit.requests()).filter(isWrite).length
        context.log(
          `${creates + CHANGES.length + 2} changes of users, ${all.length} reviews as expected; ${writes} writes of ours, 0 reviews`,
        )
      } finally {
        await admin.delete(`${CLASSES}/unsure`)
        await front.close()
      }
    })
  },
}

async function createAll(admin: ApiClient, installed: Installation, front: ReviewFront): Promise<number> {
  const objects = [
    { path: ingressPath(namespace), object: ingress('certain') },
    { path: ingressPath(namespace), object: ingress('unsure', { spec: { ingressClassName: 'unsure' } }) },
    { path: servicePath(namespace), object: service('game') },
  ]
  for (const { path, object } of objects) {
    const before = countsOf(front)
    await mustBe(201, admin.post(path, object))
    assert.deepEqual(arrivedSince(front, before), DOORS, `create of ${object.metadata.name}`)
  }
  await eventually(() => installed.converged(objects.length))
  return objects.length
}

async function makeChange(
  change: Change,
  admin: ApiClient,
  installed: Installation,
  front: ReviewFront,
): Promise<void> {
  const { what, path, by, arrivesAt } = change
  await settled(installed)
  await untilCached(admin, [path])
  const before = await mustBe(200, admin.get(path))
  const counts = countsOf(front)
  const answer = await by(admin, path, before)
  assert.equal(answer.code, 200, `${what}: ${answer.text}`)
  assert.deepEqual(arrivedSince(front, counts), arrivesAt, what)
  // What the code behind the door calls relevant is what the condition before the door lets pass.
  if (answer.body.kind === before.kind && answer.body.metadata.deletionTimestamp === before.metadata.deletionTimestamp)
    assert.equal(isRelevant(before, answer.body), arrivesAt.includes('notify'), `${what}: relevance`)
}

/** A collection, and finalizers taken by hand from what is being deleted while the function is away. */
async function collectionAndStripped(admin: ApiClient, installed: Installation, front: ReviewFront): Promise<void> {
  for (const name of ['one', 'two', 'three']) await mustBe(201, admin.post(ingressPath(namespace), ingress(name)))
  await eventually(() => installed.converged(4))
  await untilCached(admin, [ingressPath(namespace)])
  let before = countsOf(front)
  await mustBe(200, admin.delete(`${ingressPath(namespace)}?fieldSelector=metadata.name!=unsure`))
  assert.deepEqual(arrivedSince(front, before), ['notify', 'notify', 'notify'], 'deletion of a collection')
  await eventually(() => installed.converged(1))

  await installed.stop()
  await mustBe(200, admin.delete(unsure))
  await untilCached(admin, [unsure])
  before = countsOf(front)
  await mustBe(200, admin.patch('merge-patch', unsure, { metadata: { finalizers: null } }))
  assert.deepEqual(arrivedSince(front, before), ['notify'], 'our finalizer, from what is being deleted')
}

/** Nothing of ours is on its way: two looks in a row find the same requests and the same reviews. */
async function settled(installed: Installation): Promise<void> {
  let last = -1
  await eventually(
    async () => {
      const now = (await installed.audit.requests()).length
      const same = now === last
      last = now
      assert.ok(same, 'the function is still writing')
    },
    10_000,
    150,
  )
}

function countsOf(front: ReviewFront): Record<Door, number> {
  const { mutate, validate, notify } = front.reviews
  return { mutate: mutate.length, validate: validate.length, notify: notify.length }
}

function arrivedSince(front: ReviewFront, before: Record<Door, number>): Door[] {
  return DOORS.flatMap((door) => front.reviews[door].slice(before[door]).map(() => door))
}

function isRelevant(oldObject: Body, object: Body): boolean {
  const event = { operation: 'UPDATE', object, oldObject, username: 'admin' } as unknown as ClusterEvent
  return isRelevantChange(event, { identity: IDENTITY, finalizer: FINALIZER })
}

function change(what: string, path: string, by: Change['by'], arrivesAt: readonly Door[]): Change {
  return { what, path, by, arrivesAt }
}

function withPort(port: number) {
  return (before: Body): Body => ({ ...before, spec: { ...before.spec, defaultBackend: backend(port) } })
}

function applySame(admin: ApiClient, path: string, before: Body) {
  const { apiVersion, kind, spec } = before
  return admin.patch('apply-patch', `${path}?fieldManager=again&force=true`, {
    apiVersion,
    kind,
    metadata: { name: before.metadata.name },
    spec,
  })
}

function statusOf(ip: string) {
  return { status: { loadBalancer: { ingress: [{ ip }] } } }
}

function owner() {
  return { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: '9b2f5d0e-0b7e-4f0e-9a53-1d4f0a5c6e7f' }
}

function ingressClass(name: string) {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IngressClass',
    metadata: { name },
    spec: { controller: FINALIZER },
  }
}
