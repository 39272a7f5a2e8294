import type { CoreEnvironment } from './core-environment.ts'
import { type DeleteOptions, deleteObject } from './delete-object.ts'
import type { Location } from './object-locations.ts'
import { storageVersionOf } from './resource-type.ts'
import { StatusError } from './status-error.ts'

/** A DELETE by one of the control plane's own controllers, admission included. Gone or changed is fine. */
export async function deleteStored(
  environment: CoreEnvironment,
  { collection, key }: Location,
  options: DeleteOptions,
): Promise<void> {
  const type = environment.registry.ofCollection(collection)
  if (type === undefined) return
  const [namespace = '', name = ''] = key.split('/')
  const target = { type, version: storageVersionOf(type), collection, namespace, name, subresource: '' as const }
  try {
    await deleteObject(environment, target, options)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
  }
}
