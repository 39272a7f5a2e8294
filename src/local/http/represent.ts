import type { ApiObject } from '../core/api-object.ts'
import type { ApiList } from '../core/list-objects.ts'
import type { ResourceType, VersionOfType } from '../core/resource-type.ts'
import type { WatchEvent } from '../core/watch-objects.ts'
import type { Representation } from './negotiate.ts'
import { columnsOf } from './table-columns.ts'

export interface View {
  form: Representation['form']
  /** What a Table row carries of its object. */
  includeObject: 'None' | 'Metadata' | 'Object'
  type: ResourceType
  version: VersionOfType
  now: number
}

/** An object in the form that was asked for. */
export function representObject(object: ApiObject, view: View): object {
  if (view.form === 'metadata') return partialMetadata(object)
  if (view.form === 'object') return object
  return table([object], { resourceVersion: object.metadata.resourceVersion }, view)
}

export function representList(list: ApiList, view: View): object {
  if (view.form === 'object') return view.type.custom ? list : { ...list, items: list.items.map(withoutTypeMeta) }
  if (view.form === 'table') return table(list.items, list.metadata, view)
  return {
    kind: 'PartialObjectMetadataList',
    apiVersion: 'meta.k8s.io/v1',
    metadata: list.metadata,
    items: list.items.map(partialMetadata),
  }
}

export function representEvent(event: WatchEvent, view: View): object {
  if (event.type === 'ERROR' || view.form === 'object') return event
  if (view.form === 'metadata') return { type: event.type, object: partialMetadata(event.object) }
  const { resourceVersion } = event.object.metadata
  const rows = event.type === 'BOOKMARK' ? [] : [event.object]
  return { type: event.type, object: table(rows, { resourceVersion }, view) }
}

/** In lists of built-in kinds only the list says what its items are. */
function withoutTypeMeta({ apiVersion: _apiVersion, kind: _kind, ...fields }: ApiObject): object {
  return fields
}

function partialMetadata(object: ApiObject): object {
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata }
}

function table(objects: ApiObject[], metadata: object, { type, version, now, includeObject }: View): object {
  const columns = columnsOf(type, version)
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: columns.map(({ cell: _, ...definition }) => definition),
    rows: objects.map((object) => ({
      cells: columns.map((column) => column.cell(object, now)),
      object: includeObject === 'None' ? null : includeObject === 'Object' ? object : partialMetadata(object),
    })),
  }
}
