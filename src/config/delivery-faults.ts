import type { ConfigurationFault } from '../provider/registry.ts'

/** Settings without a default, and the kinds of queue that have them. */
const SETTINGS_OF: Readonly<Record<string, readonly string[]>> = {
  sink: ['cloudevents'],
  tokenFile: ['cloudevents'],
  servers: ['jetstream'],
  name: ['jetstream'],
  credentialsFile: ['jetstream'],
  caFile: ['cloudevents', 'jetstream'],
}

/** What is wrong with queue and lock together. Values may be of any type; the schema tells those faults. */
export function deliveryFaults(
  { queue, lock, lease }: { queue: Record<string, unknown>; lock: unknown; lease: Record<string, unknown> },
  environment: { K_SINK?: string | undefined },
): ConfigurationFault[] {
  const { kind = 'memory' } = queue
  const faults = Object.entries(SETTINGS_OF)
    .filter(([setting, kinds]) => queue[setting] !== undefined && !kinds.includes(String(kind)))
    .map(([setting, kinds]) => ({ field: `queue.${setting}`, message: `is a setting of kind ${kinds.join(' and ')}` }))
  if (kind === 'jetstream' && queue['servers'] === undefined) {
    faults.push({ field: 'queue.servers', message: 'is required: the NATS servers, such as nats://nats:4222' })
  }
  if (kind === 'cloudevents' && queue['sink'] === undefined && !environment.K_SINK) {
    faults.push({ field: 'queue.sink', message: 'is required, here or in the variable K_SINK: the URL of the broker' })
  }
  return [...faults, ...waitFaults(queue, lock, lease)]
}

/** A key whose worker died must not come back before its lock can be taken over. */
function waitFaults(
  { kind, ackWaitMs }: Record<string, unknown>,
  lock: unknown,
  { durationSeconds, marginSeconds }: Record<string, unknown>,
): ConfigurationFault[] {
  if (kind !== 'jetstream' || lock === 'none') return []
  const longest = (Number(durationSeconds) + Number(marginSeconds)) * 1_000
  if (!(Number(ackWaitMs) <= longest)) return []
  return [{ field: 'queue.ackWaitMs', message: `must be more than the lease and its margin, ${longest} ms` }]
}
