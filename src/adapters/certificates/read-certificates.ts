import { createPrivateKey, X509Certificate } from 'node:crypto'
import { CatalogueError } from '../../domain/catalogue-error.ts'
import type { FoundCertificate, FoundCertificates } from '../../domain/certificates/plan-certificates.ts'
import { BACKDATED_MS } from './backdated.ts'
import type { CertificateFiles } from './certificate-keeper.ts'
import { describeCertificate } from './describe-certificate.ts'

/** What was kept, as facts. Throws `CertificateInvalid` for a bundle that cannot be read, or a certificate of somebody else. */
export function readCertificates(
  files: CertificateFiles,
  place: string,
  now: number,
): Omit<FoundCertificates, 'trusted'> {
  const authorities = certificatesIn(files, 'ca.crt', place)
  const [serving] = certificatesIn(files, 'tls.crt', place)
  if (serving !== undefined && authorities.length === 0) {
    const message = `${place} holds a certificate, and no authority of ours: choose an empty place, or take tls.crt away to have it replaced`
    throw new CatalogueError('CertificateInvalid', message, { field: 'ca.crt' })
  }
  const factsOf = (certificate: X509Certificate): FoundCertificate => ({
    ...describeCertificate(certificate.toString(), now),
    issuer: authorities.find((authority) => isSignedBy(certificate, authority))?.fingerprint256,
  })
  return {
    authorities: authorities.map((authority) => {
      const { fingerprint, notBefore, notAfter } = describeCertificate(authority.toString(), now)
      return { fingerprint, notBefore, notAfter, madeAt: notBefore + BACKDATED_MS }
    }),
    canSign: isKeyOf(authorities[0], files['ca.key']),
    serving: serving !== undefined && isKeyOf(serving, files['tls.key']) ? factsOf(serving) : undefined,
    issued: certificatesIn(files, 'issued.crt', place).map(factsOf),
  }
}

/** Each certificate of a bundle by its fingerprint, as PEM that ends with its line. */
export function splitBundle(text: string): { fingerprint: string; pem: string }[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return blocks.map((pem) => ({ fingerprint: new X509Certificate(pem).fingerprint256, pem: `${pem}\n` }))
}

function certificatesIn(files: CertificateFiles, name: keyof CertificateFiles, place: string): X509Certificate[] {
  const text = files[name] ?? ''
  try {
    const found = splitBundle(text).map(({ pem }) => new X509Certificate(pem))
    if (found.length > 0 || text.trim() === '') return found
    throw new TypeError('no PEM certificate')
  } catch (cause) {
    const message = `${place}: ${name} holds something else than PEM certificates: put back what was there, or take it away`
    throw new CatalogueError('CertificateInvalid', message, { field: name, cause })
  }
}

function isSignedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
}

/** A key of another kind than ours is no key that we can sign with. */
function isKeyOf(certificate: X509Certificate | undefined, keyPem: string | undefined): boolean {
  if (certificate === undefined || keyPem === undefined) return false
  try {
    const key = createPrivateKey(keyPem)
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' && certificate.checkPrivateKey(key)
  } catch {
    return false
  }
}
