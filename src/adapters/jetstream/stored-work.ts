import type { PlannedWork } from '../../domain/planned-work.ts'
import { workData, workOfData } from '../../domain/work-data.ts'

/** The state of one key: what is to be done when, and how often it failed in a row. */
export interface StoredWork extends PlannedWork {
  failures: number
}

export function encodeWork({ item, dueAt, failures }: StoredWork): string {
  return JSON.stringify({ ...workData(item), dueAt, failures })
}

/** Undefined for what we did not write. */
export function decodeWork(body: string): StoredWork | undefined {
  const data = parse(body)
  const item = workOfData(data)
  if (item === undefined) return undefined
  const { dueAt, failures } = data as { dueAt?: unknown; failures?: unknown }
  return {
    item,
    dueAt: typeof dueAt === 'number' ? dueAt : 0,
    failures: typeof failures === 'number' ? failures : 0,
  }
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
