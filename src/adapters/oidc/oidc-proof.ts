import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose'
import type { ProofResult } from '../../domain/judge-proofs.ts'
import type { CallerProof } from '../../ports/caller-proof.ts'
import type { Clock } from '../../ports/clock.ts'
import type { IssuerKeys } from './issuer-keys.ts'

export interface OidcProofOptions {
  issuer: string
  audience: string
  /** Whose tokens are taken: `sub`, word for word. */
  subjects: readonly string[]
  keys: IssuerKeys
  clock: Clock
}

/** Signatures with a key pair: with a shared secret, or none, anybody could make them. */
const ALGORITHMS = ['RS256', 'ES256', 'ES384', 'ES512']
/** Two clocks are never the same. */
const TOLERANCE_SECONDS = 30

/** A JWT of an OpenID Connect issuer, as Knative sends with each event. The library is loaded with the first one. */
export function createOidcProof(options: OidcProofOptions): CallerProof {
  let verifier: { of: JSONWebKeySet; keyOf: JWTVerifyGetKey } | undefined
  return {
    async check({ bearer }) {
      if (bearer === undefined) return failed('missing')
      const jose = await import('jose')
      const kid = keyNameIn(bearer, options.issuer, jose)
      if (kid === undefined) return failed('unknown')
      const keys = await options.keys.keysFor(kid)
      if (keys === undefined) return failed('unverifiable')
      if (verifier?.of !== keys) verifier = { of: keys, keyOf: jose.createLocalJWKSet(keys) }
      try {
        const { payload } = await jose.jwtVerify(bearer, verifier.keyOf, {
          algorithms: ALGORITHMS,
          issuer: options.issuer,
          audience: options.audience,
          requiredClaims: ['exp', 'sub'],
          clockTolerance: TOLERANCE_SECONDS,
          currentDate: new Date(options.clock.now()),
        })
        const { sub = '' } = payload
        return options.subjects.includes(sub) ? { kind: 'proven', caller: sub } : failed('notAllowed')
      } catch (error) {
        return failed(error instanceof jose.errors.JWTExpired ? 'expired' : 'unknown')
      }
    },
  }
}

/** Of a token that says it is of our issuer, and names a key. For any other nobody is asked for keys. */
function keyNameIn(token: string, issuer: string, jose: typeof import('jose')): string | undefined {
  try {
    const { alg = '', kid } = jose.decodeProtectedHeader(token)
    const isOurs = ALGORITHMS.includes(alg) && jose.decodeJwt(token).iss === issuer
    return isOurs && typeof kid === 'string' ? kid : undefined
  } catch {
    return undefined
  }
}

function failed(reason: Extract<ProofResult, { kind: 'failed' }>['reason']): ProofResult {
  return { kind: 'failed', reason }
}
