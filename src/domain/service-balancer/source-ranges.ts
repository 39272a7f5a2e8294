import { parseCidr } from '../cidr.ts'
import type { Finding } from '../finding.ts'
import type { Service } from '../service.ts'

export const SOURCE_RANGES_ANNOTATION = 'service.beta.kubernetes.io/load-balancer-source-ranges'

const EVERYWHERE: Readonly<Record<string, string>> = { IPv4: '0.0.0.0/0', IPv6: '::/0' }

export interface SourceRanges {
  ranges: string[]
  /** Whether somebody asked for it; open to everybody otherwise. */
  restricted: boolean
  /** When there are any, `ranges` is empty: what cannot be read never means "open". */
  findings: Finding[]
}

/** R-SVC-15: the field, else the annotation, else everywhere. */
export function sourceRanges(service: Service): SourceRanges {
  const { field, texts } = askedRanges(service)
  const ranges = texts.map((text) => text.trim())
  if (ranges.length === 0) return { ranges: everywhere(service), restricted: false, findings: [] }
  const findings = ranges
    .filter((range) => parseCidr(range) === undefined)
    .map(
      (range): Finding => ({
        field,
        reason: 'FieldValueInvalid',
        message: `Invalid value: ${JSON.stringify(range)}: must be a network such as 198.51.100.0/24`,
      }),
    )
  return { ranges: findings.length > 0 ? [] : [...new Set(ranges)], restricted: true, findings }
}

function askedRanges({ spec, metadata }: Service): { field: string; texts: readonly string[] } {
  const inSpec = spec?.loadBalancerSourceRanges ?? []
  if (inSpec.length > 0) return { field: 'spec.loadBalancerSourceRanges', texts: inSpec }
  const annotation = metadata.annotations?.[SOURCE_RANGES_ANNOTATION]?.trim() ?? ''
  const field = `metadata.annotations[${SOURCE_RANGES_ANNOTATION}]`
  return { field, texts: annotation === '' ? [] : annotation.split(',') }
}

function everywhere({ spec }: Service): string[] {
  const families = spec?.ipFamilies ?? []
  return (families.length === 0 ? ['IPv4'] : families).flatMap((family) => EVERYWHERE[family] ?? [])
}
