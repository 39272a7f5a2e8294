import { apiVersionOfType, type ResourceType, type VersionOfType } from '../core/resource-type.ts'
import { noSuchResource } from '../core/status-error.ts'

interface ServedVersion {
  group: string
  version: string
  resources: { type: ResourceType; version: VersionOfType }[]
}

const STATUS_VERBS = ['get', 'patch', 'update']

/** `/api` or `/apis` in one document: what kubectl reads once and caches. */
export function aggregatedDiscovery(types: ResourceType[], of: 'core' | 'groups', version: 'v2' | 'v2beta1') {
  const served = servedVersions(types).filter(({ group }) => (group === '') === (of === 'core'))
  const groups = [...new Set(served.map(({ group }) => group))]
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups.map((group) => ({
      metadata: { name: group, creationTimestamp: null },
      versions: served.filter((one) => one.group === group).map(aggregatedVersion),
    })),
  }
}

function aggregatedVersion({ group, version, resources }: ServedVersion) {
  return {
    version,
    freshness: 'Current',
    resources: resources.map(({ type, version: served }) => {
      const responseKind = { group, version, kind: type.kind }
      return {
        resource: type.plural,
        responseKind,
        scope: type.namespaced ? 'Namespaced' : 'Cluster',
        singularResource: type.singular,
        verbs: type.verbs,
        ...(type.shortNames.length > 0 ? { shortNames: type.shortNames } : {}),
        ...(type.categories.length > 0 ? { categories: type.categories } : {}),
        ...(served.hasStatus ? { subresources: [{ subresource: 'status', responseKind, verbs: STATUS_VERBS }] } : {}),
      }
    }),
  }
}

/** `/apis` without aggregation. */
export function groupList(types: ResourceType[]) {
  const names = [...new Set(servedVersions(types).map(({ group }) => group))].filter((group) => group !== '')
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: names.map((name) => groupFields(types, name)) }
}

/** `/apis/{group}`. */
export function groupDocument(types: ResourceType[], name: string) {
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupFields(types, name) }
}

function groupFields(types: ResourceType[], name: string) {
  const versions = servedVersions(types)
    .filter(({ group }) => group === name)
    .map(({ version }) => ({ groupVersion: `${name}/${version}`, version }))
  const [preferredVersion] = versions
  if (preferredVersion === undefined) throw noSuchResource()
  return { name, versions, preferredVersion }
}

/** `/api/v1` and `/apis/{group}/{version}`. */
export function resourceList(types: ResourceType[], group: string, version: string) {
  const served = servedVersions(types).find((one) => one.group === group && one.version === version)
  const first = served?.resources[0]
  if (served === undefined || first === undefined) throw noSuchResource()
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: apiVersionOfType(first.type, version),
    resources: served.resources.flatMap(({ type, version: own }) => {
      const resource = {
        name: type.plural,
        singularName: type.singular,
        namespaced: type.namespaced,
        kind: type.kind,
        verbs: type.verbs,
        ...(type.shortNames.length > 0 ? { shortNames: type.shortNames } : {}),
        ...(type.categories.length > 0 ? { categories: type.categories } : {}),
      }
      const { namespaced, kind } = type
      const status = { name: `${type.plural}/status`, singularName: '', namespaced, kind, verbs: STATUS_VERBS }
      return own.hasStatus ? [resource, status] : [resource]
    }),
  }
}

/** Every group and version, the preferred version of a group first. */
export function servedVersions(types: ResourceType[]): ServedVersion[] {
  const found = new Map<string, ServedVersion>()
  for (const type of types) {
    for (const version of type.versions.filter(({ served }) => served)) {
      const id = `${type.group}/${version.name}`
      const entry = found.get(id) ?? { group: type.group, version: version.name, resources: [] }
      entry.resources.push({ type, version })
      found.set(id, entry)
    }
  }
  const groups = [...new Set([...found.values()].map(({ group }) => group))]
  return groups.flatMap((group) =>
    [...found.values()].filter((entry) => entry.group === group).sort((a, b) => compareVersions(a.version, b.version)),
  )
}

/** v2, v1, v1beta1, v1alpha2, v1alpha1. */
function compareVersions(left: string, right: string): number {
  const [leftStage, leftMajor, leftMinor] = versionRank(left)
  const [rightStage, rightMajor, rightMinor] = versionRank(right)
  return rightStage - leftStage || rightMajor - leftMajor || rightMinor - leftMinor || left.localeCompare(right)
}

function versionRank(version: string): [number, number, number] {
  const [, major, stage, minor] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? []
  if (major === undefined) return [0, 0, 0]
  return [stage === undefined ? 3 : stage === 'beta' ? 2 : 1, Number(major), Number(minor ?? 0)]
}
