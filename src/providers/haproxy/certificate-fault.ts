import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { PlannedCertificate } from '../../domain/routing/route-plan.ts'

/** Why a certificate cannot be served, without a word of what is in it; undefined where it can. */
export function certificateFault({ certificate, key }: PlannedCertificate): string | undefined {
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
