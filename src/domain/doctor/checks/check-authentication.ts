import { type Examination, notKnown, type Problem, red, yellow } from '../examination.ts'
import type { Facts } from '../facts.ts'

/** The doors take who proves to be a caller, and nobody else. */
export function checkAuthentication({ entry, settings }: Facts): Examination {
  const { pathPrefix, token } = settings.proof
  const proofs = [...(pathPrefix ? ['path prefix'] : []), ...(token ? ['token'] : [])]
  if (!entry.known) return notKnown(entry.reason, 'give --url and --ca of the function as seen from here')
  const { withProof, without } = entry.value
  const problems: Problem[] = []
  if (withProof !== 200)
    problems.push(
      red(
        `a review with all proof is answered ${withProof}`,
        'compare server.pathPrefix, --token-file and what the function was started with',
      ),
    )
  for (const { proof, status } of without.filter(({ status }) => status < 400))
    problems.push(
      red(
        `a review without the ${proof} is taken (${status})`,
        'restart the function with the configuration that is meant',
      ),
    )
  if (proofs.length === 0)
    problems.push(
      yellow('whoever reaches the doors may use them', 'set server.pathPrefix, or tokens or certificates of callers'),
    )
  return { summary: proofs.length === 0 ? 'none' : `by ${proofs.join(' and ')}`, problems }
}
