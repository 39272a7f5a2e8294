import type { JsonPatchOperation } from './json-patch.ts'
import type { JsonValue } from './kubernetes-object.ts'
import type { Lease } from './lease.ts'
import { formatKey, type ObjectKey, parseKey } from './object-key.ts'

const PREFIX = 'webhook-cloud-provider.dev/'
const KEY = `${PREFIX}key`
const AGAIN = `${PREFIX}again`
const NOTE = `${PREFIX}note-`

/** What it is for, and whose: two installations on one control plane keep apart. */
export function leaseLabels(owner: string, key: ObjectKey): Record<string, string> {
  return {
    'app.kubernetes.io/managed-by': 'webhook-cloud-provider',
    [`${PREFIX}owner`]: labelValue(owner),
    [`${PREFIX}kind`]: key.kind,
    ...(key.namespace === '' ? {} : { [`${PREFIX}namespace`]: key.namespace }),
  }
}

export function leaseSelector(owner: string): string {
  return `${PREFIX}owner=${labelValue(owner)}`
}

/** An owner is a finalizer's name; a label takes no slash and 63 characters, the first and last alphanumeric. */
function labelValue(owner: string): string {
  return owner
    .replace('/', '_')
    .slice(-63)
    .replace(/^[^A-Za-z0-9]+/, '')
}

/** Who takes it, when by the API server's clock, and for how long. */
export interface Taking {
  holder: string
  now: number
  durationMs: number
}

export function newLease(metadata: Lease['metadata'], key: ObjectKey, taking: Taking): Lease {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { ...metadata, annotations: { [KEY]: formatKey(key) } },
    spec: { ...takenSpec(taking), leaseTransitions: 0 },
  }
}

/** Notes and the mark stay: whoever takes over does what was asked of the holder before. */
export function takePatch(lease: Lease, taking: Taking): JsonValue {
  const leaseTransitions = (lease.spec?.leaseTransitions ?? 0) + 1
  return { metadata: sameVersion(lease), spec: { ...takenSpec(taking), leaseTransitions } }
}

export function renewPatch(lease: Lease, now: number): JsonValue {
  return { metadata: sameVersion(lease), spec: { renewTime: microTime(now) } }
}

/** Also a renewal. `undefined` removes the note. */
export function notePatch(lease: Lease, name: string, text: string | undefined, now: number): JsonValue {
  const annotations = { [`${NOTE}${name}`]: text ?? null }
  return { metadata: { ...sameVersion(lease), annotations }, spec: { renewTime: microTime(now) } }
}

/** Nobody holds it any more; its notes stay. */
export function clearPatch(lease: Lease): JsonValue {
  const annotations = { [AGAIN]: null }
  return { metadata: { ...sameVersion(lease), annotations }, spec: { holderIdentity: null, renewTime: null } }
}

/** Held to the holder that was read and not to the version, so that a renewal in between is no reason to fail. */
export function markPatch(lease: Lease): JsonPatchOperation[] {
  const { holderIdentity = null, leaseTransitions = null } = lease.spec ?? {}
  return [
    { op: 'test', path: '/metadata/uid', value: lease.metadata.uid ?? '' },
    { op: 'test', path: '/spec/holderIdentity', value: holderIdentity },
    { op: 'test', path: '/spec/leaseTransitions', value: leaseTransitions },
    { op: 'add', path: `/metadata/annotations/${AGAIN.replace('/', '~1')}`, value: 'true' },
  ]
}

export function isMarked({ metadata }: Lease): boolean {
  return metadata.annotations?.[AGAIN] !== undefined
}

export function noteOf({ metadata }: Lease, name: string): string | undefined {
  return metadata.annotations?.[`${NOTE}${name}`]
}

/** Whether anybody may still want to know what is noted. */
export function hasNotes({ metadata }: Lease, now: number): boolean {
  return Object.entries(metadata.annotations ?? {}).some(([name, text]) => name.startsWith(NOTE) && !isOver(text, now))
}

/** A note may say itself until when it matters; the word of somebody else's text is not taken for it. */
function isOver(text: string, now: number): boolean {
  try {
    const { until } = JSON.parse(text) as { until?: unknown }
    return typeof until === 'number' && until < now
  } catch {
    return false
  }
}

export function keyOfLease({ metadata }: Lease): ObjectKey | undefined {
  return parseKey(metadata.annotations?.[KEY] ?? '')
}

/** Who holds it at this moment; undefined when it is free, or expired by more than the margin. */
export function holderOf(lease: Lease, now: number, marginMs: number): string | undefined {
  const { holderIdentity, renewTime } = lease.spec ?? {}
  if (!holderIdentity || !renewTime) return undefined
  return now > expiryOf(lease) + marginMs ? undefined : holderIdentity
}

/** In milliseconds since the epoch, by the API server's clock. */
export function expiryOf({ spec }: Lease): number {
  const { leaseDurationSeconds, renewTime } = spec ?? {}
  // biome-ignore lint/style/noRestrictedGlobals: a conversion of a given moment; no clock is read
  return Date.parse(renewTime ?? '') + (leaseDurationSeconds ?? 0) * 1_000
}

/** When it was taken last, in milliseconds since the epoch, by the API server's clock. */
export function takenAt({ spec }: Lease): number {
  // biome-ignore lint/style/noRestrictedGlobals: a conversion of a given moment; no clock is read
  return Date.parse(spec?.acquireTime ?? '1970-01-01T00:00:00Z')
}

/** Whether it is the same holding, renewed or marked in between. */
export function isSameHolding(a: Lease, b: Lease): boolean {
  return (
    a.metadata.uid === b.metadata.uid &&
    a.spec?.holderIdentity === b.spec?.holderIdentity &&
    a.spec?.leaseTransitions === b.spec?.leaseTransitions
  )
}

function takenSpec({ holder, now, durationMs }: Taking) {
  return {
    holderIdentity: holder,
    leaseDurationSeconds: durationMs / 1_000,
    acquireTime: microTime(now),
    renewTime: microTime(now),
  }
}

function sameVersion({ metadata }: Lease): { uid: string; resourceVersion: string } {
  return { uid: metadata.uid ?? '', resourceVersion: metadata.resourceVersion ?? '' }
}

function microTime(epochMs: number): string {
  // biome-ignore lint/style/noRestrictedGlobals: a conversion of a given moment; no clock is read
  return new Date(epochMs).toISOString().replace('Z', '000Z')
}
