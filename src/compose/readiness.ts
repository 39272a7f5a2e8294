import type { Readiness } from '../adapters/http/doors.ts'
import type { ServingCertificate } from '../config/serving-certificate.ts'

const DAY_MS = 86_400_000

/**
 * Certificate and configuration only: were the API server asked too, its outage would take the admission doors away.
 */
export function readinessOf(
  certificate: ServingCertificate | undefined,
  now: number,
  further: Readiness['checks'] = [],
): Readiness {
  const checks = [
    { name: 'configuration', ok: true, message: 'loaded' },
    certificateCheck(certificate, now),
    ...further,
  ]
  return { ready: checks.every(({ ok }) => ok), checks }
}

function certificateCheck(certificate: ServingCertificate | undefined, now: number) {
  const name = 'certificate'
  if (certificate === undefined) return { name, ok: true, message: 'none: TLS ends before this process' }
  const days = Math.floor((certificate.notAfter - now) / DAY_MS)
  const ok = now <= certificate.notAfter
  return { name, ok, message: ok ? `valid for ${days} more days` : 'expired: renew it and restart' }
}
