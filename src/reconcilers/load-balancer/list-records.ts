import type { KubernetesObject } from '../../domain/kubernetes-object.ts'
import type { BalancerIdentity, BalancerRecord, ListedBalancer } from '../../provider/multicluster.ts'
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
  let records: ReadonlyMap<string, BalancerRecord> | undefined
  let uids: readonly string[] | undefined
  const read = async () => {
    const { signal, cancel } = deadline(clock, providerDeadlineMs, parent)
    try {
      const key = { kind, namespace: '', name: '*' }
      const all = await callProvider(key, signal, () => list({ signal, logger, clusterId }))
      const listed = all.filter((balancer) => balancer.clusterId === clusterId && balancer.kind === kind)
      uids = listed.map(({ uid }) => uid)
      records = recordsByName(listed)
    } catch (error) {
      if (parent.aborted) return
      logger.warn({ kind, error: String(error) }, 'balancers could not be listed: each is asked for')
    } finally {
      cancel()
    }
  }
  return {
    ready: read(),
    recordOf: ({ metadata: { namespace = '', name, uid = '' } }) => records?.get(nameOf({ namespace, name, uid })),
    names: (isOf) => uids?.every(isOf),
  }
}

/** What says nothing of what the balancer is made from tells no more than that it is there. */
function recordsByName(listed: readonly ListedBalancer[]): Map<string, BalancerRecord> {
  const records = new Map<string, BalancerRecord>()
  for (const balancer of listed) {
    if (balancer.record?.fingerprint !== undefined) records.set(nameOf(balancer), balancer.record)
  }
  return records
}

function nameOf({ namespace, name, uid }: Pick<BalancerIdentity, 'namespace' | 'name' | 'uid'>): string {
  return `${uid} ${namespace}/${name}`
}
