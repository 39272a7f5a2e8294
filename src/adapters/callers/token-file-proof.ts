import { createHash, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { CatalogueError } from '../../domain/catalogue-error.ts'
import type { CallerProof } from '../../ports/caller-proof.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'

export interface TokenFile {
  /** One token a line; each of them is good. */
  path: string
  /** The setting that names the file. */
  field: string
}

// A mounted Secret is replaced by swapping a link, which file watchers miss; a read a second never does.
const LOOK_EVERY_MS = 1_000
const SHORTEST_TOKEN = 16
/** What a bearer token may consist of (RFC 6750 §2.1). */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/

/**
 * A bearer token out of a file, which is read again while the function runs. A file that cannot be used at the start is
 * `ConfigurationInvalid`; later it is logged, and the tokens that were read last stay good.
 */
export function createTokenFileProof(
  file: TokenFile,
  { clock, logger }: { clock: Clock; logger: Logger },
): CallerProof {
  let tokens = readTokens(file)
  let lookedAt = clock.now()
  let refused = ''

  function lookAgain(): void {
    if (clock.now() - lookedAt < LOOK_EVERY_MS) return
    lookedAt = clock.now()
    try {
      tokens = readTokens(file)
      refused = ''
    } catch (error) {
      const message = String(error)
      if (message !== refused) logger.error({ error: message }, 'tokens not read again: those read before stay good')
      refused = message
    }
  }

  return {
    check({ bearer }) {
      if (bearer === undefined) return { kind: 'failed', reason: 'missing' }
      lookAgain()
      return isOneOf(tokens, digest(bearer)) ? { kind: 'proven' } : { kind: 'failed', reason: 'unknown' }
    },
  }
}

/** All are compared, each in constant time: neither length nor place of a token shows in how long it takes. */
function isOneOf(tokens: readonly Buffer[], shown: Buffer): boolean {
  return tokens.reduce((found, token) => timingSafeEqual(token, shown) || found, false)
}

function readTokens({ path, field }: TokenFile): Buffer[] {
  const lines = readText(path, field).split('\n')
  const tokens = lines
    .map((line, index) => ({ token: line.trim(), line: index + 1 }))
    .filter(({ token }) => token !== '')
  if (tokens.length === 0) throw invalid(field, `${path} holds no token; write one a line`)
  const bad = tokens.find(({ token }) => token.length < SHORTEST_TOKEN || !TOKEN.test(token))
  if (bad !== undefined) {
    const remedy = `must be a token of at least ${SHORTEST_TOKEN} characters, letters, digits and - . _ ~ + / only`
    throw invalid(field, `${path}, line ${bad.line}: ${remedy}; \`openssl rand -hex 32\` makes one`)
  }
  return tokens.map(({ token }) => digest(token))
}

function readText(path: string, field: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : cause
    throw invalid(field, `${path} cannot be read (${code})`, cause)
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function invalid(field: string, message: string, cause?: unknown): CatalogueError {
  return new CatalogueError('ConfigurationInvalid', `${field}: ${message}`, { field, cause })
}
