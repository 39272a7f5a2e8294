import { CatalogueError } from '../../domain/catalogue-error.ts'

/** Where a sweep goes on: which kind, which page of its list, and where on it. */
export interface SweepPosition {
  kindIndex: number
  /** Of the first call: in all its calls a sweep verifies the same share of balancers. */
  startedAt: number
  /** The key that was begun last on this page; absent when none was. */
  after?: string
  /** The API server's continue token; absent for the first page. */
  continue?: string
}

/** The token is `<kind index>.<moment>.<key>.<the API server's token>`; callers treat it as opaque. */
export function formatSweepToken({ kindIndex, startedAt, after = '', continue: page = '' }: SweepPosition): string {
  return [kindIndex, startedAt, encodeURIComponent(after).replaceAll('.', '%2E'), page].join('.')
}

/** Undefined for no token at all. */
export function parseSweepToken(token: string | undefined, kinds: number): SweepPosition | undefined {
  if (token === undefined || token === '') return undefined
  const [, kind, moment, key, page] = TOKEN.exec(token) ?? []
  const kindIndex = Number(kind)
  const startedAt = Number(moment)
  const after = decode(key ?? '%')
  if (!(kindIndex < kinds) || !Number.isSafeInteger(startedAt) || after === undefined) {
    throw new CatalogueError('BadRequest', 'continue: not a token of this sweep; start without one', {
      field: 'continue',
    })
  }
  return { kindIndex, startedAt, ...(after && { after }), ...(page && { continue: page }) }
}

const TOKEN = /^(\d+)\.(\d+)\.([^.]*)\.(.*)$/

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
