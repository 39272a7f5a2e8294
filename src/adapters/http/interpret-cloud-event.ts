import type { ClusterEvent, Operation } from '../../domain/cluster-event.ts'
import { kindOf } from '../../domain/kinds.ts'
import type { WorkItem } from '../../domain/work-item.ts'
import type { SweepRequest } from '../../flow/sweep/sweep.ts'
import { badRequest } from './bad-request.ts'
import type { CloudEvent } from './cloud-event.ts'
import { decodeKubernetesObject } from './decode-kubernetes-object.ts'
import { decodeWorkItem } from './decode-work-item.ts'
import { FieldReader, isJsonObject } from './field-reader.ts'
import { unsupported } from './request-guards.ts'
import { requireAddress } from './require-address.ts'
import { decodeSweep } from './sweep-route.ts'

/** Our own work events, sent to a broker and back: `{"key": "MultiClusterIngress/shop/web", "hints": [...], "dueAt": …}`. */
const WORK_EVENT_TYPE = 'dev.webhook-cloud-provider.work.v1'
const SWEEP_EVENT_TYPE = 'dev.knative.sources.ping'
const CHANGE_EVENT_TYPE = /^dev\.knative\.apiserver\.(resource|ref)\.(add|update|delete)$/

const OPERATIONS: Readonly<Record<string, Operation>> = { add: 'CREATE', update: 'UPDATE', delete: 'DELETE' }

/** What an event asks of us. */
export type Intent =
  | { purpose: 'change'; event: ClusterEvent }
  /** `dueAt`: in milliseconds since the epoch; sooner it is sent back. */
  | { purpose: 'work'; item: WorkItem; dueAt: number }
  | { purpose: 'sweep'; request: SweepRequest }
  /** Not for us, or of a kind we do not know: acknowledged, since sending it again would change nothing. */
  | { purpose: 'unknown'; reason: string }

/** Throws `BadRequest` when the type is one of ours and the rest does not fit it. */
export function interpretCloudEvent(event: CloudEvent, receivedAt: number): Intent {
  if (event.type === WORK_EVENT_TYPE) return workIntent(requireData(event), receivedAt)
  if (event.type === SWEEP_EVENT_TYPE) return { purpose: 'sweep', request: sweepRequest(event) }
  const [, mode, verb = ''] = CHANGE_EVENT_TYPE.exec(event.type) ?? []
  const operation = OPERATIONS[verb]
  if (mode === undefined || operation === undefined) return { purpose: 'unknown', reason: 'type' }
  return changeIntent(event, mode === 'resource', operation, receivedAt)
}

const LONGEST_DELAY_MS = 300_000

/** A delay is kept only so long: a forged one must not keep a broker busy for ever. */
function workIntent(data: FieldReader, receivedAt: number): Intent {
  const item = decodeWorkItem(data, receivedAt)
  return { purpose: 'work', item, dueAt: Math.min(data.count('dueAt') ?? 0, receivedAt + LONGEST_DELAY_MS) }
}

/** A PingSource may carry any data; only a JSON object can name a scope. */
function sweepRequest({ data }: CloudEvent): SweepRequest {
  const fields = data.kind === 'json' && isJsonObject(data.value) ? data.value : {}
  return decodeSweep(fields['scope'], fields['continue'], 'data')
}

/**
 * `resource`: data is the object. `ref`: data is a reference to it. The extensions name it once more and stand in when the
 * data leaves something out; where both speak they must agree, or we would read another object than the one meant.
 */
function changeIntent(event: CloudEvent, isObject: boolean, operation: Operation, receivedAt: number): Intent {
  const data = event.data.kind === 'none' ? new FieldReader({}, 'data') : requireData(event)
  const object = isObject && event.data.kind !== 'none' ? decodeKubernetesObject(data) : undefined
  const where = isObject ? data.object('metadata') : data
  const apiVersion = agreed(event, 'apiversion', data, 'apiVersion')
  const kind = agreed(event, 'kind', data, 'kind')
  const namespace = agreed(event, 'namespace', where, 'namespace')
  const name = agreed(event, 'name', where, 'name')
  if (kind === '') throw badRequest('data.kind', 'required, here or as extension "kind"')
  if (apiVersion === '') throw badRequest('data.apiVersion', 'required, here or as extension "apiversion"')

  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
  const known = kindOf(group, kind)
  if (known === undefined) return { purpose: 'unknown', reason: 'kind' }
  requireAddress({ kind: known, namespace, name }, where?.path ?? 'data.metadata')
  // The data of a deletion is the object as it was last.
  const state = operation === 'DELETE' ? 'oldObject' : 'object'
  return {
    purpose: 'change',
    event: {
      source: 'cloudevent',
      operation,
      group,
      kind,
      namespace,
      name,
      receivedAt,
      ...(object && { [state]: object }),
    },
  }
}

/** The value from the data, or else from the extension; empty when neither has it. */
function agreed(event: CloudEvent, extension: string, data: FieldReader | undefined, field: string): string {
  const inData = data?.text(field) ?? ''
  const beside = event.extensions.get(extension) ?? ''
  if (typeof beside !== 'string') throw badRequest(extension, 'must be a string', { value: beside })
  if (inData === '' || beside === '' || inData === beside) return inData || beside
  throw badRequest(extension, `contradicts ${data?.path ?? 'data'}.${field}; send the same in both, or one`)
}

function requireData({ data }: CloudEvent): FieldReader {
  if (data.kind === 'bytes') throw unsupported('datacontenttype', 'must be a JSON media type for this type of event')
  if (data.kind === 'none') throw badRequest('data', 'required for this type of event')
  if (!isJsonObject(data.value)) throw badRequest('data', 'must be an object', { value: data.value })
  return new FieldReader(data.value, 'data')
}
