import type { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { connect } from 'node:tls'
import { describeCertificate } from '../../adapters/certificates/describe-certificate.ts'
import { splitBundle } from '../../adapters/certificates/read-certificates.ts'
import type { CaBundle, ServedCertificate } from '../../domain/doctor/facts.ts'
import type { RegisteredWebhook } from '../../domain/doctor/webhook.ts'
import { CannotAsk } from './ask.ts'

/** By the name of the webhook. A bundle is over when its last authority is: old ones stay in it during a renewal. */
export function caBundles(webhooks: readonly RegisteredWebhook[], now: number): Record<string, CaBundle> {
  return Object.fromEntries(
    webhooks.map(({ webhook }) => [webhook.name, readBundle(webhook.clientConfig?.caBundle, now)] as const),
  )
}

/** PEM of the first of these webhooks that has any. */
export function authorityOf(webhooks: readonly RegisteredWebhook[]): string | undefined {
  const bundle = webhooks.map(({ webhook }) => webhook.clientConfig?.caBundle).find(Boolean)
  return bundle === undefined ? undefined : Buffer.from(bundle, 'base64').toString()
}

function readBundle(bundle: string | undefined, now: number): CaBundle {
  if (bundle === undefined || bundle === '') return { state: 'absent' }
  try {
    const authorities = splitBundle(Buffer.from(bundle, 'base64').toString())
    const ends = authorities.map(({ pem }) => describeCertificate(pem, now).notAfter)
    return ends.length === 0 ? { state: 'unreadable' } : { state: 'readable', notAfter: Math.max(...ends) }
  } catch {
    return { state: 'unreadable' }
  }
}

export interface TlsQuestion {
  /** Where to connect to from here. */
  at: { host: string; port: number }
  /** What the API server calls the host. */
  name: string
  /** PEM; the system's roots when undefined. */
  ca: string | undefined
  timeoutMs: number
  now: number
}

/** Looks at what is served without trusting it: nothing is sent. */
export function servedCertificate({ at, name, ca, timeoutMs, now }: TlsQuestion): Promise<ServedCertificate> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      ...at,
      ...(isIP(name) === 0 ? { servername: name } : {}),
      ...(ca === undefined ? {} : { ca }),
      rejectUnauthorized: false,
      timeout: timeoutMs,
    })
    socket.once('error', reject)
    socket.once('timeout', () => socket.destroy(new CannotAsk('no answer in time')))
    socket.once('secureConnect', () => {
      const certificate = socket.getPeerX509Certificate()
      const fault = socket.authorizationError as Error | string | undefined | null
      socket.destroy()
      if (certificate === undefined) reject(new CannotAsk('no certificate is served'))
      else resolve(judge(certificate, { name, now, fault: codeOf(fault) }))
    })
  })
}

/** The other name is judged apart; Go's TLS, which the API server is, looks at subjectAltName alone. */
function judge(
  certificate: X509Certificate,
  { name, now, fault }: { name: string; now: number; fault: string | undefined },
): ServedCertificate {
  const { hosts, notBefore, notAfter } = describeCertificate(certificate.toString(), now)
  const isForName =
    isIP(name) === 0
      ? certificate.checkHost(name, { subject: 'never' }) !== undefined
      : certificate.checkIP(name) !== undefined
  return {
    hosts,
    notBefore,
    notAfter,
    ...(fault === undefined || NOT_OF_THE_CHAIN.includes(fault) ? {} : { chainFault: fault }),
    ...(isForName ? {} : { nameFault: `it is for ${hosts.join(', ') || 'no host'}` }),
  }
}

const NOT_OF_THE_CHAIN = ['ERR_TLS_CERT_ALTNAME_INVALID', 'CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']

function codeOf(fault: Error | string | undefined | null): string | undefined {
  if (fault === undefined || fault === null) return undefined
  return typeof fault === 'string' ? fault : 'code' in fault ? String(fault.code) : fault.name
}
