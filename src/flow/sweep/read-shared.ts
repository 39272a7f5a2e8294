import type { Kind } from '../../domain/kinds.ts'
import { listAll } from '../../reconcilers/list-all.ts'
import type { Flow } from '../flow.ts'
import type { ReadList } from '../known-reader.ts'
import type { SweepSettings } from './sweep-pass.ts'
import { isOverClusters, type SweptKind } from './sweep-plan.ts'

/** What every object may ask for, read once a sweep. */
export async function readShared(
  swept: readonly SweptKind[],
  { reader }: Flow,
  { pageSize: limit }: SweepSettings,
  signal: AbortSignal,
): Promise<ReadList[]> {
  const kinds: readonly Kind[] = [
    ...(swept.some(isOverClusters) ? (['IngressClass', 'Cluster'] as const) : []),
    ...(swept.includes('Service') ? (['Node'] as const) : []),
  ]
  return Promise.all(kinds.map(async (kind) => ({ kind, items: await listAll(kind, reader, { limit, signal }) })))
}
