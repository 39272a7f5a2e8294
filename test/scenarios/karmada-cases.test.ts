import { createHash } from 'node:crypto'
import t from 'tap'
import type { BackendFinding } from '../../src/domain/backends/backend-finding.ts'
import { holdEmptyPools } from '../../src/domain/backends/hold-empty-pools.ts'
import { NOTHING_SERVED } from '../../src/domain/backends/pool-memory.ts'
import {
  type BackendsInput,
  type ResolvedBackends,
  resolveIngressBackends,
  resolveServiceBackends,
} from '../../src/domain/backends/resolve-backends.ts'
import { resolveCertificates } from '../../src/domain/backends/resolve-certificates.ts'
import { summariseFindings } from '../../src/domain/backends/summarise-findings.ts'
import { blockedClusters } from '../../src/domain/blocked-clusters.ts'
import { deprecatedFields } from '../../src/domain/deprecated-fields.ts'
import type { Kind, ObjectOfKind } from '../../src/domain/kinds.ts'
import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import type { MultiClusterIngress } from '../../src/domain/multi-cluster-ingress.ts'
import type { MultiClusterService } from '../../src/domain/multi-cluster-service.ts'
import { serviceExportDesired } from '../../src/domain/propagation/service-export-desired.ts'
import { referencedServices } from '../../src/domain/referenced-services.ts'
import { clustersOfLocations, locateServices, serviceLocations } from '../../src/domain/service-locations.ts'
import { describeBackends } from '../support/describe-backends.ts'
import { type KarmadaCase, loadKarmadaCases, readExpectation, unlistedCases } from '../support/karmada-cases.ts'
import type { KarmadaExpectation, ObjectExpectation, Stage } from './karmada-expectation.ts'
import { KARMADA_EXPECTATIONS } from './karmada-expectations.ts'

// What the pure functions make of every case, against the expectation; the doors are another test's.

const cases = loadKarmadaCases()
const digest = (text: string) => createHash('sha256').update(text).digest('hex')
const NAME = 'x7k2p'

t.test('every case has an expectation', { skip: cases === undefined && 'the cases are not there' }, async (t) => {
  const known = cases ?? []
  t.strictSame(
    KARMADA_EXPECTATIONS.map(({ id }) => id),
    known.map(({ id }) => id),
  )
  t.strictSame(unlistedCases(known), [])
  for (const { id, stages } of KARMADA_EXPECTATIONS) {
    const found = known.find((candidate) => candidate.id === id)
    const text = found === undefined ? '' : readExpectation(found)
    t.match(text, /\*\*Provider calls:\*\*/, `${id} is told in words`)
    t.equal(
      stages.some(({ step }) => step === 'after'),
      (found?.after.length ?? 0) > 0,
      `${id}: a second state is looked at`,
    )
    const isRefused = stages.some(({ step }) => step === 'refused')
    const verdicts = found?.verdicts ?? []
    if (isRefused) {
      t.ok(
        verdicts.some(({ schema, webhook }) => schema !== 'ok' || webhook.startsWith('DENIED')),
        `${id}: Karmada refuses it`,
      )
    }
    if (verdicts.some(({ schema }) => schema !== 'ok')) t.ok(isRefused, `${id}: the schema lets nobody through`)
  }
})

for (const expectation of KARMADA_EXPECTATIONS) {
  const found = cases?.find(({ id }) => id === expectation.id)
  if (found === undefined) continue
  t.test(found.name, async (t) => {
    for (const [index, stage] of expectation.stages.entries()) {
      if (stage.step === 'refused') continue
      const world = objectsAt(found, expectation, index)
      for (const object of stage.objects) checkObject(t, object, stage, world, expectation)
    }
    for (const { title, given, stage } of expectation.variants ?? []) {
      const supports = given.supports ?? { resourceBackends: false, externalName: false }
      for (const object of stage.objects.filter(({ ownership }) => ownership === 'ours')) {
        const options = { failOpen: given.failOpen ?? false, supports }
        t.test(title, async (t) =>
          checkObject(t, object, stage, objectsAt(found, expectation, 0), expectation, options),
        )
      }
    }
  })
}

/** The objects of the case as they are in this stage: what is made or changed later comes in the place of what was. */
function objectsAt({ objects, after }: KarmadaCase, { stages }: KarmadaExpectation, index: number): KubernetesObject[] {
  const told = stages.slice(0, index + 1)
  const later = told.flatMap((stage) => [...(stage.step === 'after' ? after : []), ...(stage.create ?? [])])
  const named = [...objects, ...later].map(withName)
  return [...new Map(named.map((object) => [identityOf(object), object])).values()]
}

/** The API server gives a name where only its beginning is asked for. */
function withName(object: KubernetesObject): KubernetesObject {
  const { name = `${object.metadata.generateName}${NAME}` } = object.metadata as { name?: string }
  return { ...object, metadata: { ...object.metadata, name } }
}

function identityOf({ kind, metadata }: KubernetesObject): string {
  return `${kind}/${metadata.namespace ?? ''}/${metadata.name}`
}

function of<K extends Kind>(world: readonly KubernetesObject[], kind: K): ObjectOfKind[K][] {
  return world.filter((object) => object.kind === kind) as ObjectOfKind[K][]
}

type Assert = Pick<typeof t, 'ok' | 'notOk' | 'match' | 'strictSame'>

function checkObject(
  t: Assert,
  expected: ObjectExpectation,
  stage: Stage,
  world: readonly KubernetesObject[],
  { balancers = {} }: KarmadaExpectation,
  options: BackendsInput['options'] = { failOpen: false, supports: { resourceBackends: false, externalName: false } },
): void {
  const object = world.find((candidate) => identityOf(candidate) === expected.key.replace('*', NAME))
  t.ok(object, `${stage.step}: ${expected.key} is there`)
  if (object === undefined || expected.ownership !== 'ours') return
  const resolved = resolve(object, world, options)
  const held = holdEmptyPools(balancers[expected.key] === undefined ? NOTHING_SERVED : undefined, resolved, 0)
  const handed = stage.step === 'waited' ? holdEmptyPools(held.memory, resolved, stage.waitMs ?? 0) : held
  if (expected.backends !== undefined) t.strictSame(describeBackends(handed.backends), expected.backends, stage.step)
  checkStatus(t, expected, object, world)
  const findings = [...handed.findings, ...checkOthers(t, stage, object, world), ...ofObject(object, world)]
  checkFindings(t, expected, stage, findings)
}

function resolve(
  object: KubernetesObject,
  world: readonly KubernetesObject[],
  options: BackendsInput['options'],
): ResolvedBackends {
  const input: BackendsInput = {
    services: of(world, 'Service'),
    bindings: of(world, 'ResourceBinding'),
    slices: of(world, 'EndpointSlice'),
    clusters: of(world, 'Cluster'),
    works: of(world, 'Work'),
    options,
  }
  return object.kind === 'MultiClusterIngress'
    ? resolveIngressBackends(object as MultiClusterIngress, input)
    : resolveServiceBackends(object as MultiClusterService, input)
}

function checkStatus(
  t: Assert,
  { status }: ObjectExpectation,
  object: KubernetesObject,
  world: readonly KubernetesObject[],
): void {
  if (object.kind !== 'MultiClusterIngress') return
  const locations = serviceLocations(object as MultiClusterIngress, of(world, 'ResourceBinding'))
  if (status.serviceLocations !== undefined) t.strictSame(locations, status.serviceLocations, 'serviceLocations')
  if (status.trafficBlockClusters !== undefined) {
    t.strictSame(blockedClusters(locations, of(world, 'Cluster')), status.trafficBlockClusters, 'trafficBlockClusters')
  }
}

/** What has to be exported for this object, beside what is there. Answers the findings of it. */
function checkOthers(
  t: Assert,
  { others }: Stage,
  object: KubernetesObject,
  world: readonly KubernetesObject[],
): BackendFinding[] {
  const names =
    object.kind === 'MultiClusterIngress' ? referencedServices(object as MultiClusterIngress) : [object.metadata.name]
  const findings: BackendFinding[] = []
  const made: Record<string, unknown> = {}
  for (const name of names) {
    const service = of(world, 'Service').find(({ metadata }) => metadata.name === name)
    const desired = serviceExportDesired({
      service: service && { ...service, metadata: { uid: `uid-${name}`, ...service.metadata } },
      claim: 'ours',
      clusters: clustersOfLocations(locateServices('shop', [name], of(world, 'ResourceBinding'))),
      serviceExport: of(world, 'ServiceExport').find(({ metadata }) => metadata.name === name),
      policies: of(world, 'PropagationPolicy'),
      digest,
    })
    findings.push(...desired.findings)
    if (desired.serviceExport.do === 'create') made[identityOf(desired.serviceExport.object)] = { owner: name }
    for (const change of desired.policies) {
      if (change.do !== 'create') continue
      const clusters = change.object.spec?.placement?.clusterAffinity?.clusterNames
      made[identityOf(change.object)] = { owner: name, clusters }
    }
  }
  const expected = Object.entries(others.present).filter(([, value]) => typeof value !== 'string')
  for (const [key, value] of expected) t.strictSame(made[key], value, key)
  for (const key of others.absent) t.notOk(key in made, `no ${key}`)
  for (const [key, value] of Object.entries(others.present)) {
    if (typeof value === 'string') t.notOk(key in made, `${key} is left`)
  }
  return findings
}

function ofObject(object: KubernetesObject, world: readonly KubernetesObject[]): BackendFinding[] {
  return object.kind === 'MultiClusterIngress'
    ? resolveCertificates(object as MultiClusterIngress, of(world, 'Secret')).findings
    : deprecatedFields(object as MultiClusterService)
}

const OF_RECONCILERS = ['LoadBalancer', 'OwnershipUnresolved']

/** Nothing is told that is not expected, and what is expected once is told; a repetition finds the same. */
function checkFindings(t: Assert, expected: ObjectExpectation, { step }: Stage, findings: BackendFinding[]): void {
  if (step === 'repeated') return
  const told = summariseFindings(findings)
  const events = expected.events.filter(({ reason }) => !OF_RECONCILERS.some((part) => reason.includes(part)))
  for (const { type, reason, message = [], count } of events) {
    const finding = told.find((candidate) => candidate.reason === reason)
    if (count === 'once' || finding !== undefined) t.match(finding, { type, reason }, `${step}: ${reason}`)
    for (const part of message) t.match(finding?.message, part, reason)
  }
  const reasons = events.map(({ reason }) => reason as string)
  t.strictSame(
    told.filter(({ reason }) => !reasons.includes(reason)),
    [],
    `${step}: nothing else is told`,
  )
}
