import { describeCertificate } from '../adapters/certificates/describe-certificate.ts'
import type { Readiness } from '../adapters/http/doors.ts'
import type { ServingCertificate } from '../config/serving-certificate.ts'

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
  const { daysLeft, hosts, notAfter } = describeCertificate(certificate.cert, now)
  const ok = now <= notAfter
  const whom = hosts.length === 0 ? 'no host at all' : hosts.join(', ')
  const message = ok
    ? `valid for ${daysLeft} more days, for ${whom}`
    : `for ${whom}, expired: put a renewed one into its files, where it is found within seconds`
  return { name, ok, message }
}
