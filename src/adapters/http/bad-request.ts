import { CatalogueError } from '../../domain/catalogue-error.ts'
import { excerpt } from './excerpt.ts'

/** The request cannot be used. `remedy` says what the field has to be; what was sent instead is quoted, cut short. */
export function badRequest(field: string, remedy: string, sent?: { value: unknown }): CatalogueError {
  const got = sent === undefined ? '' : `, not ${excerpt(sent.value)}`
  return new CatalogueError('BadRequest', `${field}: ${remedy}${got}`, { field })
}
