import type { OutgoingEvent } from '../adapters/cloudevents/outgoing-event.ts'
import type { ObjectEvent } from '../adapters/cloudevents/pending-events.ts'
import type { ObjectChange } from '../adapters/kubernetes/watch-changes.ts'
import { apiVersionOfResource, isMetadataOnly, type WatchedResource } from '../adapters/kubernetes/watched-resource.ts'

/**
 * A change as Knative's ApiServerSource would send it: `resource` with the object, or `ref` with a reference where only
 * metadata is watched. Unlike there the id says which state of which object it is, so the same change has the same id
 * each time. `source` is the URL of the API server.
 */
export function changeEvent(change: ObjectChange, resource: WatchedResource, source: string): ObjectEvent {
  const { type, identity } = change
  const { namespace, name, uid, resourceVersion } = identity
  const apiVersion = apiVersionOfResource(resource)
  const mode = isMetadataOnly(resource) ? 'ref' : 'resource'
  const scope = namespace === '' ? '' : `namespaces/${namespace}/`
  const event: OutgoingEvent = {
    id: `${uid}.${resourceVersion}.${type}`,
    source,
    type: `dev.knative.apiserver.${mode}.${type}`,
    subject: `/apis/${apiVersion}/${scope}${resource.plural}/${name}`,
    extensions: { apiversion: apiVersion, kind: resource.kind, name, ...(namespace === '' ? {} : { namespace }) },
    data: mode === 'ref' ? referenceTo(change, resource) : (change.object ?? lastKnown(change, resource)),
  }
  return { key: `${resource.group}/${resource.plural}/${namespace}/${name}`, isDelete: type === 'delete', event }
}

function referenceTo({ identity: { namespace, name } }: ObjectChange, resource: WatchedResource) {
  return { apiVersion: apiVersionOfResource(resource), kind: resource.kind, name, ...(namespace && { namespace }) }
}

/** Of an object that vanished unseen. */
function lastKnown({ identity: { namespace, ...rest } }: ObjectChange, resource: WatchedResource) {
  const metadata = { ...rest, ...(namespace && { namespace }) }
  return { apiVersion: apiVersionOfResource(resource), kind: resource.kind, metadata }
}
