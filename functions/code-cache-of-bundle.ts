import type { CodeCache } from '../src/compose/code-cache.ts'

/** What `load-bundle.cjs` tells the bundle. */
declare const codeCache: CodeCache | undefined

/** `absent` where nothing was bundled. */
export function codeCacheOfBundle(): CodeCache {
  return typeof codeCache === 'undefined' ? 'absent' : codeCache
}
