import type { KnownDifference } from './kubernetes-api/judge-results.ts'

/** Where the local control plane does not do as the real API server does, and why it is left so. */
export const knownDifferences: readonly KnownDifference[] = []
