import type { Service } from '../service.ts'

const LONGEST = 32

/** Upstream's rule (R-IF-1): `a` and the uid without dashes, cut to what every cloud takes for a name. */
export function defaultLoadBalancerName({ metadata }: Service): string {
  return `a${(metadata.uid ?? '').replaceAll('-', '')}`.slice(0, LONGEST)
}
