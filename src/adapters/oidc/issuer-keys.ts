import type { JSONWebKeySet } from 'jose'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'

export interface IssuerKeysOptions {
  issuer: string
  fetchJson: (url: string) => Promise<unknown>
  clock: Clock
  logger: Logger
}

export interface IssuerKeys {
  /** The issuer's keys, with this one among them if it can be had; undefined when there are none to verify with. */
  keysFor(kid: string): Promise<JSONWebKeySet | undefined>
}

/** Then the keys are read again, while the old ones serve on. */
const FRESH_MS = 600_000
/** A withdrawn key is believed for as long at most, though its issuer cannot be reached. */
const LONGEST_MS = 3_600_000
/** Strangers can name any key: the issuer is asked so often at most … */
const UNKNOWN_KEY_EVERY_MS = 30_000
/** … and so often when it did not answer. */
const RETRY_EVERY_MS = 5_000
const MOST_KEYS = 100

/** Found by discovery (OpenID Connect Discovery 1.0 §4), held, and read again when they get old or a key is not among them. */
export function createIssuerKeys({ issuer, fetchJson, clock, logger }: IssuerKeysOptions): IssuerKeys {
  let held: { keys: JSONWebKeySet; at: number } | undefined
  let triedAt = Number.NEGATIVE_INFINITY
  let loading: Promise<void> | undefined

  const usable = () => (held !== undefined && clock.now() - held.at <= LONGEST_MS ? held : undefined)
  const isAmong = (kid: string, keys: JSONWebKeySet | undefined) => keys?.keys.some((key) => key.kid === kid) ?? false

  function isDue(kid: string): boolean {
    const sinceTried = clock.now() - triedAt
    if (held === undefined || clock.now() - held.at >= FRESH_MS) return sinceTried >= RETRY_EVERY_MS
    return !isAmong(kid, held.keys) && sinceTried >= UNKNOWN_KEY_EVERY_MS
  }

  async function load(): Promise<void> {
    triedAt = clock.now()
    try {
      const keys = keySetOf(await fetchJson(await keysUrl(issuer, fetchJson)))
      held = { keys, at: clock.now() }
    } catch (error) {
      logger.error({ issuer, error: reasonOf(error) }, 'keys of the token issuer cannot be read')
    }
  }

  return {
    async keysFor(kid) {
      if (loading === undefined && isDue(kid)) {
        loading = load().finally(() => {
          loading = undefined
        })
      }
      if (!isAmong(kid, usable()?.keys)) await loading
      return usable()?.keys
    },
  }
}

async function keysUrl(issuer: string, fetchJson: IssuerKeysOptions['fetchJson']): Promise<string> {
  const found = await fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
  const { issuer: named, jwks_uri: url } = (found ?? {}) as Record<string, unknown>
  if (named !== issuer)
    throw new Error('the issuer calls itself by another name; callers.events.oidc.issuer must be it')
  if (typeof url !== 'string') throw new Error('the issuer names no jwks_uri')
  return url
}

/** Public keys only: a shared secret among them would let anybody who can read it sign. */
function keySetOf(found: unknown): JSONWebKeySet {
  const { keys } = (found ?? {}) as { keys?: unknown }
  if (!Array.isArray(keys)) throw new Error('the issuer’s key set has no list of keys')
  if (keys.length > MOST_KEYS) throw new Error(`the issuer’s key set has more than ${MOST_KEYS} keys`)
  return { keys: (keys as JSONWebKeySet['keys']).filter((key) => key?.kty === 'RSA' || key?.kty === 'EC') }
}

/** A code where there is one; messages of the HTTP client may hold more than we want to tell. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message.slice(0, 200)
}
