import type { Node } from '../node.ts'

/** What a cloud says of a machine that nodes carry as labels. Empty where it says nothing. */
export interface InstanceTraits {
  instanceType: string
  zone: string
  region: string
  additionalLabels?: Readonly<Record<string, string>>
}

type Labels = Record<string, string>

/** Each trait is under two names: the one of today, and the one that was used until Kubernetes 1.17. */
const PAIRS = {
  instanceType: ['node.kubernetes.io/instance-type', 'beta.kubernetes.io/instance-type'],
  zone: ['topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone'],
  region: ['topology.kubernetes.io/region', 'failure-domain.beta.kubernetes.io/region'],
} as const

// Kubernetes keeps these to itself; `myk8s.io/` is somebody's own.
const RESERVED = /(^|\.)(kubernetes|k8s)\.io\//

/** Labels that differ from the node's, and why some are left out. */
export interface LabelChanges {
  labels: Labels
  warnings: string[]
}

/** At initialisation: the pairs as the cloud says, and its additional labels where nobody set them (R-NODE-6, R-NODE-7). */
export function initialLabels(node: Node, traits: InstanceTraits): LabelChanges {
  const current = node.metadata.labels ?? {}
  const additional = Object.entries(traits.additionalLabels ?? {})
  const reserved = additional.filter(([key]) => RESERVED.test(key)).map(([key]) => key)
  const added = additional.filter(([key]) => !reserved.includes(key) && !Object.hasOwn(current, key))
  return {
    labels: { ...Object.fromEntries(added), ...changedTraits(current, traits) },
    warnings: reserved.map((key) => `label ${key} is reserved for Kubernetes and was not set`),
  }
}

/** Pairs that no longer say what the cloud says. */
export function changedTraits(current: Labels, traits: InstanceTraits): Labels {
  const wanted = Object.entries(PAIRS).flatMap(([trait, names]) => {
    const value = traits[trait as keyof typeof PAIRS]
    return value === '' ? [] : names.map((name) => [name, value] as const)
  })
  return Object.fromEntries(wanted.filter(([name, value]) => current[name] !== value))
}

/** The newer name follows the older one where that is set (R-NODE-9). */
export function reconciledLabels({ metadata: { labels = {} } }: Node): Labels {
  const changes = Object.values(PAIRS).flatMap(([name, older]) => {
    const value = labels[older]
    return value === undefined || labels[name] === value ? [] : [[name, value] as const]
  })
  return Object.fromEntries(changes)
}
