import type {
  BalancerRecord,
  BalancerResult,
  ListContext,
  ListedBalancer,
  ProviderContext,
} from '../../provider/multicluster.ts'

/** The calls that a provider offers for one kind, under one set of names. */
export interface BalancerCalls<T> {
  get(object: T, context: ProviderContext): Promise<BalancerRecord | undefined>
  ensure(object: T, context: ProviderContext): Promise<BalancerResult>
  update(object: T, context: ProviderContext): Promise<BalancerResult>
  ensureDeleted(object: T | undefined, context: ProviderContext): Promise<void>
  /** Undefined when the provider keeps no record that it can list. */
  list: ((context: ListContext) => Promise<ListedBalancer[]>) | undefined
}
