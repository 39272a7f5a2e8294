import { type CodeCache, NO_CODE_CACHE } from '../src/compose/code-cache.ts'

/** What `load-bundle.cjs` tells the bundle. */
declare const codeCache: CodeCache | undefined

export function codeCacheOfBundle(): CodeCache {
  return typeof codeCache === 'undefined' ? NO_CODE_CACHE : codeCache
}
