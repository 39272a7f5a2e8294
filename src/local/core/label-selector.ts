import { badRequest } from './status-error.ts'

export type LabelSelector = (labels: Readonly<Record<string, string>>) => boolean

/** The selector of a URL: `app=web,tier in (a,b),!old,size>3`. */
export function parseLabelSelector(selector: string | undefined): LabelSelector {
  const text = (selector ?? '').trim()
  if (text === '') return () => true
  const terms = splitTerms(text).map((term) => parseTerm(term.trim(), text))
  return (labels) => terms.every((matches) => matches(labels))
}

/** The selector of an object: `matchLabels` and `matchExpressions`. Absent or empty matches everything. */
export function objectLabelSelector(selector: {
  matchLabels?: Record<string, string>
  matchExpressions?: { key: string; operator: string; values?: string[] }[]
}): LabelSelector {
  const wanted = Object.entries(selector.matchLabels ?? {})
  const expressions = selector.matchExpressions ?? []
  return (labels) =>
    wanted.every(([key, value]) => labels[key] === value) &&
    expressions.every(({ key, operator, values = [] }) => {
      const value = labels[key]
      if (operator === 'Exists') return value !== undefined
      if (operator === 'DoesNotExist') return value === undefined
      if (operator === 'In') return value !== undefined && values.includes(value)
      return value === undefined || !values.includes(value)
    })
}

/** At commas outside of parentheses. */
function splitTerms(text: string): string[] {
  const terms: string[] = []
  let depth = 0
  let start = 0
  for (let index = 0; index < text.length; index++) {
    const character = text[index]
    if (character === '(') depth += 1
    else if (character === ')') depth -= 1
    else if (character === ',' && depth === 0) {
      terms.push(text.slice(start, index))
      start = index + 1
    }
  }
  terms.push(text.slice(start))
  return terms
}

const KEY = '([A-Za-z0-9][-A-Za-z0-9_./]*)'
const EXISTS = new RegExp(`^${KEY}$`)
const ABSENT = new RegExp(`^!\\s*${KEY}$`)
const EQUALITY = new RegExp(`^${KEY}\\s*(=|==|!=)\\s*([-A-Za-z0-9_.]*)$`)
const COMPARISON = new RegExp(`^${KEY}\\s*(>|<)\\s*(-?\\d+)$`)
const MEMBERSHIP = new RegExp(`^${KEY}\\s+(in|notin)\\s*\\(([^()]*)\\)$`)

function parseTerm(term: string, selector: string): LabelSelector {
  const exists = EXISTS.exec(term)
  if (exists !== null) return (labels) => labels[exists[1] ?? ''] !== undefined
  const absent = ABSENT.exec(term)
  if (absent !== null) return (labels) => labels[absent[1] ?? ''] === undefined
  const equality = EQUALITY.exec(term)
  if (equality !== null) {
    const [, key = '', operator, value] = equality
    return operator === '!=' ? (labels) => labels[key] !== value : (labels) => labels[key] === value
  }
  const membership = MEMBERSHIP.exec(term)
  if (membership !== null) {
    const [, key = '', operator, list = ''] = membership
    const values = new Set(list.split(',').map((value) => value.trim()))
    if (operator === 'in') return (labels) => labels[key] !== undefined && values.has(labels[key])
    return (labels) => labels[key] === undefined || !values.has(labels[key])
  }
  const comparison = COMPARISON.exec(term)
  if (comparison === null) throw badRequest(`unable to parse requirement: found '${term}' in "${selector}"`)
  const [, key = '', operator, limit] = comparison
  return (labels) => {
    const value = Number(labels[key] ?? Number.NaN)
    return operator === '>' ? value > Number(limit) : value < Number(limit)
  }
}
