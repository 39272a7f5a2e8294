import type { Door } from '../../door.ts'
import { type Examination, notKnown, type Problem, red, yellow } from '../examination.ts'
import type { DoorAttempts, DoorSettings, Facts } from '../facts.ts'

/** Of a harmless request that got past the proofs: some are refused then for what they say. */
const TAKEN: Readonly<Record<Door, readonly number[]>> = {
  admission: [200],
  events: [400, 415],
  sweep: [400],
  metrics: [200],
}

/** Each door takes who proves to be a caller, and nobody else. */
export function checkAuthentication({ entry, settings }: Facts): Examination {
  const { doors, pathPrefix } = settings
  const open = doors.filter((door) => door.open).map(({ door }) => door)
  const problems: Problem[] = []
  if (open.length > 0)
    problems.push(
      yellow(
        `whoever reaches these doors may use them: ${open.join(', ')}`,
        'set server.pathPrefix, or tokenFile, clientSubjects or oidc of callers, in place of callers.anyone',
      ),
    )
  if (!entry.known) {
    const unknown = notKnown(entry.reason, 'give --url and --ca of the function as seen from here')
    return { ...unknown, problems: [...problems, ...unknown.problems] }
  }
  problems.push(...entry.value.flatMap((attempts) => problemsOf(attempts, doors)))
  return { summary: summaryOf(doors, pathPrefix), problems }
}

function problemsOf({ door, withProof, without }: DoorAttempts, doors: readonly DoorSettings[]): Problem[] {
  const taken = without.filter(({ status }) => TAKEN[door].includes(status))
  const problems = taken.map(({ proof, status }) =>
    red(
      `the ${door} door takes a request without the ${proof} (${status})`,
      'restart the function with the configuration that is meant',
    ),
  )
  if (withProof === undefined) return [...problems, ...untried(door, doors)]
  const { status, from, meant } = withProof
  if (TAKEN[door].includes(status)) return problems
  const unmeant = `the token of --token-file is not one of the ${door} door (${status})`
  if (meant === false) return [...problems, yellow(`not known: ${unmeant}`, `give --token-file ${door}=FILE too`)]
  const proof = from === undefined ? 'all proof that this configuration asks for' : `the token of ${from}`
  const remedy = 'compare server.pathPrefix and callers with what the function was started with'
  return [...problems, red(`the ${door} door answers ${status} to ${proof}`, remedy)]
}

/** A token can be lent to us. Nobody lends certificates and identities: that the API server has one, the dry run shows. */
function untried(door: Door, doors: readonly DoorSettings[]): Problem[] {
  if (!doors.some((each) => each.door === door && each.proofs.includes('token'))) return []
  const message = `not known whether the ${door} door takes its callers: callers.${door}.tokenFile is not here`
  return [yellow(message, `give --token-file ${door}=FILE`)]
}

function summaryOf(doors: readonly DoorSettings[], pathPrefix: boolean): string {
  const proven = doors
    .filter(({ proofs }) => proofs.length > 0)
    .map(({ door, proofs }) => `${door} by ${proofs.join(' or ')}`)
  return [...(pathPrefix ? ['path prefix'] : []), ...proven].join('; ') || 'none'
}
