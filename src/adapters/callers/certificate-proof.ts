import type { CallerProof } from '../../ports/caller-proof.ts'

/** A client certificate with one of these names: its common name, or an alternative name (DNS, URI, e-mail, address). */
export function createCertificateProof(subjects: readonly string[]): CallerProof {
  return {
    check({ certificateNames }) {
      if (certificateNames === undefined) return { kind: 'failed', reason: 'missing' }
      const caller = certificateNames.find((name) => subjects.includes(name))
      return caller === undefined ? { kind: 'failed', reason: 'notAllowed' } : { kind: 'proven', caller }
    },
  }
}
