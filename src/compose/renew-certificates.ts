import { randomBytes, X509Certificate } from 'node:crypto'
import {
  type CertificateAndKey,
  type CertificateAuthority,
  createCertificateAuthority,
  openCertificateAuthority,
} from '../adapters/certificates/certificate-authority.ts'
import {
  CERTIFICATE_FILES,
  type CertificateFiles,
  type CertificateKeeper,
} from '../adapters/certificates/certificate-keeper.ts'
import { describeCertificate } from '../adapters/certificates/describe-certificate.ts'
import { readCertificates, splitBundle } from '../adapters/certificates/read-certificates.ts'
import {
  type CertificatePlan,
  type FoundCertificates,
  planCertificates,
  type WantedCertificates,
} from '../domain/certificates/plan-certificates.ts'
import { type FoundBundles, publishBundle } from './ca-bundles.ts'

export interface CertificateRenewal {
  keeper: CertificateKeeper
  wanted: WantedCertificates
  servingMs: number
  authorityMs: number
  /** Milliseconds since the epoch. */
  now: number
  /** Whose `caBundle` follows; undefined: somebody else's business. */
  bundles?: FoundBundles
  signal: AbortSignal
}

/** What there is, and what is to be done about it. Nothing is written. */
export interface CertificateLook {
  files: CertificateFiles
  found: FoundCertificates
  plan: CertificatePlan
}

/** Reads what is kept and what API servers trust, and plans. */
export async function lookAtCertificates(renewal: CertificateRenewal): Promise<CertificateLook> {
  const { keeper, wanted, now, bundles, signal } = renewal
  const files = await keeper.read(signal)
  const kept = readCertificates(files, keeper.place, now)
  const signer = kept.authorities[0]?.fingerprint
  const found = { ...kept, trusted: bundles === undefined || (signer !== undefined && bundles.allTrust(signer)) }
  return { files, found, plan: planCertificates(found, wanted, now) }
}

/**
 * Does what was planned, in an order in which nobody who calls us meets a certificate that they do not trust: a new
 * authority is kept and made known before a certificate of it takes the place of one that is trusted. Answers what is
 * kept now. To be repeated when it failed: nothing is lost on the way.
 */
export async function renewCertificates(renewal: CertificateRenewal, look: CertificateLook): Promise<CertificateFiles> {
  const { bundles, signal } = renewal
  const withAuthority = await nextAuthority(renewal, look)
  const next = await nextServing(renewal, look, withAuthority)
  const publish = async () => {
    if (bundles !== undefined) await publishBundle(bundles, next['ca.crt'] ?? '', signal)
  }
  if (replacesTrusted(look)) {
    await keep(withAuthority.files, look.files, renewal)
    await publish()
    await keep(next, withAuthority.files, renewal)
  } else {
    await keep(next, look.files, renewal)
    await publish()
  }
  return next
}

async function keep(
  files: CertificateFiles,
  before: CertificateFiles,
  { keeper, signal }: CertificateRenewal,
): Promise<void> {
  const isSame = CERTIFICATE_FILES.every((name) => files[name] === before[name])
  if (!isSame) await keeper.write(files, signal)
}

/** Whether a certificate of one authority takes the place of a usable one of another. */
function replacesTrusted({ found: { authorities, serving }, plan }: CertificateLook): boolean {
  if (plan.serving.do !== 'issue' || serving?.issuer === undefined) return false
  return plan.authority.do === 'make' || serving.issuer !== authorities[0]?.fingerprint
}

interface WithAuthority {
  files: CertificateFiles
  authority: () => Promise<CertificateAuthority>
}

async function nextAuthority(
  { now, authorityMs }: CertificateRenewal,
  { files, plan }: CertificateLook,
): Promise<WithAuthority> {
  const staying = splitBundle(files['ca.crt'] ?? '').filter(({ fingerprint }) => !plan.retired.includes(fingerprint))
  if (plan.authority.do === 'keep') {
    const [signer] = staying
    const pair = { certPem: signer?.pem ?? '', keyPem: files['ca.key'] ?? '' }
    return { files: { ...files, 'ca.crt': textOf(staying) }, authority: () => openCertificateAuthority(pair, now) }
  }
  // Authorities of one name are told apart badly by some clients.
  const name = `webhook-cloud-provider ${randomBytes(4).toString('hex')}`
  const made = await createCertificateAuthority(now, name, authorityMs)
  const bundle = `${made.caPem}${textOf(staying)}`
  return { files: { ...files, 'ca.crt': bundle, 'ca.key': made.keyPem }, authority: async () => made }
}

async function nextServing(
  { now, wanted, servingMs }: CertificateRenewal,
  { files, plan }: CertificateLook,
  withAuthority: WithAuthority,
): Promise<CertificateFiles> {
  if (plan.serving.do !== 'issue') return withAuthority.files
  const authority = await withAuthority.authority()
  // None outlives its authority.
  const end = Math.min(now + servingMs, describeCertificate(authority.caPem, now).notAfter)
  const pair = await authority.issueServingCertificate(wanted.hosts, { notAfter: new Date(end) })
  return {
    ...withAuthority.files,
    'tls.crt': pair.certPem,
    'tls.key': pair.keyPem,
    'issued.crt': issuedNow(pair, files, now),
  }
}

/** What expired nobody serves any more. */
function issuedNow(pair: CertificateAndKey, files: CertificateFiles, now: number): string {
  const earlier = splitBundle(`${files['tls.crt'] ?? ''}${files['issued.crt'] ?? ''}`)
  const living = earlier.filter(({ pem }) => Date.parse(new X509Certificate(pem).validTo) >= now)
  const byFingerprint = new Map([...splitBundle(pair.certPem), ...living].map((each) => [each.fingerprint, each]))
  return textOf([...byFingerprint.values()])
}

function textOf(bundle: readonly { pem: string }[]): string {
  return bundle.map(({ pem }) => pem).join('')
}
