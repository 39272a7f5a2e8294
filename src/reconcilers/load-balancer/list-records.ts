import type { KubernetesObject } from '../../domain/kubernetes-object.ts'
import type { BalancerRecord, ListedBalancer } from '../../provider/multicluster.ts'
import { deadline } from '../deadline.ts'
import { callProvider } from '../provider-call.ts'
import type { BalancedKind, BalancedResource } from './balanced-resource.ts'
import type { BalancerDependencies } from './balancer-pass.ts'

export interface ListedRecords {
  /** When the provider has answered, or has not. Never rejects. */
  ready: Promise<void>
  /** Undefined where the provider is to be asked: it did not say, or has not answered yet. */
  recordOf(object: KubernetesObject): BalancerRecord | undefined
  /** Whether it has listed no other balancers than those of these uids; undefined where that is not known. */
  names(isOf: (uid: string) => boolean): boolean | undefined
}

/** All balancers in one question; undefined when the provider keeps no record that it can list. */
export function listRecords<K extends BalancedKind>(
  { kind, calls }: BalancedResource<K>,
  { logger, clusterId, clock, providerDeadlineMs }: BalancerDependencies,
  parent: AbortSignal,
): ListedRecords | undefined {
  const list = calls?.list
  if (list === undefined) return undefined
  /** Of those that say nothing of what they are made from, undefined: that they are there is all that is known. */
  let records: Map<string, BalancerRecord | undefined> | undefined
  const read = async () => {
    const { signal, cancel } = deadline(clock, providerDeadlineMs, parent)
    try {
      const key = { kind, namespace: '', name: '*' }
      const all = await callProvider(key, signal, () => list({ signal, logger, clusterId }))
      records = recordsByUid(all.filter((balancer) => balancer.clusterId === clusterId && balancer.kind === kind))
    } catch (error) {
      if (parent.aborted) return
      logger.warn({ kind, error: String(error) }, 'balancers could not be listed: each is asked for')
    } finally {
      cancel()
    }
  }
  return {
    ready: read(),
    recordOf: ({ metadata: { uid = '' } }) => records?.get(uid),
    names: (isOf) => records && [...records.keys()].every(isOf),
  }
}

/** The identity is of one object by its uid alone; of what is named twice the provider is asked. */
function recordsByUid(listed: readonly ListedBalancer[]): Map<string, BalancerRecord | undefined> {
  const records = new Map<string, BalancerRecord | undefined>()
  for (const { uid, record } of listed) {
    records.set(uid, records.has(uid) || record?.fingerprint === undefined ? undefined : record)
  }
  return records
}
