import type { IngressTls, MultiClusterIngress } from '../multi-cluster-ingress.ts'
import type { Secret } from '../secret.ts'
import { type BackendFinding, warning } from './backend-finding.ts'

/** One certificate of an ingress and the hosts it is for. Never to be logged whole. */
export interface Certificate {
  /** In the order in which they are written; none means all hosts. */
  hosts: string[]
  /** Absent where the ingress names no Secret: the provider decides (a certificate of its own, or none). */
  secretName?: string
  /** PEM, as it is stored; absent with `key` where the Secret cannot be used. */
  certificate?: string
  key?: string
}

/** The certificates of an ingress, one a Secret. What cannot be used is left out and said so; the rest goes on. */
export function resolveCertificates(
  { metadata: { namespace = '' }, spec }: MultiClusterIngress,
  secrets: readonly Secret[],
): { certificates: Certificate[]; findings: BackendFinding[] } {
  const findings: BackendFinding[] = []
  const certificates = [...hostsBySecret(spec?.tls ?? [])].map(([secretName, hosts]): Certificate => {
    if (secretName === '') return { hosts }
    const secret = secrets.find(({ metadata }) => metadata.namespace === namespace && metadata.name === secretName)
    const read = readCertificate(secret)
    if (!('fault' in read)) return { hosts, secretName, ...read }
    const reason = secret === undefined ? 'SecretNotFound' : 'SecretInvalid'
    findings.push(warning(reason, `secret ${namespace}/${secretName}`, read.fault))
    return { hosts, secretName }
  })
  return { certificates, findings }
}

function hostsBySecret(entries: readonly IngressTls[]): Map<string, string[]> {
  const bySecret = Map.groupBy(entries, ({ secretName = '' }) => secretName)
  return new Map(
    [...bySecret].map(([secretName, own]) => {
      // One entry for all hosts is for more than any other names.
      const isForAll = own.some(({ hosts }) => (hosts ?? []).length === 0)
      return [secretName, isForAll ? [] : [...new Set(own.flatMap(({ hosts }) => hosts ?? []))]]
    }),
  )
}

/** A fault never quotes what is in the Secret. */
function readCertificate(secret: Secret | undefined): { certificate: string; key: string } | { fault: string } {
  if (secret === undefined) return { fault: 'not found' }
  if (secret.type !== 'kubernetes.io/tls') return { fault: 'is not of type kubernetes.io/tls' }
  const certificate = decodeBase64(secret.data?.['tls.crt'])
  const key = decodeBase64(secret.data?.['tls.key'])
  if (certificate === '') return { fault: 'has no usable tls.crt' }
  if (key === '') return { fault: 'has no usable tls.key' }
  return { certificate, key }
}

/** PEM is ASCII, so one byte is one character. Empty for what is no base64. */
function decodeBase64(text: string | undefined): string {
  try {
    return atob(text ?? '')
  } catch {
    return ''
  }
}
