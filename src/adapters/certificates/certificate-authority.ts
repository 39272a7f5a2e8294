import 'reflect-metadata'
import { createHash, createPrivateKey, KeyObject, randomBytes, webcrypto } from 'node:crypto'
import { isIP } from 'node:net'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'
import { BACKDATED_MS } from './backdated.ts'

/** PEM, as servers take it. */
export interface CertificateAndKey {
  certPem: string
  keyPem: string
}

export interface Validity {
  notBefore: Date
  notAfter: Date
}

/** Signs certificates for servers, and can do nothing else. */
export interface CertificateAuthority {
  caPem: string
  /** Whoever has it can pose as any server to those who trust the authority. */
  keyPem: string
  /** A certificate with a key of its own for a server that is reached under these DNS names and addresses. */
  issueServingCertificate(hosts: readonly string[], validity?: Partial<Validity>): Promise<CertificateAndKey>
}

const YEAR_MS = 365 * 86_400_000

const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

/** A new one: ECDSA P-256, valid for a year unless it is to live longer; nothing below it can sign in turn. */
export async function createCertificateAuthority(
  now: number,
  name = 'local control plane',
  lifetimeMs = YEAR_MS,
): Promise<CertificateAuthority> {
  const keys = await newKeys()
  const subject = nameOf(name)
  const certificate = await X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject,
    issuer: subject,
    notBefore: new Date(now - BACKDATED_MS),
    notAfter: new Date(now + lifetimeMs),
    publicKey: keys.publicKey,
    signingKey: keys.privateKey,
    signingAlgorithm: ECDSA,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return authorityOf(`${certificate.toString('pem')}\n`, keys.privateKey, now)
}

/** One that was kept. The key must be the certificate's. */
export function openCertificateAuthority(
  { certPem, keyPem }: CertificateAndKey,
  now: number,
): Promise<CertificateAuthority> {
  const signingKey = createPrivateKey(keyPem).toCryptoKey(ECDSA, true, ['sign'])
  return authorityOf(certPem, signingKey, now)
}

async function authorityOf(caPem: string, signingKey: webcrypto.CryptoKey, now: number): Promise<CertificateAuthority> {
  const own = new X509Certificate(caPem)
  const authorityKey = await AuthorityKeyIdentifierExtension.create(own.publicKey)
  return {
    caPem,
    keyPem: pemOf(signingKey),
    async issueServingCertificate(hosts, validity = {}) {
      const keys = await newKeys()
      const certificate = await X509CertificateGenerator.create({
        serialNumber: serialNumber(),
        subject: nameOf(hosts[0] ?? 'localhost'),
        issuer: own.subjectName,
        notBefore: new Date(now - BACKDATED_MS),
        notAfter: new Date(now + YEAR_MS),
        ...validity,
        publicKey: keys.publicKey,
        signingKey,
        signingAlgorithm: ECDSA,
        extensions: [
          new BasicConstraintsExtension(false, undefined, true),
          new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
          new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
          new SubjectAlternativeNameExtension(
            hosts.map((host) => ({ type: isIP(host) === 0 ? 'dns' : 'ip', value: host })),
          ),
          authorityKey,
          await SubjectKeyIdentifierExtension.create(keys.publicKey),
        ],
      })
      return { certPem: `${certificate.toString('pem')}\n`, keyPem: pemOf(keys.privateKey) }
    },
  }
}

function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ECDSA, true, ['sign', 'verify'])
}

function pemOf(key: webcrypto.CryptoKey): string {
  return KeyObject.from(key).export({ type: 'pkcs8', format: 'pem' }).toString()
}

// RFC 5280, appendix A: ub-common-name.
const LONGEST_NAME = 64

/** Nobody looks at the name of a server here any more; a long one is cut so that two stay two. */
function nameOf(text: string): { CN: string[] }[] {
  if (text.length <= LONGEST_NAME) return [{ CN: [text] }]
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 8)
  return [{ CN: [`${text.slice(0, LONGEST_NAME - 9)}-${hash}`] }]
}

/** Random, positive, and never shorter than its 16 bytes (RFC 5280 §4.1.2.2). */
function serialNumber(): string {
  const bytes = randomBytes(16)
  bytes.writeUInt8((bytes.readUInt8(0) & 0x3f) | 0x40, 0)
  return bytes.toString('hex')
}
