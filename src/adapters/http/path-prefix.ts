import { createHash, timingSafeEqual } from 'node:crypto'
import { CatalogueError } from '../../domain/catalogue-error.ts'

const OPEN_PATHS = ['/healthz', '/readyz', '/metrics', '/openapi.json']
const PREFIX = /^(\/[A-Za-z0-9._~-]+)+$/

/**
 * Takes the secret prefix off a request's URL before it is routed, so that it appears in no log. Without the prefix a
 * door is not found, as if it did not exist. Compared in constant time.
 */
export function prefixRemover(prefix: string): (url: string) => string {
  if (!PREFIX.test(prefix)) {
    const remedy = 'must begin with "/", not end with it, and have letters, digits and . _ ~ - only'
    throw new CatalogueError('ConfigurationInvalid', `pathPrefix: ${remedy}`, { field: 'pathPrefix' })
  }
  const expected = digest(prefix)
  return (url) => {
    if (OPEN_PATHS.includes(url.split('?', 1)[0] ?? '')) return url
    const matches = timingSafeEqual(digest(url.slice(0, prefix.length)), expected)
    const rest = url.slice(prefix.length)
    return matches && rest.startsWith('/') && !OPEN_PATHS.includes(rest.split('?', 1)[0] ?? '') ? rest : '/not-found'
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
