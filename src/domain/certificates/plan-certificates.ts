/** Moments are milliseconds since the epoch. */
export interface FoundAuthority {
  fingerprint: string
  madeAt: number
  notBefore: number
  notAfter: number
}

export interface FoundCertificate {
  hosts: readonly string[]
  notBefore: number
  notAfter: number
  /** The fingerprint of the authority in the bundle that signed it; undefined where none of them did. */
  issuer: string | undefined
}

export interface FoundCertificates {
  /** The bundle; the first signs, the others are on their way out. */
  authorities: readonly FoundAuthority[]
  /** Whether the key of the first is there. */
  canSign: boolean
  /** Undefined where there is none, or its key is not there. */
  serving: FoundCertificate | undefined
  /** Every serving certificate that was ever issued and may still be served by somebody. */
  issued: readonly FoundCertificate[]
  /** Whether every configuration of ours has the first authority in its bundle already. */
  trusted: boolean
}

export interface WantedCertificates {
  hosts: readonly string[]
  /** A new authority, although the one there is good. */
  renewAuthority: boolean
  /** A new serving certificate, although the one there is good. */
  renewServing: boolean
  /** Old authorities go although certificates of theirs may still be served. */
  retireAuthorities: boolean
  /** How long an authority is in the bundle before a certificate of it takes the place of one that is trusted. */
  settleMs: number
}

export interface CertificatePlan {
  authority: { do: 'keep' } | { do: 'make'; reason: string }
  serving: { do: 'keep' } | { do: 'issue'; reason: string } | { do: 'wait'; reason: string }
  /** Fingerprints of authorities that leave the bundle. */
  retired: string[]
}

/**
 * What is due, and when it may be done.
 *
 * A serving certificate is replaced by one of a *new* authority only when those who call us can be expected to trust it:
 * first the authority is put into the bundle, then, in a later run, the certificate is changed, and the old authority
 * stays until every certificate of it has expired. Only what serves nobody any more is replaced at once.
 */
export function planCertificates(found: FoundCertificates, wanted: WantedCertificates, now: number): CertificatePlan {
  const authority = planAuthority(found, wanted, now)
  const serving = planServing(found, wanted, authority.do === 'make', now)
  return { authority, serving, retired: retiredAuthorities(found, wanted, { authority, serving }, now) }
}

function planAuthority(
  { authorities, canSign }: FoundCertificates,
  { renewAuthority }: WantedCertificates,
  now: number,
): CertificatePlan['authority'] {
  const [signer] = authorities
  if (signer === undefined) return { do: 'make', reason: 'there is none' }
  if (now > signer.notAfter) return { do: 'make', reason: 'it has expired' }
  if (!canSign) return { do: 'make', reason: 'its key is not there' }
  if (renewAuthority) return { do: 'make', reason: 'it was asked for' }
  return isDue(signer, now) ? { do: 'make', reason: 'two thirds of its life are over' } : { do: 'keep' }
}

function planServing(
  { authorities, serving, trusted }: FoundCertificates,
  { hosts, renewServing, settleMs }: WantedCertificates,
  isAuthorityNew: boolean,
  now: number,
): CertificatePlan['serving'] {
  if (serving === undefined) return { do: 'issue', reason: 'there is none, or its key is not there' }
  const issuer = authorities.find(({ fingerprint }) => fingerprint === serving.issuer)
  const useless = uselessness(serving, issuer, hosts, now)
  if (useless !== undefined) return { do: 'issue', reason: useless }
  const [signer] = authorities
  const isOfSigner = !isAuthorityNew && issuer === signer
  const due = dueness(serving, isOfSigner, { hosts, renewServing }, now)
  if (due === undefined) return { do: 'keep' }
  if (isOfSigner) return { do: 'issue', reason: due }
  if (isAuthorityNew) return { do: 'wait', reason: 'the new authority has to be known to those who call us first' }
  if (!trusted) return { do: 'wait', reason: 'the new authority is not in every caBundle yet' }
  const isSettled = signer !== undefined && now >= signer.madeAt + settleMs
  return isSettled ? { do: 'issue', reason: due } : { do: 'wait', reason: 'the new authority is not known long enough' }
}

function uselessness(
  serving: FoundCertificate,
  issuer: FoundAuthority | undefined,
  hosts: readonly string[],
  now: number,
): string | undefined {
  if (now > serving.notAfter) return 'it has expired'
  if (issuer === undefined) return 'no authority of the bundle signed it'
  if (now > issuer.notAfter) return 'its authority has expired'
  const missing = hosts.filter((host) => !serving.hosts.includes(host))
  return missing.length > 0 ? `it is not for ${missing.join(', ')}` : undefined
}

function dueness(
  serving: FoundCertificate,
  isOfSigner: boolean,
  { hosts, renewServing }: Pick<WantedCertificates, 'hosts' | 'renewServing'>,
  now: number,
): string | undefined {
  if (renewServing) return 'it was asked for'
  if (!isOfSigner) return 'its authority is on its way out'
  const spare = serving.hosts.filter((host) => !hosts.includes(host))
  if (spare.length > 0) return `it is also for ${spare.join(', ')}`
  return isDue(serving, now) ? 'two thirds of its life are over' : undefined
}

function isDue({ notBefore, notAfter }: { notBefore: number; notAfter: number }, now: number): boolean {
  return now >= notBefore + ((notAfter - notBefore) * 2) / 3
}

/** What signs, or signed what is served after this, stays. */
function retiredAuthorities(
  { authorities, serving, issued }: FoundCertificates,
  { retireAuthorities }: WantedCertificates,
  planned: Pick<CertificatePlan, 'authority' | 'serving'>,
  now: number,
): string[] {
  const [signer, ...older] = authorities
  const candidates = planned.authority.do === 'make' ? authorities : older
  const servedBy = planned.serving.do === 'issue' ? undefined : serving?.issuer
  const living = [...issued, ...(serving === undefined ? [] : [serving])].filter(({ notAfter }) => now <= notAfter)
  return candidates
    .filter(({ fingerprint, notAfter }) => {
      if (now > notAfter) return true
      if (fingerprint === servedBy) return false
      return retireAuthorities || !living.some(({ issuer }) => issuer === fingerprint)
    })
    .map(({ fingerprint }) => fingerprint)
    .filter((fingerprint) => planned.authority.do === 'make' || fingerprint !== signer?.fingerprint)
}
