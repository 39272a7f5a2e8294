/** Of new requests, by cluster; a cluster that is not named has 1, and one with 0 gets nothing new. */
export type ClusterWeights = Readonly<Record<string, number>>

/** How many endpoints of a cluster take new requests; at least one. */
export interface WeightedCluster {
  cluster: string
  endpoints: number
}

const HIGHEST = 256

/** Half a step of the finest scale: what rounding can cost. */
const SMALL_ERROR = 0.5 / HIGHEST

/**
 * Weights of endpoints, by cluster and one for each endpoint: 1 to 256, or 0 where the cluster is to get nothing new. A
 * cluster's weight is shared by its endpoints, whatever their number.
 *
 * Small and even numbers are taken where they do (proxies repeat a server as often as its weight says), else the finest
 * scale, on which the weights of one cluster differ by at most 1. A cluster's share is off by no more than 1/512 for each
 * cluster, as long as no endpoint would need less than 1/256 of what another gets; a proxy has nothing smaller to give.
 */
export function serverWeights(
  clusters: readonly WeightedCluster[],
  asked: ClusterWeights | undefined,
): Map<string, number[]> {
  if (asked === undefined)
    return new Map(clusters.map(({ cluster, endpoints }) => [cluster, spread(endpoints, endpoints)]))
  const weighted = clusters.map((cluster) => ({ ...cluster, weight: weightOf(cluster, asked) }))
  const shared = weighted.filter(({ weight }) => weight > 0)
  const totals = evenTotals(shared) ?? totalsOnScale(shared, HIGHEST)
  const byCluster = new Map(
    shared.map(({ cluster, endpoints }, index) => [cluster, spread(totals[index] ?? 0, endpoints)]),
  )
  return new Map(weighted.map(({ cluster, endpoints }) => [cluster, byCluster.get(cluster) ?? spread(0, endpoints)]))
}

type Shared = WeightedCluster & { weight: number }

function weightOf({ cluster }: WeightedCluster, asked: ClusterWeights): number {
  return Object.hasOwn(asked, cluster) ? (asked[cluster] ?? 1) : 1
}

/** The smallest scale on which every cluster's share is right and its endpoints are equal. */
function evenTotals(clusters: readonly Shared[]): number[] | undefined {
  for (let scale = 1; scale <= HIGHEST; scale += 1) {
    const totals = totalsOnScale(clusters, scale)
    const isEven = clusters.every(({ endpoints }, index) => (totals[index] ?? 0) % endpoints === 0)
    if (isEven && errorOf(clusters, totals) <= SMALL_ERROR) return totals
  }
  return undefined
}

/** What the endpoints of each cluster have together, where the endpoint that gets most gets `scale`. */
function totalsOnScale(clusters: readonly Shared[], scale: number): number[] {
  const most = Math.max(...clusters.map(({ weight, endpoints }) => weight / endpoints))
  return clusters.map(({ weight, endpoints }) => Math.max(endpoints, Math.round((weight * scale) / most)))
}

function errorOf(clusters: readonly Shared[], totals: readonly number[]): number {
  const wanted = clusters.reduce((sum, { weight }) => sum + weight, 0)
  const given = totals.reduce((sum, total) => sum + total, 0)
  return Math.max(...clusters.map(({ weight }, index) => Math.abs((totals[index] ?? 0) / given - weight / wanted)))
}

function spread(total: number, endpoints: number): number[] {
  const least = Math.floor(total / endpoints)
  const withOneMore = total - least * endpoints
  return Array.from({ length: endpoints }, (_, index) => (index < withOneMore ? least + 1 : least))
}
