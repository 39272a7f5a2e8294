import { X509Certificate } from 'node:crypto'

/** What a certificate says of itself. Moments are milliseconds since the epoch. */
export interface CertificateDescription {
  /** DNS names and addresses that it is for, as clients compare them. */
  hosts: string[]
  notBefore: number
  notAfter: number
  /** Whole days until it expires; negative once it has. */
  daysLeft: number
  /** Names this very certificate among others of the same subject. */
  fingerprint: string
}

const DAY_MS = 86_400_000

/** Of the first certificate in the text. Throws where there is none. */
export function describeCertificate(pem: string, now: number): CertificateDescription {
  const certificate = new X509Certificate(pem)
  const notAfter = Date.parse(certificate.validTo)
  return {
    hosts: hostsOf(certificate),
    notBefore: Date.parse(certificate.validFrom),
    notAfter,
    daysLeft: Math.floor((notAfter - now) / DAY_MS),
    fingerprint: certificate.fingerprint256,
  }
}

/** Node prints `DNS:a.example.com, IP Address:10.0.0.1`; anything else a web server is not called by. */
function hostsOf({ subjectAltName = '' }: X509Certificate): string[] {
  return subjectAltName.split(', ').flatMap((entry) => {
    const [, type, host = ''] = /^(DNS|IP Address):(.+)$/.exec(entry) ?? []
    if (type === 'DNS') return [host.toLowerCase()]
    return type === 'IP Address' ? [canonicalAddress(host)] : []
  })
}

/** An IPv6 address can be written in many ways; a URL has the shortest. */
export function canonicalAddress(address: string): string {
  return address.includes(':') ? new URL(`https://[${address}]/`).hostname.slice(1, -1) : address
}
