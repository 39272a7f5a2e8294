import type { ObjectIdentity, WatchedObject } from './watched-object.ts'

/** Something that happened to an object, or must have happened while nobody looked. */
export interface ObjectChange extends WatchedObject {
  type: 'add' | 'update' | 'delete'
}

/** The last state of each object that was told of, by namespace and name. */
export type KnownObjects = ReadonlyMap<string, ObjectIdentity>

export function nameOf({ namespace, name }: ObjectIdentity): string {
  return `${namespace}/${name}`
}

/**
 * What the sight of an object tells to somebody who knows `known`.
 *
 * | known | seen | changes |
 * |---|---|---|
 * | nothing of this name | | add |
 * | the same uid and resourceVersion | | none |
 * | the same uid | another resourceVersion | update |
 * | another uid | | delete of that one, then add |
 */
export function changesAtSight(known: KnownObjects, seen: WatchedObject): ObjectChange[] {
  const before = known.get(nameOf(seen.identity))
  if (before === undefined) return [{ type: 'add', ...seen }]
  if (before.uid !== seen.identity.uid) {
    return [
      { type: 'delete', identity: before },
      { type: 'add', ...seen },
    ]
  }
  return before.resourceVersion === seen.identity.resourceVersion ? [] : [{ type: 'update', ...seen }]
}

/** What a whole list tells by what is not in it; `listed` are the names that are. */
export function changesByAbsence(known: KnownObjects, listed: ReadonlySet<string>): ObjectChange[] {
  return [...known]
    .filter(([name]) => !listed.has(name))
    .map(([, identity]): ObjectChange => ({ type: 'delete', identity }))
}
