import type { LabelRequirement, LabelSelector } from '../label-selector.ts'

const KEY = '(?:[a-z0-9][-a-z0-9.]*/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?'
const VALUE = '(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?'
const EQUALITY = new RegExp(`^(${KEY})\\s*(==|=|!=)\\s*(${VALUE})$`)
const SET = new RegExp(`^(${KEY})\\s+(in|notin)\\s*\\(\\s*(${VALUE}(?:\\s*,\\s*${VALUE})*)\\s*\\)$`)
const PRESENCE = new RegExp(`^(!?)\\s*(${KEY})$`)

/** A selector as kubectl takes it, `role=edge,zone in (a,b),!spare`; undefined for what is none. */
export function parseLabelSelector(text: string): LabelSelector | undefined {
  // Commas between requirements, not those of a set.
  const parts = text.split(/,(?![^(]*\))/).map((part) => part.trim())
  const requirements = parts.map(parseRequirement)
  const known = requirements.filter((requirement) => requirement !== undefined)
  return known.length === requirements.length ? { matchExpressions: known } : undefined
}

function parseRequirement(text: string): LabelRequirement | undefined {
  const [, key, sign, value = ''] = EQUALITY.exec(text) ?? []
  if (key !== undefined) return { key, operator: sign === '!=' ? 'NotIn' : 'In', values: [value] }
  const [, setKey, word, list = ''] = SET.exec(text) ?? []
  if (setKey !== undefined) {
    const values = list.split(',').map((item) => item.trim())
    return { key: setKey, operator: word === 'in' ? 'In' : 'NotIn', values }
  }
  const [, not, name] = PRESENCE.exec(text) ?? []
  return name === undefined ? undefined : { key: name, operator: not === '!' ? 'DoesNotExist' : 'Exists' }
}
