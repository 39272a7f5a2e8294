import type { Rate } from '../../domain/token-bucket.ts'
import type { CallerProof } from '../../ports/caller-proof.ts'

/** Who may call a door, and how often one caller may. */
export interface DoorGuard {
  /** Any one of them suffices. */
  proofs: readonly CallerProof[] | 'anyone'
  rate?: Rate
}
