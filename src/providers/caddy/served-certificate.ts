import { createHash, createPrivateKey, X509Certificate } from 'node:crypto'
import { type CaddyCertificate, OURS } from './caddy-configuration.ts'

const BLOCK = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g

/**
 * A certificate as Caddy loads it, tagged by what is in it: Caddy keeps one copy of a certificate, with the tags it came
 * with first, so balancers with the same one must ask for it by the same tag.
 *
 * Throws, without a word of what is in them, where Caddy could not use the two: it would refuse its whole configuration.
 */
export function servedCertificate(
  name: string,
  certificate: string,
  key: string,
): CaddyCertificate & { tags: [string] } {
  const chain = [...certificate.matchAll(BLOCK)].map(([, base64 = '']) => base64.replaceAll(/\s/g, ''))
  const fault = faultOf(certificate, key)
  if (fault !== undefined) throw new Error(`${name}: ${fault}`)
  const digest = createHash('sha256').update(chain.join('\n')).digest('hex')
  return { certificate, key, tags: [`${OURS}:${digest}`] }
}

function faultOf(certificate: string, key: string): string | undefined {
  const leaf = attempt(() => new X509Certificate(certificate))
  if (leaf === undefined) return 'the certificate is no PEM of an X.509 certificate'
  const privateKey = attempt(() => createPrivateKey(key))
  if (privateKey === undefined) return 'the key is no PEM of a private key'
  return leaf.checkPrivateKey(privateKey) ? undefined : 'the key is not that of the certificate'
}

function attempt<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch {
    return undefined
  }
}
