import { createHash, createPrivateKey, X509Certificate } from 'node:crypto'
import { type CaddyCertificate, OURS } from './caddy-configuration.ts'

const BLOCK = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g

const NO_CERTIFICATE = 'the certificate is no PEM of an X.509 certificate'
/** What Go's TLS can sign with. */
const KEYS: ReadonlySet<string> = new Set(['rsa', 'ed25519'])
const CURVES: ReadonlySet<string> = new Set(['prime256v1', 'secp384r1', 'secp521r1'])

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
  const fault = chain.length === 0 ? NO_CERTIFICATE : faultOf(certificate, key)
  if (fault !== undefined) throw new Error(`${name}: ${fault}`)
  const digest = createHash('sha256').update(chain.join('\n')).digest('hex')
  return { certificate, key, tags: [`${OURS}:${digest}`] }
}

function faultOf(certificate: string, key: string): string | undefined {
  const leaf = attempt(() => new X509Certificate(certificate))
  if (leaf === undefined) return NO_CERTIFICATE
  const privateKey = attempt(() => createPrivateKey(key))
  if (privateKey === undefined) return 'the key is no PEM of a private key'
  const { asymmetricKeyType = '', asymmetricKeyDetails: { namedCurve = '' } = {} } = privateKey
  if (!KEYS.has(asymmetricKeyType) && !CURVES.has(namedCurve)) {
    const remedy = 'take RSA, ECDSA on P-256, P-384 or P-521, or Ed25519'
    return `Caddy has no use for a key of type ${namedCurve || asymmetricKeyType}: ${remedy}`
  }
  return leaf.checkPrivateKey(privateKey) ? undefined : 'the key is not that of the certificate'
}

function attempt<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch {
    return undefined
  }
}
