import type { Description, ServedBalancer, Serves } from '../../provider/protocol/operations.ts'
import { completeBalancer, completeServiceBalancer, type HttpOptions } from './http-options.ts'

/**
 * What the configuration claims and the provider does not do, each with what to change; none where it claims no more than
 * there is.
 */
export function compareDescription(
  options: Pick<HttpOptions, 'serves' | 'consistencyWindowMs' | 'cloud'>,
  description: Description,
): string[] {
  return [
    ...balancerFaults('MultiClusterIngress', options.serves, description.serves),
    ...balancerFaults('MultiClusterService', options.serves, description.serves),
    ...serviceFaults(options.serves, description.serves),
    ...(['instances', 'routes'] as const).flatMap((name) =>
      options.serves[name] !== undefined && description.serves[name] === undefined ? [notServed(name)] : [],
    ),
    ...windowFaults('', options.consistencyWindowMs, description.consistencyWindowMs),
    ...cloudFaults(options, description),
  ]
}

function balancerFaults(kind: 'MultiClusterIngress' | 'MultiClusterService', own: Serves, theirs: Serves): string[] {
  const wanted = own[kind]
  const there = theirs[kind]
  if (wanted === undefined) return []
  if (there === undefined) return [notServed(kind)]
  return overclaimed(kind, completeBalancer(wanted), completeBalancer(there))
}

function serviceFaults({ Service: wanted }: Serves, { Service: there }: Serves): string[] {
  if (wanted === undefined) return []
  if (there === undefined) return [notServed('Service')]
  const [own, theirs] = [completeServiceBalancer(wanted), completeServiceBalancer(there)]
  const more = own.protocols.filter((protocol) => !theirs.protocols.includes(protocol))
  return [
    ...overclaimed('Service', { list: own.list, sourceRanges: own.sourceRanges }, theirs),
    ...(more.length > 0 ? [`serves.Service.protocols: the provider has no ${more.join(', ')}; take it out`] : []),
    ...(own.target === theirs.target ? [] : [`serves.Service.target: must be ${theirs.target}, as the provider says`]),
    ...windowFaults('serves.Service.', own.consistencyWindowMs, theirs.consistencyWindowMs),
  ]
}

function overclaimed<T extends ServedBalancer | { list: boolean; sourceRanges: boolean }>(
  kind: string,
  own: T,
  theirs: Partial<Record<keyof T, unknown>>,
): string[] {
  return Object.entries(own)
    .filter(([name, claimed]) => claimed === true && theirs[name as keyof T] !== true)
    .map(([name]) => `serves.${kind}.${name}: the provider cannot do that; set it to false`)
}

/** A window that is too long costs time; one that is too short costs a balancer that nobody finds. */
function windowFaults(path: string, own = 0, theirs = 0): string[] {
  return own >= theirs ? [] : [`${path}consistencyWindowMs: must be at least ${theirs}, as the provider says`]
}

function cloudFaults({ cloud }: Pick<HttpOptions, 'cloud'>, description: Description): string[] {
  if (cloud === undefined) return []
  const theirs = description.cloud
  if (theirs === undefined) return ['cloud: the provider has none; take it out']
  return [
    ...(cloud.providerName === theirs.providerName
      ? []
      : [`cloud.providerName: must be ${JSON.stringify(theirs.providerName)}, as the provider says`]),
    ...(cloud.hasClusterID && !theirs.hasClusterID ? ['cloud.hasClusterID: must be false, as the provider says'] : []),
  ]
}

function notServed(name: string): string {
  return `serves.${name}: the provider does not serve it; take it out`
}
