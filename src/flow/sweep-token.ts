import { CatalogueError } from '../domain/catalogue-error.ts'

/** Where a sweep goes on: which kind, and which page of its list. */
export interface SweepPosition {
  kindIndex: number
  /** The API server's continue token; absent for the first page. */
  continue?: string
}

/** The token is `<kind index>.<the API server's token>`; callers treat it as opaque. */
export function formatSweepToken(position: SweepPosition): string {
  return `${position.kindIndex}.${position.continue ?? ''}`
}

export function parseSweepToken(token: string | undefined, kinds: number): SweepPosition {
  if (token === undefined || token === '') return { kindIndex: 0 }
  const dot = token.indexOf('.')
  const kindIndex = Number(token.slice(0, dot))
  if (dot < 1 || !/^\d+$/.test(token.slice(0, dot)) || kindIndex >= kinds) {
    throw new CatalogueError('BadRequest', 'continue: not a token of this sweep; start without one', {
      field: 'continue',
    })
  }
  const rest = token.slice(dot + 1)
  return { kindIndex, ...(rest === '' ? {} : { continue: rest }) }
}
