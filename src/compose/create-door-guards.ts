import { readFileSync } from 'node:fs'
import type { DoorGuard } from '../adapters/http/door-guard.ts'
import { createJsonFetcher } from '../adapters/oidc/fetch-json.ts'
import { createIssuerKeys } from '../adapters/oidc/issuer-keys.ts'
import { createOidcProof } from '../adapters/oidc/oidc-proof.ts'
import { openDoorFaults } from '../config/caller-faults.ts'
import type { Config, OidcIssuer } from '../config/config.ts'
import { CatalogueError } from '../domain/catalogue-error.ts'
import type { Door } from '../domain/door.ts'
import type { CallerProof } from '../ports/caller-proof.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import { createDoorGuard } from './create-door-guard.ts'
import { configurationInvalid } from './load-settings.ts'

type Parts = { clock: Clock; logger: Logger }

/**
 * Who may call which door. A door without a proof takes everyone, if it stands behind the secret path prefix or if the
 * configuration says so; else, and for a file that cannot be used, `ConfigurationInvalid` is thrown.
 */
export function createDoorGuards({ callers, server }: Config, parts: Parts): Record<Door, DoorGuard> {
  const faults = openDoorFaults(callers, server)
  if (faults.length > 0) throw configurationInvalid(faults)
  const { admission, events, sweep, metrics } = callers
  const { oidc } = events
  const issued = oidc === undefined ? [] : [oidcProof(oidc, parts)]
  return {
    admission: createDoorGuard('admission', admission, parts),
    events: { ...createDoorGuard('events', events, parts, issued), rate: events.rate },
    sweep: { ...createDoorGuard('sweep', sweep, parts), rate: sweep.rate },
    metrics: createDoorGuard('metrics', metrics, parts),
  }
}

function oidcProof({ issuer, audience, subjects, caFile, tokenFile }: OidcIssuer, parts: Parts): CallerProof {
  const ca = caFile === undefined ? {} : { ca: readAuthority(caFile) }
  const fetchJson = createJsonFetcher({ ...ca, ...(tokenFile === undefined ? {} : { tokenFile }) })
  const keys = createIssuerKeys({ issuer, fetchJson, ...parts })
  return createOidcProof({ issuer, audience, subjects, keys, clock: parts.clock })
}

function readAuthority(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : cause
    const message = `callers.events.oidc.caFile: ${path} cannot be read (${code})`
    throw new CatalogueError('ConfigurationInvalid', message, { field: 'callers.events.oidc.caFile', cause })
  }
}
