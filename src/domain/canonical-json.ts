/**
 * One text for one value: keys sorted, undefined members left out. Two objects that the API serves in different
 * member order are equal by it.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`
  const members = value as Members
  let text = ''
  for (const name of Object.keys(members).sort()) {
    const member = members[name]
    if (member !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${canonicalJson(member)}`
  }
  return `{${text}}`
}

/** Whether both have the same canonical text. None is made: a review brings an object twice, and mostly as it was. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (!isNested(a) || !isNested(b)) return !isNested(a) && !isNested(b) && canonicalJson(a) === canonicalJson(b)
  if (Array.isArray(a) && Array.isArray(b)) return sameItems(a, b)
  return !Array.isArray(a) && !Array.isArray(b) && sameMembers(a, b)
}

function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index += 1) if (!sameJson(a[index], b[index])) return false
  return true
}

function sameMembers(a: Members, b: Members): boolean {
  let more = 0
  for (const name in b) if (b[name] !== undefined) more += 1
  for (const name in a) {
    const member = a[name]
    if (member === undefined) continue
    const other = b[name]
    // What every object inherits is no value of JSON, and so never the same.
    if (member !== other && (other === undefined || !Object.hasOwn(b, name) || !sameJson(member, other))) return false
    more -= 1
  }
  return more === 0
}

type Members = Readonly<Record<string, unknown>>

function isNested(value: unknown): value is Members | unknown[] {
  return typeof value === 'object' && value !== null
}
