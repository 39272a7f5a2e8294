import { apiVersionOf, RESOURCES } from '../../domain/kinds.ts'
import { formatKey, type ObjectKey } from '../../domain/object-key.ts'
import { workData } from '../../domain/work-data.ts'
import type { WorkItem } from '../../domain/work-item.ts'
import type { OutgoingEvent } from './outgoing-event.ts'

const WORK_EVENT_TYPE = 'dev.webhook-cloud-provider.work.v1'

/**
 * An item as an event that our own events door reads. Attributes are named as ApiServerSource names them, so that one
 * trigger filter fits both; brokers that keep an order keep it by `partitionkey`, and `traceparent` is where the trace goes on
 * (CloudEvents' extension for distributed tracing).
 */
export function workEvent(item: WorkItem, { id, source, dueAt }: WorkEventDetails): OutgoingEvent {
  const { kind, namespace, name } = item.key
  return {
    id,
    source,
    type: WORK_EVENT_TYPE,
    subject: subjectOf(item.key),
    extensions: {
      kind,
      apiversion: apiVersionOf(kind),
      ...(namespace === '' ? {} : { namespace }),
      name,
      partitionkey: formatKey(item.key),
      ...item.causes?.find(({ trace }) => trace !== undefined)?.trace,
    },
    data: { ...workData(item), ...(dueAt === undefined ? {} : { dueAt }) },
  }
}

export interface WorkEventDetails {
  id: string
  source: string
  /** Milliseconds since the epoch, before which it is sent back. */
  dueAt?: number
}

function subjectOf({ kind, namespace, name }: ObjectKey): string {
  const scope = namespace === '' ? '' : `/namespaces/${namespace}`
  return `/apis/${apiVersionOf(kind)}${scope}/${RESOURCES[kind].plural}/${name}`
}
