import { type Cidr, parseCidr } from '../cidr.ts'

export type ClusterCidrs = { cidrs: Cidr[] } | { fault: string }

/** `--cluster-cidr`: the network of the cluster's pods, or one of each family, separated by a comma (C-132). */
export function parseClusterCidrs(text: string): ClusterCidrs {
  if (text.trim() === '') return { fault: 'is required while routes are configured: the network of the pods' }
  const parts = text.split(',').map((part) => part.trim())
  const cidrs = parts.flatMap((part) => parseCidr(part) ?? [])
  const wrong = parts.find((part) => parseCidr(part) === undefined)
  if (wrong !== undefined) return { fault: `"${wrong}" is not a network such as 10.244.0.0/16` }
  if (cidrs.length > 2) return { fault: 'names more than two networks' }
  if (new Set(cidrs.map(({ family }) => family)).size < cidrs.length) {
    return { fault: 'names two networks of one family; a pair is one of each' }
  }
  return { cidrs }
}
