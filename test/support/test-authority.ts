import 'reflect-metadata'
import { KeyObject, randomBytes, webcrypto } from 'node:crypto'
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type JsonGeneralNames,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509'

export interface WantedCertificate {
  /** Several make several common names. */
  commonNames: string[]
  alternatives?: JsonGeneralNames
  usage: 'server' | 'client'
  notAfter?: Date
}

/** An authority that issues what a test asks for, sensible or not. */
export interface TestAuthority {
  caPem: string
  issue(wanted: WantedCertificate): Promise<{ cert: string; key: string }>
}

const HOUR_MS = 3_600_000
const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

/** Certificates are checked by TLS, whose clock is the machine's. */
export async function createTestAuthority(name = 'authority'): Promise<TestAuthority> {
  const now = Date.now()
  const validity = { notBefore: new Date(now - HOUR_MS), notAfter: new Date(now + HOUR_MS) }
  const authority = await newKeys()
  const subject = [{ CN: [name] }]
  const own = await X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject,
    issuer: subject,
    ...validity,
    publicKey: authority.publicKey,
    signingKey: authority.privateKey,
    signingAlgorithm: ECDSA,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    ],
  })
  return {
    caPem: own.toString('pem'),
    async issue({ commonNames, alternatives = [], usage, notAfter = validity.notAfter }) {
      const keys = await newKeys()
      const certificate = await X509CertificateGenerator.create({
        serialNumber: serialNumber(),
        subject: commonNames.map((commonName) => ({ CN: [commonName] })),
        issuer: subject,
        notBefore: validity.notBefore,
        notAfter,
        publicKey: keys.publicKey,
        signingKey: authority.privateKey,
        signingAlgorithm: ECDSA,
        extensions: [
          new BasicConstraintsExtension(false, undefined, true),
          new ExtendedKeyUsageExtension([
            usage === 'server' ? ExtendedKeyUsage.serverAuth : ExtendedKeyUsage.clientAuth,
          ]),
          ...(alternatives.length === 0 ? [] : [new SubjectAlternativeNameExtension(alternatives)]),
        ],
      })
      return { cert: certificate.toString('pem'), key: pemOf(keys.privateKey) }
    },
  }
}

function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ECDSA, true, ['sign', 'verify'])
}

function pemOf(key: webcrypto.CryptoKey): string {
  return KeyObject.from(key).export({ type: 'pkcs8', format: 'pem' }).toString()
}

function serialNumber(): string {
  return `4${randomBytes(15).toString('hex').slice(1)}`
}
