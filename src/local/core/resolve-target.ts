import type { CoreEnvironment, RequestTarget, ResolvedTarget } from './core-environment.ts'
import { collectionOf } from './resource-type.ts'
import { methodNotAllowed, noSuchBuiltin, noSuchResource, noSuchSubresource } from './status-error.ts'

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'

/** Looks the path up; throws 404 for what is not served and 405 for what the resource does not offer. */
export function resolveTarget({ registry }: CoreEnvironment, target: RequestTarget, verb: Verb): ResolvedTarget {
  const { type, version } = registry.find(target.group, target.version, target.plural)
  if (!type.verbs.includes(verb)) throw methodNotAllowed()
  const { namespace = '', name = '', subresource = '' } = target
  const isForAll = type.namespaced && namespace === ''
  // Over all namespaces one can only read.
  const isForOne = name !== '' || verb === 'create' || verb === 'deletecollection'
  if (isForAll ? isForOne : !type.namespaced && namespace !== '') {
    if (type.custom) throw noSuchResource()
    throw isForAll && name === '' ? methodNotAllowed() : noSuchBuiltin()
  }
  if (subresource === 'status' && !version.hasStatus) throw noSuchSubresource(type, name)
  return { type, version, collection: collectionOf(type), namespace, name, subresource }
}
