import type { ApiObject } from './api-object.ts'
import { builtinResources } from './builtin-resources.ts'
import { customResourceType } from './custom-resource-type.ts'
import { collectionOf, type ResourceType, type VersionOfType } from './resource-type.ts'
import { noSuchBuiltin, noSuchResource } from './status-error.ts'

export interface ServedResource {
  type: ResourceType
  version: VersionOfType
}

/** What the API serves at the moment. */
export interface ResourceRegistry {
  /** In the order in which they were added. */
  all(): ResourceType[]
  /** Throws the 404 of an unknown path. */
  find(group: string, version: string, plural: string): ServedResource
  ofKind(group: string, kind: string): ResourceType | undefined
  ofCollection(collection: string): ResourceType | undefined
  /** Adds or replaces what a CustomResourceDefinition asks for. */
  serve(definition: ApiObject): void
  stopServing(collection: string): void
}

export function createResourceRegistry(): ResourceRegistry {
  const types = new Map(builtinResources().map((type) => [collectionOf(type), type]))
  const ownVersions = new Set(
    [...types.values()].flatMap(({ group, versions }) => versions.map(({ name }) => `${group}/${name}`)),
  )

  return {
    all: () => [...types.values()],
    find(group, versionName, plural) {
      const type = types.get(`${plural}.${group}`)
      const version = type?.versions.find((candidate) => candidate.name === versionName && candidate.served)
      if (type === undefined || version === undefined) {
        // Below /api nobody but the server itself serves anything.
        const isOwn = group === '' || ownVersions.has(`${group}/${versionName}`)
        throw isOwn ? noSuchBuiltin() : noSuchResource()
      }
      return { type, version }
    },
    ofKind: (group, kind) => [...types.values()].find((type) => type.group === group && type.kind === kind),
    ofCollection: (collection) => types.get(collection),
    serve(definition) {
      const type = customResourceType(definition)
      types.set(collectionOf(type), type)
    },
    stopServing(collection) {
      types.delete(collection)
    },
  }
}
