import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { CatalogueError } from '../domain/catalogue-error.ts'
import type { ServingFiles } from './config.ts'

export interface ServingCertificate {
  cert: string
  key: string
  /** The authority of client certificates. */
  clientCa?: string
  /** Milliseconds since the epoch. */
  notAfter: number
}

/** Reads and checks what we serve with. Throws `CertificateInvalid` naming the file and the fault. */
export function loadServingCertificate(files: ServingFiles, now: number): ServingCertificate {
  const cert = readText('server.tls.certFile', files.certFile)
  const key = readText('server.tls.keyFile', files.keyFile)
  const served = checkServingCertificate({ cert, key }, files, now)
  return files.clientCaFile === undefined ? served : { ...served, clientCa: readClientAuthority(files.clientCaFile) }
}

function readClientAuthority(path: string): string {
  const pem = readText('server.tls.clientCaFile', path)
  attempt('server.tls.clientCaFile', `${path} holds no PEM certificate`, () => new X509Certificate(pem))
  return pem
}

function checkServingCertificate(
  { cert, key }: { cert: string; key: string },
  { certFile, keyFile }: { certFile: string; keyFile: string },
  now: number,
): ServingCertificate {
  const certificate = attempt(
    'server.tls.certFile',
    `${certFile} holds no PEM certificate`,
    () => new X509Certificate(cert),
  )
  const notAfter = Date.parse(certificate.validTo)
  if (now > notAfter) {
    throw invalid(
      'server.tls.certFile',
      `${certFile} expired on ${certificate.validTo}; put a renewed certificate there`,
    )
  }
  if (now < Date.parse(certificate.validFrom)) {
    throw invalid('server.tls.certFile', `${certFile} is valid only from ${certificate.validFrom}; check the clock`)
  }
  try {
    createSecureContext({ cert, key, minVersion: 'TLSv1.2' })
  } catch (error) {
    throw faultOfPair(certificate, key, { certFile, keyFile }, error)
  }
  return { cert, key, notAfter }
}

/** What it is that OpenSSL does not serve, in words of ours. */
function faultOfPair(
  certificate: X509Certificate,
  key: string,
  { certFile, keyFile }: Pick<ServingFiles, 'certFile' | 'keyFile'>,
  error: unknown,
): CatalogueError {
  const privateKey = attempt('server.tls.keyFile', `${keyFile} holds no PEM private key`, () => createPrivateKey(key))
  return certificate.checkPrivateKey(privateKey)
    ? invalid('server.tls.certFile', `${certFile} with ${keyFile} cannot be served over TLS`, error)
    : invalid('server.tls.keyFile', `${keyFile} is not the key of the certificate in ${certFile}`)
}

function readText(field: string, path: string): string {
  return attempt(field, `${path} cannot be read`, () => readFileSync(path, 'utf8'))
}

function attempt<T>(field: string, message: string, action: () => T): T {
  try {
    return action()
  } catch (error) {
    throw invalid(field, message, error)
  }
}

function invalid(field: string, message: string, cause?: unknown): CatalogueError {
  return new CatalogueError('CertificateInvalid', `${field}: ${message}`, { field, cause })
}
