import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIP } from 'node:net'
import { der } from './der.ts'

/** PEM, as servers take it. */
export interface ServingCertificate {
  certPem: string
  keyPem: string
}

/** An authority of its own, whose key never leaves the process. */
export interface CertificateAuthority {
  caPem: string
  /** A certificate for a server reached under these DNS names and addresses. */
  issueServingCertificate(hosts: readonly string[], validity?: Partial<Validity>): ServingCertificate
}

export interface Validity {
  notBefore: Date
  notAfter: Date
}

interface Keys {
  publicKey: KeyObject
  privateKey: KeyObject
}

const HOUR_MS = 3_600_000
const YEAR_MS = 365 * 24 * HOUR_MS

const OID = {
  commonName: '2.5.4.3',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAlternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
}

/** ECDSA P-256 (RFC 5280). Valid from an hour ago, against clocks that differ, for a year. */
export function createCertificateAuthority(now: number, name = 'local control plane'): CertificateAuthority {
  const validity: Validity = { notBefore: new Date(now - HOUR_MS), notAfter: new Date(now + YEAR_MS) }
  const keys = newKeys()
  const caPem = certificate(name, name, keys.publicKey, keys.privateKey, validity, [
    extension(OID.basicConstraints, true, der.sequence(der.boolean(true))),
    // keyCertSign and cRLSign: bits 5 and 6 of seven.
    extension(OID.keyUsage, true, der.bits(Buffer.from([0b0000_0110]), 1)),
    extension(OID.subjectKeyIdentifier, false, der.octets(keyIdentifier(keys.publicKey))),
  ])

  return {
    caPem,
    issueServingCertificate(hosts, wanted) {
      const own = newKeys()
      const certPem = certificate(
        hosts[0] ?? 'localhost',
        name,
        own.publicKey,
        keys.privateKey,
        { ...validity, ...wanted },
        [
          extension(OID.basicConstraints, true, der.sequence()),
          // digitalSignature: bit 0 of one.
          extension(OID.keyUsage, true, der.bits(Buffer.from([0b1000_0000]), 7)),
          extension(OID.extendedKeyUsage, false, der.sequence(der.oid(OID.serverAuth))),
          extension(OID.subjectAlternativeName, false, der.sequence(...hosts.map(alternativeName))),
          extension(OID.authorityKeyIdentifier, false, der.sequence(der.implicit(0, keyIdentifier(keys.publicKey)))),
        ],
      )
      return { certPem, keyPem: own.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
    },
  }
}

function newKeys(): Keys {
  return generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
}

function certificate(
  subject: string,
  issuer: string,
  publicKey: KeyObject,
  issuerKey: KeyObject,
  { notBefore, notAfter }: Validity,
  extensions: Buffer[],
): string {
  const algorithm = der.sequence(der.oid(OID.ecdsaWithSha256))
  const content = der.sequence(
    der.explicit(0, der.integer(Buffer.from([2]))),
    der.integer(randomBytes(16)),
    algorithm,
    distinguishedName(issuer),
    der.sequence(der.time(notBefore), der.time(notAfter)),
    distinguishedName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der.explicit(3, der.sequence(...extensions)),
  )
  const signed = der.sequence(content, algorithm, der.bits(sign('sha256', content, issuerKey)))
  const lines = signed.toString('base64').match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}

function distinguishedName(commonName: string): Buffer {
  return der.sequence(der.set(der.sequence(der.oid(OID.commonName), der.utf8(commonName))))
}

function extension(oid: string, isCritical: boolean, value: Buffer): Buffer {
  return der.sequence(der.oid(oid), ...(isCritical ? [der.boolean(true)] : []), der.octets(value))
}

function alternativeName(host: string): Buffer {
  return isIP(host) === 4
    ? der.implicit(7, Buffer.from(host.split('.').map(Number)))
    : der.implicit(2, Buffer.from(host))
}

function keyIdentifier(key: KeyObject): Buffer {
  return createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest()
}
