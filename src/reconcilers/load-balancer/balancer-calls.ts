import type { BalancerRecord, BalancerResult, ProviderContext } from '../../provider/multicluster.ts'

/** The four calls that a provider offers for one kind, under one set of names. */
export interface BalancerCalls<T> {
  get(object: T, context: ProviderContext): Promise<BalancerRecord | undefined>
  ensure(object: T, context: ProviderContext): Promise<BalancerResult>
  update(object: T, context: ProviderContext): Promise<BalancerResult>
  ensureDeleted(object: T | undefined, context: ProviderContext): Promise<void>
}
