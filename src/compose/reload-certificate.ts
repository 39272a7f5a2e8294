import type { Server } from 'node:https'
import type { FastifyInstance } from 'fastify'
import type { ServingFiles } from '../config/config.ts'
import { loadServingCertificate, type ServingCertificate } from '../config/serving-certificate.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'

export interface ReloadedCertificate {
  /** What new connections are served with now. */
  current(): ServingCertificate
  /** Begins to look for replaced files. */
  watch(app: FastifyInstance): void
  stop(): void
}

// Mounted Secrets are replaced by swapping a link, which file watchers miss; a read every few seconds never does.
const LOOK_EVERY_MS = 5_000

/**
 * Serves a renewed certificate without a restart: kept connections go on with the old one, new ones get the new one.
 * A pair that cannot be used (half written, expired) is logged once and the one in use stays.
 */
export function createReloadedCertificate(
  files: ServingFiles,
  { clock, logger }: { clock: Clock; logger: Logger },
): ReloadedCertificate {
  let certificate = loadServingCertificate(files, clock.now())
  let refused = ''
  let cancel = () => {}

  function look(app: FastifyInstance): void {
    try {
      const found = loadServingCertificate(files, clock.now())
      refused = ''
      if (isSame(found, certificate)) return
      // The server of an app with a certificate is one of https; the whole context is replaced, so all of it is given.
      const server = app.server as Server
      server.setSecureContext({ cert: found.cert, key: found.key, ca: found.clientCa, minVersion: 'TLSv1.2' })
      certificate = found
      logger.info({ notAfter: new Date(found.notAfter).toISOString() }, 'serving certificate replaced')
    } catch (error) {
      const message = String(error)
      if (message !== refused) logger.error({ error: message }, 'renewed certificate not used')
      refused = message
    }
  }

  return {
    current: () => certificate,
    watch(app) {
      cancel = clock.after(LOOK_EVERY_MS, () => {
        look(app)
        this.watch(app)
      })
    },
    stop: () => cancel(),
  }
}

function isSame(one: ServingCertificate, other: ServingCertificate): boolean {
  return one.cert === other.cert && one.key === other.key && one.clientCa === other.clientCa
}
