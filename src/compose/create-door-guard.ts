import { createCertificateProof } from '../adapters/callers/certificate-proof.ts'
import { createTokenFileProof } from '../adapters/callers/token-file-proof.ts'
import type { DoorGuard } from '../adapters/http/door-guard.ts'
import type { CallerProofs } from '../config/config.ts'
import type { Door } from '../domain/door.ts'
import type { CallerProof } from '../ports/caller-proof.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'

/** Who may call one door: without any proof everyone. */
export function createDoorGuard(
  door: Door,
  { tokenFile, clientSubjects }: CallerProofs,
  parts: { clock: Clock; logger: Logger },
  further: readonly CallerProof[] = [],
): DoorGuard {
  const proofs: CallerProof[] = []
  if (tokenFile !== undefined) {
    proofs.push(createTokenFileProof({ path: tokenFile, field: `callers.${door}.tokenFile` }, parts))
  }
  if (clientSubjects !== undefined) proofs.push(createCertificateProof(clientSubjects))
  proofs.push(...further)
  return { proofs: proofs.length === 0 ? 'anyone' : proofs }
}
