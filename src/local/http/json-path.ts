import { isRecord } from '../core/json.ts'

const STEP = /\.?([\w-]+)|\[\*\]|\[(\d+)\]|\[\?\(@\.([\w.-]+)\s*==\s*["']([^"']*)["']\)\]/g

/** The values a printer column's path leads to: fields, `[*]`, `[0]`, `[?(@.type=="Ready")]`. */
export function valuesAt(root: unknown, path: string): unknown[] {
  let values: unknown[] = [root]
  for (const [, field, index, key, wanted] of path.matchAll(STEP)) {
    if (field !== undefined) values = values.flatMap((value) => fieldOf(value, field))
    else if (index !== undefined)
      values = values.flatMap((value) => itemsOf(value).slice(Number(index), Number(index) + 1))
    else if (key === undefined) values = values.flatMap(itemsOf)
    else values = values.flatMap(itemsOf).filter((item) => valuesAt(item, `.${key}`)[0] === wanted)
  }
  return values
}

function fieldOf(value: unknown, name: string): unknown[] {
  const found = isRecord(value) ? value[name] : undefined
  return found === undefined ? [] : [found]
}

function itemsOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
