import type { ApiObject } from './api-object.ts'
import { storageKey } from './api-object.ts'
import type { CoreEnvironment, ResolvedTarget } from './core-environment.ts'
import { asRecord } from './json.ts'
import { forbidden, notFound } from './status-error.ts'

export const NAMESPACES = 'namespaces.'
const IMMORTAL = new Set(['default', 'kube-system', 'kube-public'])

/** The admission plugin NamespaceLifecycle: nothing is created in a namespace that is not there or is going. */
export function requireNamespace({ store }: CoreEnvironment, { type, namespace }: ResolvedTarget, object: ApiObject) {
  if (!type.namespaced) return
  const found = store.get(NAMESPACES, storageKey('', namespace))
  if (found === undefined) throw notFound({ group: '', plural: 'namespaces' }, namespace)
  if (asRecord(found['status'])['phase'] !== 'Terminating') return
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`
  throw forbidden(type, object.metadata.name ?? '', why, [
    {
      reason: 'NamespaceTerminating',
      message: `namespace ${namespace} is being terminated`,
      field: 'metadata.namespace',
    },
  ])
}

/** The same plugin: three namespaces stay, whoever asks. */
export function refuseImmortal({ type, collection, name }: ResolvedTarget): void {
  if (collection === NAMESPACES && IMMORTAL.has(name)) throw forbidden(type, name, 'this namespace may not be deleted')
}
