/** A Kubernetes label selector; empty selects everything. */
export interface LabelSelector {
  matchLabels?: Record<string, string>
  matchExpressions?: LabelRequirement[]
}

export interface LabelRequirement {
  key: string
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
  values?: string[]
}

export function selects(selector: LabelSelector, labels: Readonly<Record<string, string>> = {}): boolean {
  const equal = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => own(labels, key) === value)
  return equal && (selector.matchExpressions ?? []).every((requirement) => meets(requirement, labels))
}

/** As in Kubernetes, `NotIn` is met by an absent label. */
function meets({ key, operator, values = [] }: LabelRequirement, labels: Readonly<Record<string, string>>): boolean {
  const value = own(labels, key)
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
  }
}

/** A label may be called `constructor`. */
function own(labels: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined
}
