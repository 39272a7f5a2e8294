import type { IngressClass } from '../../src/domain/ingress-class.ts'
import { isDefaultClass } from '../../src/domain/ingress-class.ts'
import { type Kind, kindOf, RESOURCES } from '../../src/domain/kinds.ts'
import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import type { ResourceBinding } from '../../src/domain/resource-binding.ts'
import type { ApiObject } from '../../src/local/core/api-object.ts'
import type { RequestTarget } from '../../src/local/core/core-environment.ts'
import { Terminal } from '../../src/provider/errors.ts'
import type { KarmadaExpectation, Stage, Variant } from '../scenarios/karmada-expectation.ts'
import { buildCloudEvent, buildReview, karmadasWebhooks, ourWebhooks } from './api-callers.ts'
import type { GivenBalancer } from './around-provider.ts'
import { CASE_SETTINGS, type KarmadaCase } from './karmada-cases.ts'
import { CLUSTER_ID, createWorld, IDENTITY, type World, type WorldOptions } from './world.ts'

// A case as a story: what is there when it begins, what somebody then does, and how the function hears of it.

/** How the function hears of changes. `reviews`: all three admission doors, asked by the API server. */
export const DOORS = ['reviews', 'cloudEvents', 'references', 'sweep'] as const
export type Door = (typeof DOORS)[number]

/** Why this step cannot be told through this door; undefined when it can. */
export function whyNot({ step, doors }: Stage, door: Door): string | undefined {
  // Time passes behind every door.
  if (step === 'waited') return undefined
  const way = {
    reviews: doors.notify,
    cloudEvents: doors.cloudEvents,
    references: doors.cloudEvents,
    sweep: doors.sweep,
  }
  const possible = door === 'reviews' && doors.mutate === true ? true : way[door]
  return possible === true ? undefined : possible
}

export interface Change {
  operation: 'CREATE' | 'UPDATE' | 'DELETE'
  /** As it is stored now, or as it was last. */
  object: ApiObject
}

export interface Story {
  found: KarmadaCase
  stages: readonly Stage[]
  world: World
  /** What the next stage has to do, in order; nothing is told yet. */
  withheld: Withheld[]
}

type Withheld = { operation: Change['operation']; object: KubernetesObject }

const BEFORE = 'example.com/before'
const SUFFIX = 'x7k2p'
const USER = { user: { username: 'somebody', groups: [] } }

export interface StoryOptions {
  variant?: Variant
  /** Whether our webhooks are registered. */
  reviewed: boolean
  world?: Pick<WorldOptions, 'wrapStore'>
}

export function beginStory(
  found: KarmadaCase,
  expectation: KarmadaExpectation,
  { variant, reviewed, world = {} }: StoryOptions,
): Story {
  const stages = variant === undefined ? expectation.stages : [variant.stage]
  const finalizer = finalizerOf(expectation)
  const objects = found.objects.map((object) => asGiven(object, variant?.given ?? {}, finalizer))
  const { there, withheld } = divide(objects, stages[0])
  return {
    found,
    stages,
    withheld,
    world: createWorld({
      ...world,
      ...settingsFor(found, finalizer, variant?.given ?? {}),
      objects: there,
      balancers: balancersFor(objects, expectation),
      webhooks: [
        ...(reviewed ? ourWebhooks(finalizer, IDENTITY) : []),
        ...(isKarmadaAsked(found, stages, variant) ? karmadasWebhooks() : []),
      ],
    }),
  }
}

export function finalizerOf({ stages }: KarmadaExpectation): string {
  const isService = stages[0]?.objects[0]?.key.startsWith('MultiClusterService') ?? false
  return CASE_SETTINGS.finalizers[isService ? 'MultiClusterService' : 'MultiClusterIngress']
}

/** What an operator would configure before this control plane. */
function settingsFor(
  { objects }: KarmadaCase,
  finalizer: string,
  { failOpen, supports, terminal }: Variant['given'],
): Partial<WorldOptions> {
  const classes = objects.filter(({ kind }) => kind === 'IngressClass') as IngressClass[]
  const ours = classes.filter(({ spec }) => spec?.controller === CASE_SETTINGS.controller)
  const defaults = classes.filter(isDefaultClass)
  return {
    ingressClass: `controller: ${CASE_SETTINGS.controller}`,
    classNames: ours.map(({ metadata }) => metadata.name),
    defaultClassIsOurs: defaults.length === 1 && defaults.every((one) => ours.includes(one)),
    config: [`finalizer: ${finalizer}`, ...(failOpen ? ['backends: { failOpen: true }'] : [])].join('\n'),
    ...(terminal && {
      failure: ({ method }) =>
        method === 'ensure' ? { when: 'before', error: new Terminal('this cloud refuses it') } : undefined,
    }),
    ...(supports && {
      provider: (fake) => ({ ...fake, ...(fake.loadBalancer && { loadBalancer: { ...fake.loadBalancer, supports } }) }),
    }),
  }
}

/** Karmada's webhook stands in every control plane, but where an object is stored that it would not let in today. */
function isKarmadaAsked({ verdicts }: KarmadaCase, stages: readonly Stage[], variant: Variant | undefined): boolean {
  const isLetIn = verdicts.every(({ name, webhook }) => name.includes('*') || !webhook.includes('DENIED'))
  return isLetIn || variant?.given.denied !== undefined || stages.some(({ step }) => step === 'refused')
}

function asGiven(
  object: KubernetesObject,
  { ourFinalizer, deleting }: Variant['given'],
  finalizer: string,
): KubernetesObject {
  if (!isBalanced(object)) return object
  const { metadata } = object
  return {
    ...object,
    metadata: {
      ...metadata,
      ...(ourFinalizer && { finalizers: [finalizer] }),
      ...(deleting && { deletionTimestamp: '2026-03-01T08:00:00Z' }),
    },
  }
}

export function isBalanced({ kind }: KubernetesObject): boolean {
  return kind === 'MultiClusterIngress' || kind === 'MultiClusterService'
}

function balancersFor(objects: readonly KubernetesObject[], { balancers = {} }: KarmadaExpectation): GivenBalancer[] {
  return Object.entries(balancers).map(([key, status]) => {
    const [kind, namespace = '', name = ''] = key.split('/')
    const uid = objects.find((object) => nameOf(object) === key)?.metadata.uid ?? ''
    const identity = { clusterId: CLUSTER_ID, kind: kind as 'MultiClusterIngress', namespace, name, uid }
    return { identity, status }
  })
}

/** `MultiClusterIngress/shop/storefront`; of a name that the API server makes, as it will be. */
export function nameOf({ kind, metadata }: KubernetesObject): string {
  const { name = `${metadata.generateName}${SUFFIX}` } = metadata as { name?: string }
  return `${kind}/${metadata.namespace ?? ''}/${name}`
}

export const resolveName = (key: string) => key.replace('*', SUFFIX)

/** What is there before anything happens, and what somebody does in the first step. */
function divide(
  objects: readonly KubernetesObject[],
  stage: Stage | undefined,
): { there: KubernetesObject[]; withheld: Withheld[] } {
  const there: KubernetesObject[] = []
  const withheld: Withheld[] = []
  const [operation, subject = ''] = (stage?.trigger ?? '').split(' ')
  const concerned = new Set((stage?.objects ?? []).map(({ key }) => resolveName(key)))
  for (const object of objects) {
    const isSubject = nameOf(object) === resolveName(subject)
    if (stage?.step === 'after' || !(isSubject || concerned.has(nameOf(object)))) {
      there.push(object)
    } else if (!isSubject && object.metadata.uid !== undefined) {
      there.push(object)
    } else if (!isSubject || operation === 'CREATE') {
      withheld.push({ operation: 'CREATE', object })
    } else {
      there.push(earlier(object))
      if (object.kind !== 'Cluster') withheld.push({ operation: operation as Change['operation'], object })
    }
  }
  return { there, withheld }
}

/** As it was a moment before. */
function earlier(object: KubernetesObject): KubernetesObject {
  const { deletionTimestamp, annotations, ...metadata } = object.metadata
  if (deletionTimestamp !== undefined)
    return { ...object, metadata: { ...metadata, ...(annotations && { annotations }) } }
  if (object.kind === 'ResourceBinding') {
    const { spec } = object as ResourceBinding
    const clusters = [...(spec?.clusters ?? []), { name: 'was-here' }]
    return { ...object, spec: { ...spec, clusters } } as KubernetesObject
  }
  return isBalanced(object)
    ? { ...object, metadata: { ...object.metadata, annotations: { ...annotations, [BEFORE]: '1' } } }
    : object
}

/** Does what the step says, as a user. Answers what changed. */
export async function act(story: Story, stage: Stage): Promise<Change[]> {
  const { world, withheld, found } = story
  switch (stage.step) {
    case 'stored':
    case 'deleted':
    case 'refused': {
      const changes: Change[] = []
      for (const { operation, object } of withheld.splice(0)) changes.push(await carryOut(world, operation, object))
      return changes
    }
    case 'after': {
      const changes: Change[] = []
      for (const object of found.after) changes.push(...(await bringTo(world, object)))
      return changes
    }
    case 'created': {
      const changes: Change[] = []
      for (const object of stage.create ?? []) changes.push(await carryOut(world, 'CREATE', object))
      return changes
    }
    default:
      return []
  }
}

/** What the step is told with: the change its trigger names, as the world has it now. */
export function subjectsOf(story: Story, stage: Stage, changes: readonly Change[]): Change[] {
  const [operation = '', subject = ''] = stage.trigger.split(' ')
  const name = resolveName(subject)
  const own = changes.find(({ object }) => nameOf(object) === name)
  const others = changes.filter(({ object }) => isBalanced(object) && nameOf(object) !== name)
  const first = stage.step === 'stored' || stage.step === 'deleted' ? others : []
  if (own !== undefined) return [own, ...first]
  const object = pastOrPresent(story, operation, name)
  return object === undefined ? first : [{ operation: operation as Change['operation'], object }, ...first]
}

/** A DELETE that is told late is about the object that was. */
function pastOrPresent({ world, found }: Story, operation: string, name: string): ApiObject | undefined {
  const given = found.objects.find((object) => nameOf(object) === name)
  return operation === 'DELETE' ? (given as ApiObject | undefined) : stored(world, name)
}

export function stored({ core }: World, name: string): ApiObject | undefined {
  const [kind = '', namespace = '', own = ''] = name.split('/')
  if (kind === '') return undefined
  const { items } = core.list(targetOf(kind, namespace))
  return items.find(({ metadata }) => metadata.name === own)
}

export function targetOf(kind: string, namespace: string, name = ''): RequestTarget {
  const { group, version, plural } = RESOURCES[kind as Kind]
  return { group, version, plural, ...(namespace === '' ? {} : { namespace }), ...(name === '' ? {} : { name }) }
}

async function carryOut({ core }: World, operation: Change['operation'], object: KubernetesObject): Promise<Change> {
  const { kind, metadata } = object
  const { namespace = '', name } = metadata
  const target = targetOf(kind, namespace, name)
  if (operation === 'CREATE') {
    const { uid: _uid, resourceVersion: _version, ...rest } = metadata
    const made = await core.create(targetOf(kind, namespace), { ...object, metadata: rest }, USER)
    return { operation, object: made.object }
  }
  const current = core.get(target)
  if (operation === 'DELETE') {
    await core.delete(target, USER)
    return { operation, object: stored({ core } as World, nameOf(object)) ?? current }
  }
  const { resourceVersion } = current.metadata
  const { finalizers = [] } = current.metadata
  const next = { ...object, metadata: { ...metadata, uid: current.metadata.uid, resourceVersion, finalizers } }
  return { operation, object: (await core.replace(target, next, USER)).object }
}

/** Makes it, changes it, or puts it in the place of one of the same name, whose finalizers somebody takes by hand. */
async function bringTo(world: World, object: KubernetesObject): Promise<Change[]> {
  const current = stored(world, nameOf(object))
  if (current === undefined) return [await carryOut(world, 'CREATE', object)]
  const { uid } = object.metadata
  if (uid === undefined || uid === current.metadata.uid) return [await carryOut(world, 'UPDATE', object)]
  const target = targetOf(object.kind, object.metadata.namespace ?? '', object.metadata.name)
  await world.core.delete(target, USER)
  await world.core.patch(target, { type: 'merge', body: { metadata: { finalizers: null } } }, USER)
  return [await carryOut(world, 'CREATE', object)]
}

/** Lets the function hear of it. Reviews come by themselves with each change; `again` sends them once more. */
export async function tell(world: World, door: Door, changes: readonly Change[], again = false): Promise<void> {
  if (door === 'sweep') {
    await world.http('POST', '/sweep')
    return
  }
  for (const { operation, object } of changes) {
    if (kindOf(object.apiVersion.split('/').toReversed()[1] ?? '', object.kind) === undefined) continue
    if (door === 'reviews') {
      if (again) await review(world, operation, object)
      continue
    }
    const isGone = operation === 'DELETE' && stored(world, nameOf(object))?.metadata.uid !== object.metadata.uid
    const change = isGone ? 'delete' : operation === 'CREATE' ? 'add' : 'update'
    const shown = isGone ? object : (stored(world, nameOf(object)) ?? object)
    await world.http('POST', '/events', buildCloudEvent(change, shown, door === 'references' ? 'ref' : 'resource'))
  }
}

async function review(world: World, operation: Change['operation'], object: ApiObject): Promise<void> {
  const before = {
    ...object,
    metadata: {
      ...object.metadata,
      resourceVersion: '1',
      annotations: { ...object.metadata.annotations, [BEFORE]: '1' },
    },
  }
  const states = {
    CREATE: { object },
    UPDATE: { object, oldObject: before },
    DELETE: { oldObject: object },
  }
  const doors = operation === 'DELETE' ? ['notify'] : ['mutate', 'validate', 'notify']
  for (const door of doors) await world.http('POST', `/admission/${door}`, buildReview(operation, states[operation]))
}
