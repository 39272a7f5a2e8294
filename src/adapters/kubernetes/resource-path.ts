import { type Kind, RESOURCES } from '../../domain/kinds.ts'

/** `/apis/<group>/<version>/namespaces/<namespace>/<plural>/<name>/<subresource>`; the core group is under `/api`. */
export function resourcePath(kind: Kind, target: { namespace?: string; name?: string; subresource?: string }): string {
  const { group, version, plural, namespaced } = RESOURCES[kind]
  const root = group === '' ? ['api', version] : ['apis', group, version]
  const scope = namespaced && target.namespace ? ['namespaces', target.namespace] : []
  const object = [target.name, target.subresource].filter((segment) => segment !== undefined)
  return `/${[...root, ...scope, plural, ...object].map(encodeURIComponent).join('/')}`
}
