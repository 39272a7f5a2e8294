import type { ProofResult } from '../domain/judge-proofs.ts'

/** What a request brings that can prove who sent it. Nothing of it is ever logged. */
export interface ShownCredentials {
  /** Of `Authorization: Bearer`. */
  bearer?: string
  /** The names in a client certificate that our authority issued. */
  certificateNames?: readonly string[]
}

/** One way to prove a caller. */
export interface CallerProof {
  /** Never throws and never rejects: what stands in the way is part of the result. */
  check(shown: ShownCredentials): ProofResult | Promise<ProofResult>
}
